"""What the tools bring into a reply: calls become results, results become evidence."""

from collections.abc import Callable
from dataclasses import replace

from voice_agent.errors import Cancelled
from voice_agent.events import Round, ToolCall, ToolResult
from voice_agent.llm.model import Call, Message
from voice_agent.research import prompts
from voice_agent.research.answer import Streamed
from voice_agent.research.evidence import MIN_NEW_FINGERPRINTS, Finding
from voice_agent.research.excerpts import fitting
from voice_agent.research.reply import Run
from voice_agent.research.tools import Result, Toolbox, same_call

PORTION_CHARS = 900
"""What a result shows of itself at once: some 220 tokens, three seconds of prompt processing for
the default model on two cores. The next search shows what comes after it."""

PORTIONS = 2
"""Portions of what the question itself finds that are read before the model may search."""


class Reading:
    """Executes the calls of a reply and keeps what they find."""

    def __init__(self, toolbox: Toolbox, clock: Callable[[], float]) -> None:
        self._toolbox = toolbox
        self._clock = clock

    async def read_ahead(self, run: Run, tool: str) -> None:
        """Search with the question itself; what is found stands before it in the first request."""
        call = Call("prefetch", tool, {"query": run.inquiry.question}, raw="")
        self._announce(run, call)
        result = await self._toolbox.execute(
            call, question=run.inquiry.question, stop=run.inquiry.stop
        )
        run.evidence.searched.append(run.inquiry.question)
        run.waiting = list(result.findings)
        new = self.show_more(run) if result.status == "ok" else 0
        self._report(run, result, sum(map(len, run.shown)), new)
        run.inquiry.emit(Round(turn=run.inquiry.turn, n=0))

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
        for call in calls:
            self._announce(run, call)
            result = await self._one(run, call, done)
            new += self._take(run, result)
        if any(self._toolbox.writes(call.name) for call in calls):
            return  # a batch that writes says nothing about progress in reading
        run.stale_rounds = 0 if new >= MIN_NEW_FINGERPRINTS else run.stale_rounds + 1

    async def _one(self, run: Run, call: Call, done: set[str]) -> Result:
        if run.inquiry.stop.is_set():
            raise Cancelled("The turn was cancelled.")
        if run.time.spent(self._clock()):
            return Result(call, "not_executed", "Not executed: the time for research is over.")
        key = same_call(call)
        if key in done and not self._toolbox.writes(call.name):
            return Result(call, "duplicate", "The same call stands earlier in this batch.")
        done.add(key)
        return await self._toolbox.execute(
            call, question=run.inquiry.question, stop=run.inquiry.stop
        )

    def _announce(self, run: Run, call: Call) -> None:
        run.inquiry.emit(
            ToolCall(
                turn=run.inquiry.turn, id=call.id, name=call.name, arguments=call.arguments or {}
            )
        )

    def _take(self, run: Run, result: Result) -> int:
        """Put a result into the exchange and the evidence; return its new fingerprints."""
        query = _query(result.call)
        if query and query not in run.evidence.searched:
            run.evidence.searched.append(query)
        fresh = run.evidence.add(fitting(run.evidence.unseen(result.findings), PORTION_CHARS))
        text = _as_read(result, fresh, run.inquiry.question)
        read = text if fresh or not result.findings else ""
        new = run.novelty.add(read) if result.status == "ok" else 0
        run.messages.append(Message("tool", text, call_id=result.call.id, name=result.call.name))
        self._report(run, result, len(text), new)
        return new

    def _report(self, run: Run, result: Result, chars: int, new: int) -> None:
        run.inquiry.emit(
            ToolResult(
                turn=run.inquiry.turn,
                id=result.call.id,
                status=result.status,
                chars=chars,
                new_evidence=new,
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
        return "Nothing new: those passages stand above."
    return prompts.evidence_and_question(prompts.passages(fresh), question)
