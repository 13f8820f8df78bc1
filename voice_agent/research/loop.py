"""The research loop: rounds of model requests and tool calls that always end in an answer.

A round is one model request that proposes calls, with their execution. The loop goes on while it
adds evidence and stays within its budgets (`voice_agent.research.budget`); it ends when the model
answers, or with one reserved request without tools (`voice_agent.research.answer`).
"""

import time
from collections.abc import Callable
from dataclasses import replace

from voice_agent.engine import StopFlag
from voice_agent.errors import Cancelled
from voice_agent.events import Finishing, Reason, Round
from voice_agent.llm.model import Message, Model, Request
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
from voice_agent.research.evidence import Evidence, Terms, Weight
from voice_agent.research.reading import Reading
from voice_agent.research.reply import Inquiry, Reply, Run
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.research.tools import Toolbox

__all__ = ["Inquiry", "Reply", "ResearchLoop"]


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
        sufficiency: Sufficiency | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``prefetch`` names the search tool that is asked the question itself, as round 0.

        With ``sufficiency`` the evidence is judged before each request: while it does not state
        the answer, the model may only search on, and nothing that it says is passed on.
        """
        self._model = model
        self._toolbox = toolbox
        self._limits = limits
        self._terms = terms
        self._weight = weight
        self._prefetch = prefetch
        self._sufficiency = sufficiency
        self._clock = clock
        self._reading = Reading(toolbox, clock)
        self._final = FinalAnswer(model, answer_limits, clock)

    def openings(self) -> tuple[Request, Request]:
        """Return what all final and all research requests begin with, to be processed at start."""
        final = Request(
            messages=(Message("system", prompts.PERSONA),),
            max_tokens=1,
            stop=StopFlag(),
            deadline=float("inf"),
            lane="answer",
        )
        system = Message("system", prompts.system_prompt())
        research = replace(
            final, messages=(system,), lane="conversation", tools=self._toolbox.specs
        )
        return final, research

    async def reply(self, inquiry: Inquiry) -> Reply:
        """Research ``inquiry`` and answer it.

        Raises Cancelled when its flag was set, and ModelError when a research request fails; only
        the final request falls back.
        """
        run = self._begin(inquiry)
        if self._prefetch is not None:
            await self._reading.read_ahead(run, self._prefetch)
        while True:
            if await self._suffices(run):
                return await self._finish(run, "none")
            request = self._request(run)
            reserved, reason = await self._reserve(run, request)
            if reason is not None:
                return await self._finish(run, reason)
            said = await self._ask(run, request, reserved)
            if said.calls:
                await self._reading.execute(run, said)
            elif self._cut_short(said):
                continue
            elif run.sufficient is False:
                return await self._finish(run, "nothing_found")
            elif sayable(said.text):
                return self._outcome(run, Ending(run.text.strip(), "complete", "none"))
            else:
                return await self._finish(run, "empty_answer")

    def _begin(self, inquiry: Inquiry) -> Run:
        return Run(
            inquiry=inquiry,
            time=TimeBudget(self._limits.timeout_s, self._clock()),
            tokens=TokenBudget(self._limits.token_budget),
            evidence=Evidence(self._terms, self._weight),
            messages=[
                Message("system", prompts.system_prompt()),
                *inquiry.history,
                Message("user", inquiry.question),
            ],
            sufficient=None if self._sufficiency is None else False,
        )

    def _request(self, run: Run) -> Request:
        return Request(
            messages=tuple(run.messages),
            max_tokens=self._limits.output_tokens,
            stop=run.inquiry.stop.child(),
            deadline=run.time.deadline,
            tools=self._toolbox.specs,
        )

    async def _reserve(self, run: Run, request: Request) -> tuple[int, Reason | None]:
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

    async def _ask(self, run: Run, request: Request, reserved: int) -> Streamed:
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

    async def _suffices(self, run: Run) -> bool:
        """Whether the evidence, where it has changed, states the answer: asked of the model."""
        if self._sufficiency is None or len(run.evidence) == run.judged:
            return False
        request = self._sufficiency.question(self._final.request(self._unfinished(run, "none")))
        reserved, reason = await self._reserve(run, request)
        if reason is not None:
            return False
        verdict = await self._sufficiency.check(request)
        run.tokens.settle(reserved, verdict.finished.charged_tokens)
        run.judged = len(run.evidence)
        run.sufficient = verdict.sufficient
        if not run.sufficient and len(run.shown) == 1 and self._reading.show_more(run):
            return await self._suffices(run)
        return run.sufficient

    def _unfinished(self, run: Run, reason: Reason) -> Unfinished:
        return Unfinished(
            question=run.inquiry.question,
            evidence=run.evidence,
            reason=reason,
            history=run.inquiry.history,
            language=run.inquiry.language,
            stop=run.inquiry.stop,
            on_text=run.say,
        )

    async def _finish(self, run: Run, reason: Reason) -> Reply:
        if run.sufficient is False:
            reason = "nothing_found"
        if reason != "none":
            run.inquiry.emit(Finishing(turn=run.inquiry.turn, reason=reason))
        streamed, run.sufficient = run.text.strip(), None
        ending = await self._final.write(self._unfinished(run, reason))
        if streamed:
            ending.text = f"{streamed}\n{ending.text}"
        return self._outcome(run, ending)

    def _outcome(self, run: Run, ending: Ending) -> Reply:
        found = ending.basis == "fallback" or ending.reason != "nothing_found"
        sources = run.evidence.sources_of(ending.text) if found else ()
        return Reply(ending, sources, run.rounds, run.tokens.charged)
