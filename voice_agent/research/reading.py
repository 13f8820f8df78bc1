"""What the tools bring into a reply: calls become results, results become evidence."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from voice_agent.errors import Cancelled
from voice_agent.events import Round, ToolCall, ToolResult, WriteBegun
from voice_agent.llm.model import Call, Message
from voice_agent.research import prompts
from voice_agent.research.answer import Streamed
from voice_agent.research.evidence import MIN_NEW_FINGERPRINTS, Finding, Terms, Weight
from voice_agent.research.excerpts import fitting
from voice_agent.research.links import follow_ups, linked
from voice_agent.research.permission import Permission, Plea
from voice_agent.research.reply import Run
from voice_agent.research.section_workers import SectionWorkers
from voice_agent.research.toolbox.ask_user import ASK_USER
from voice_agent.research.tools import Result, Toolbox, same_call
from voice_agent.research.wishes import is_question

PORTION_CHARS = 900
"""What a result shows of itself at once: some 220 tokens, three seconds of prompt processing for
the default model on two cores. The next search shows what comes after it."""

PORTIONS = 2
"""Portions of what the question itself finds that are read before the model may search."""

LINKED_CHARS = 700
"""What is read of statements that answer only together."""

FACTS_THAT_COUNT = 3
"""Facts of a reply that stand in no document and still count as progress: dates and sums can be
made without end, each of them new."""

MAX_QUESTIONS = 3
"""Questions that one reply may put to the user."""


class Reading:
    """Executes the calls of a reply and keeps what they find."""

    def __init__(
        self,
        toolbox: Toolbox,
        permission: Permission,
        workers: SectionWorkers,
        clock: Callable[[], float],
        *,
        terms: Terms,
        weight: Weight,
    ) -> None:
        self._terms = terms
        self._weight = weight
        self._toolbox = toolbox
        self._workers = workers
        self._permission = permission
        self._asking = permission.asking
        self._clock = clock

    async def read_ahead(self, run: Run, tool: str) -> None:
        """Search with the question itself; what is found stands before it in the first request."""
        result = await self._search(run, "prefetch", tool, run.inquiry.question)
        run.evidence.searched.append(run.inquiry.question)
        run.waiting = list(result.findings)
        new = self.show_more(run) if result.status == "ok" else 0
        self._report(run, result, "\n".join(run.shown), new)
        run.inquiry.emit(Round(turn=run.inquiry.turn, n=0))

    async def follow(self, run: Run, tool: str) -> list[Finding]:
        """Search for the names in what the question found; return what answers only together."""
        question = run.inquiry.question
        pool = list(run.waiting)
        found = fitting(pool, PORTION_CHARS)
        for n, query in enumerate(follow_ups(question, found, terms=self._terms), 1):
            if run.time.spent(self._clock()):
                break
            result = await self._search(run, f"prefetch.{n}", tool, query)
            self._report(run, result, "", 0)
            pool += result.findings
        return linked(
            question,
            found,
            pool,
            terms=self._terms,
            weight=self._weight,
            room_chars=LINKED_CHARS,
        )

    async def _search(self, run: Run, id: str, tool: str, query: str) -> Result:
        """Search as the program, not the model, wants: an ordinary call, told and recorded."""
        self._check_stop(run)
        call = Call(id, tool, {"query": query}, raw="")
        self._announce(run, call)
        result = await self._toolbox.execute(
            call, question=run.inquiry.question, stop=run.inquiry.stop
        )
        run.provenance.read(result.text)
        return result

    def show_more(self, run: Run) -> int:
        """Put the second portion of what the question found before it; return what is new."""
        if len(run.shown) >= PORTIONS:
            return 0
        portion = run.evidence.add(fitting(run.evidence.unseen(run.waiting), PORTION_CHARS))
        if portion:
            run.shown.append(prompts.passages(portion))
        found = "\n".join(run.shown)
        content = prompts.evidence_and_question(found, run.inquiry.question)
        run.messages[-1] = Message("user", content)
        return run.novelty.add(found) if portion else 0

    async def execute(self, run: Run, said: Streamed) -> None:
        """Run the calls of one round, or answer those that may not run any more."""
        run.rounds += 1
        calls = [replace(call, id=f"{run.rounds}.{n}") for n, call in enumerate(said.calls, 1)]
        generated = said.finished.generated if said.finished else ()
        run.messages.append(
            Message("assistant", said.text, calls=tuple(calls), generated=generated)
        )
        done: set[str] = set()
        new = 0
        answered, names = False, [call.name for call in calls]
        for call in calls:
            self._announce(run, call)
            result = await self._one(run, call, done)
            new += self._take(run, result)
            answered |= call.name == ASK_USER and result.status == "ok"
        if answered:
            run.stale_rounds = 0  # what the user says is progress
        elif is_question(run.inquiry.question) or not any(map(self._toolbox.writes, names)):
            run.stale_rounds = 0 if new >= MIN_NEW_FINGERPRINTS else run.stale_rounds + 1
        # else: a batch that writes says nothing about progress in reading

    async def _one(self, run: Run, call: Call, done: set[str]) -> Result:
        refused = self._refused(run, call, done)
        if refused is not None:
            return refused
        waited_s = self._asking.waited_s
        try:
            if not await self._permission.given(self._plea(run, call)):
                return Result(call, "declined", "The user did not allow it; it was not done.")
            self._check_stop(run)
            if self._toolbox.writes(call.name):
                return await self._write(run, call)
            return await self._execute(run, call)
        finally:
            run.time.extend(self._asking.waited_s - waited_s)

    def _refused(self, run: Run, call: Call, done: set[str]) -> Result | None:
        """The result of a call that may not run at all; None for one that may."""
        self._check_stop(run)
        if run.time.spent(self._clock()):
            return Result(call, "not_executed", "Not executed: the time for research is over.")
        key = same_call(call)
        if key in done and not self._toolbox.writes(call.name):
            return Result(call, "duplicate", "The same call stands earlier in this batch.")
        done.add(key)
        problem = self._toolbox.problem(call)
        if problem:
            return Result(call, "error", f"The call was not executed: {problem}")
        if self._toolbox.writes(call.name) and is_question(run.inquiry.question):
            return Result(
                call, "not_executed", "Nobody asked to write anything. Answer the question."
            )
        if call.name == ASK_USER and len(run.account.questions) >= MAX_QUESTIONS:
            return Result(call, "not_executed", "The user was asked enough. Answer now.")
        return None

    @staticmethod
    def _check_stop(run: Run) -> None:
        if run.inquiry.stop.is_set():
            raise Cancelled("The turn was cancelled.")

    def _plea(self, run: Run, call: Call) -> Plea:
        return Plea(
            call,
            self._toolbox.writes(call.name),
            run.provenance,
            conversation=run.inquiry.conversation,
            language=run.inquiry.language,
            refused=run.refused,
        )

    async def _execute(self, run: Run, call: Call) -> Result:
        result = await self._toolbox.execute(
            call, question=run.inquiry.question, stop=run.inquiry.stop
        )
        return await self._workers.read(run, result) if result.sections else result

    async def _write(self, run: Run, call: Call) -> Result:
        """Run a write: recorded as begun before it runs, never left to itself while it may write.

        At its time limit it is asked to stop. A turn that is cancelled meanwhile waits for it as
        long again, so that its outcome is known.
        """
        run.inquiry.emit(
            WriteBegun(
                turn=run.inquiry.turn, id=call.id, name=call.name, arguments=call.arguments or {}
            )
        )
        stop, limit_s = run.inquiry.stop.child(), self._toolbox.time_limit_s(call.name)
        work = asyncio.create_task(
            self._toolbox.execute(call, question=run.inquiry.question, stop=stop)
        )
        try:
            await asyncio.wait([work], timeout=limit_s)
            stop.set()
            await asyncio.wait([work])
        except asyncio.CancelledError:
            await asyncio.wait([work], timeout=limit_s)
            if work.done():
                self._report(run, work.result(), work.result().text, 0)
            raise
        return work.result()

    def _announce(self, run: Run, call: Call) -> None:
        run.inquiry.emit(
            ToolCall(
                turn=run.inquiry.turn, id=call.id, name=call.name, arguments=call.arguments or {}
            )
        )

    def _take(self, run: Run, result: Result) -> int:
        """Put a result into the exchange and the evidence; return its new fingerprints."""
        self._note(run, result)
        query = _query(result.call)
        if query and query not in run.evidence.searched:
            run.evidence.searched.append(query)
        fresh = run.evidence.add(fitting(run.evidence.unseen(result.findings), PORTION_CHARS))
        text = _as_read(result, fresh, run.inquiry.question)
        read = text if fresh or not result.findings else ""
        counts = bool(result.findings) or len(run.account.facts) <= FACTS_THAT_COUNT
        new = run.novelty.add(read) if result.status == "ok" and counts else 0
        run.messages.append(Message("tool", text, call_id=result.call.id, name=result.call.name))
        self._report(run, result, text, new)
        return new

    def _note(self, run: Run, result: Result) -> None:
        """Keep what the final answer must know of a result, and whose words it has brought."""
        name, ok = result.call.name, result.status == "ok"
        if self._toolbox.writes(name):
            self._note_write(run, result)
        elif name == ASK_USER:
            self._note_answer(run, result)
        else:
            run.provenance.read("\n".join((result.text, *(f.text for f in result.findings))))
            if ok and not result.findings:
                run.account.facts.append(result)

    def _note_write(self, run: Run, result: Result) -> None:
        name = result.call.name
        if result.status == "declined" and (earlier := self._permission.doubted(name)):
            run.account.doubted.append(earlier)
        if not self._toolbox.problem(result.call):
            run.account.writes.append(result)

    @staticmethod
    def _note_answer(run: Run, result: Result) -> None:
        if result.status not in ("ok", "declined"):
            return
        answer = result.text if result.status == "ok" else None
        run.account.questions.append((str((result.call.arguments or {})["question"]), answer))
        run.provenance.hear(answer or "")

    def _report(self, run: Run, result: Result, text: str, new: int) -> None:
        run.inquiry.emit(
            ToolResult(
                turn=run.inquiry.turn,
                id=result.call.id,
                status=result.status,
                chars=len(text),
                new_evidence=new,
                text=text,
            )
        )


def _query(call: Call) -> str:
    query = (call.arguments or {}).get("query", "")
    return query if isinstance(query, str) else ""


def _as_read(result: Result, fresh: list[Finding], question: str) -> str:
    """The result as the model reads it: passages that it has not read yet, and the question."""
    if not result.findings:
        return result.text
    if not fresh:
        return f"Nothing new: those passages stand above. {result.note}".rstrip()
    found = "\n".join(filter(None, (prompts.passages(fresh), result.note)))
    return prompts.evidence_and_question(found, question)
