"""The research loop: rounds of model requests and tool calls that always end in an answer.

A round is one model request that proposes calls, with their execution. The loop goes on while it
adds evidence and stays within its budgets (`voice_agent.research.budget`); it ends when the model
answers, or with one reserved request without tools (`voice_agent.research.answer`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from voice_agent.engine import StopFlag
from voice_agent.errors import Cancelled
from voice_agent.events import (
    AnswerText,
    Finishing,
    Listener,
    Reason,
    Round,
    Source,
    ToolCall,
    ToolResult,
)
from voice_agent.llm.model import Call, Message, Model, Request
from voice_agent.research import prompts
from voice_agent.research.answer import (
    AnswerLimits,
    Ending,
    FinalAnswer,
    Streamed,
    Unfinished,
    sayable,
    stream_text,
)
from voice_agent.research.budget import (
    Limits,
    TimeBudget,
    TokenBudget,
    fits_context,
    tools_allowed,
)
from voice_agent.research.evidence import (
    MIN_NEW_FINGERPRINTS,
    Evidence,
    Finding,
    Novelty,
    Terms,
    Weight,
)
from voice_agent.research.tools import Result, Toolbox, same_call


@dataclass(frozen=True)
class Inquiry:
    """A question of one turn; ``history`` are earlier exchanges, as they were heard."""

    question: str
    turn: int
    stop: StopFlag
    emit: Listener
    language: str = "en"
    history: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What a reply came to."""

    ending: Ending
    sources: tuple[Source, ...]
    rounds: int
    charged_tokens: int


@dataclass
class _Run:
    """The state of one reply while it is researched."""

    inquiry: Inquiry
    time: TimeBudget
    tokens: TokenBudget
    evidence: Evidence
    messages: list[Message]
    novelty: Novelty = field(default_factory=Novelty)
    requests: int = 0
    rounds: int = 0
    stale_rounds: int = 0
    text: str = ""

    def say(self, text: str) -> None:
        self.text += text
        self.inquiry.emit(AnswerText(turn=self.inquiry.turn, text=text))


class ResearchLoop:
    """Answers questions with a model and tools, within ``limits``."""

    def __init__(
        self,
        model: Model,
        toolbox: Toolbox,
        *,
        limits: Limits,
        answer_limits: AnswerLimits,
        terms: Terms,
        weight: Weight,
        prefetch: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``prefetch`` names the search tool that is asked the question itself, as round 0."""
        self._model = model
        self._toolbox = toolbox
        self._limits = limits
        self._terms = terms
        self._weight = weight
        self._prefetch = prefetch
        self._clock = clock
        self._final = FinalAnswer(model, answer_limits, clock)

    def opening(self, language: str) -> Request:
        """Return the beginning that all research requests share, to be processed at start."""
        return Request(
            messages=(Message("system", prompts.system_prompt(language)),),
            max_tokens=1,
            stop=StopFlag(),
            deadline=float("inf"),
            tools=self._toolbox.specs,
        )

    async def reply(self, inquiry: Inquiry) -> Reply:
        """Research ``inquiry`` and answer it.

        Raises Cancelled when its flag was set, and ModelError when a research request fails; only
        the final request falls back.
        """
        run = self._begin(inquiry)
        if self._prefetch is not None:
            await self._read_ahead(run, self._prefetch)
        while True:
            request = self._request(run)
            reserved, reason = await self._reserve(run, request)
            if reason is not None:
                return await self._finish(run, reason)
            said = await self._ask(run, request, reserved)
            if said.calls:
                await self._execute(run, said)
            elif sayable(said.text) and not self._cut_short(said):
                return self._outcome(run, Ending(run.text.strip(), "complete", "none"))
            elif not self._cut_short(said):
                return await self._finish(run, "empty_answer")

    def _begin(self, inquiry: Inquiry) -> _Run:
        return _Run(
            inquiry=inquiry,
            time=TimeBudget(self._limits.timeout_s, self._clock()),
            tokens=TokenBudget(self._limits.token_budget),
            evidence=Evidence(self._terms, self._weight),
            messages=[
                Message("system", prompts.system_prompt(inquiry.language)),
                *inquiry.history,
                Message("user", inquiry.question),
            ],
        )

    def _request(self, run: _Run) -> Request:
        return Request(
            messages=tuple(run.messages),
            max_tokens=self._limits.output_tokens,
            stop=run.inquiry.stop.child(),
            deadline=run.time.deadline,
            tools=self._toolbox.specs,
        )

    async def _reserve(self, run: _Run, request: Request) -> tuple[int, Reason | None]:
        """Set aside what the next request may cost, or say why research ends."""
        if run.inquiry.stop.is_set():
            raise Cancelled("The turn was cancelled.")
        if run.time.spent(self._clock()):
            return 0, "time"
        if not tools_allowed(run.requests + 1, self._limits.max_steps):
            return 0, "steps"
        if run.stale_rounds >= self._limits.no_progress_rounds:
            return 0, "no_progress"
        size = await self._model.measure(request)
        if not fits_context(size, request.max_tokens, self._model.context_tokens):
            return 0, "context"
        reserved = run.tokens.reserve(size, request.max_tokens)
        return (0, "tokens") if reserved is None else (reserved, None)

    async def _ask(self, run: _Run, request: Request, reserved: int) -> Streamed:
        run.requests += 1
        said = Streamed()
        try:
            said = await stream_text(self._model, request, run.inquiry.stop, run.say)
        finally:
            used = said.finished.charged_tokens if said.finished else 0
            run.tokens.settle(reserved, used)
        if said.finished is not None:
            run.inquiry.emit(
                Round(
                    turn=run.inquiry.turn,
                    n=run.requests,
                    prompt_tokens=said.finished.prompt_tokens,
                    reused_tokens=said.finished.reused_tokens,
                    output_tokens=said.finished.output_tokens,
                    reserved=reserved,
                    charged=used,
                )
            )
        return said

    @staticmethod
    def _cut_short(said: Streamed) -> bool:
        """Whether the request ended because research was out of time, not because it was done."""
        return said.finished is not None and said.finished.reason == "deadline"

    async def _read_ahead(self, run: _Run, tool: str) -> None:
        call = Call("prefetch", tool, {"query": run.inquiry.question}, raw="")
        run.messages.append(Message("assistant", "", calls=(call,)))
        self._announce(run, call)
        result = await self._toolbox.execute(
            call, question=run.inquiry.question, stop=run.inquiry.stop
        )
        self._take(run, result)
        run.inquiry.emit(Round(turn=run.inquiry.turn, n=0))

    async def _execute(self, run: _Run, said: Streamed) -> None:
        """Run the calls of one round, or answer those that may not run any more."""
        run.rounds += 1
        generated = said.finished.generated if said.finished else ()
        run.messages.append(
            Message("assistant", said.text, calls=tuple(said.calls), generated=generated)
        )
        done: set[str] = set()
        new = 0
        for call in said.calls:
            self._announce(run, call)
            result = await self._one(run, call, done)
            new += self._take(run, result)
        if any(self._toolbox.writes(call.name) for call in said.calls):
            return  # a batch that writes says nothing about progress in reading
        run.stale_rounds = 0 if new >= MIN_NEW_FINGERPRINTS else run.stale_rounds + 1

    async def _one(self, run: _Run, call: Call, done: set[str]) -> Result:
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

    def _announce(self, run: _Run, call: Call) -> None:
        run.inquiry.emit(
            ToolCall(
                turn=run.inquiry.turn, id=call.id, name=call.name, arguments=call.arguments or {}
            )
        )

    def _take(self, run: _Run, result: Result) -> int:
        """Put a result into the exchange and the evidence; return its new fingerprints."""
        run.evidence.searched += [q for q in [_query(result.call)] if q]
        new = run.novelty.add(result.text) if result.status == "ok" else 0
        fresh = run.evidence.add(result.findings)
        text = _as_read(result, fresh, run.inquiry.question)
        run.messages.append(Message("tool", text, call_id=result.call.id, name=result.call.name))
        run.inquiry.emit(
            ToolResult(
                turn=run.inquiry.turn,
                id=result.call.id,
                status=result.status,
                chars=len(text),
                new_evidence=new,
            )
        )
        return new

    async def _finish(self, run: _Run, reason: Reason) -> Reply:
        run.inquiry.emit(Finishing(turn=run.inquiry.turn, reason=reason))
        streamed = run.text
        ending = await self._final.write(
            Unfinished(
                question=run.inquiry.question,
                evidence=run.evidence,
                reason=reason,
                history=run.inquiry.history,
                language=run.inquiry.language,
                stop=run.inquiry.stop,
                on_text=run.say,
            )
        )
        if streamed.strip():
            ending.text = f"{streamed.strip()}\n{ending.text}"
        return self._outcome(run, ending)

    def _outcome(self, run: _Run, ending: Ending) -> Reply:
        found = ending.basis == "fallback" or ending.reason != "nothing_found"
        sources = run.evidence.sources_of(ending.text) if found else ()
        return Reply(ending, sources, run.rounds, run.tokens.charged)


def _query(call: Call) -> str:
    query = (call.arguments or {}).get("query", "")
    return query if isinstance(query, str) else ""


def _as_read(result: Result, fresh: list[Finding], question: str) -> str:
    """The result as the model reads it: passages that it has not read yet, and the question."""
    if not result.findings:
        return result.text
    if not fresh:
        return "Nothing new: those passages stand above."
    return prompts.tool_result(fresh, question)
