"""The research loop: rounds of model requests and tool calls that always end in an answer.

A round is one model request that proposes calls, with their execution. The loop goes on while it
adds evidence and stays within its budgets (`voice_agent.research.budget`); it ends when the model
answers, or with one reserved request without tools (`voice_agent.research.answer`).
"""

import time
from collections.abc import Callable
from dataclasses import replace

from voice_agent.engine import StopFlag
from voice_agent.events import Finishing, Reason
from voice_agent.llm.model import Message, Model, Request
from voice_agent.research import prompts
from voice_agent.research.answer import (
    RELEVANCE_FLOOR,
    AnswerLimits,
    Ending,
    FinalAnswer,
    Streamed,
    Unfinished,
    close_cut,
    sayable,
    stream_text,
)
from voice_agent.research.asking import Asking, Nobody
from voice_agent.research.budget import (
    Limits,
    TimeBudget,
    TokenBudget,
    tools_allowed,
)
from voice_agent.research.evidence import Evidence, Terms, Weight
from voice_agent.research.permission import Permission, Rules
from voice_agent.research.provenance import Provenance
from voice_agent.research.reading import Reading
from voice_agent.research.reply import Inquiry, Reply, Run
from voice_agent.research.section_workers import SectionWorkers
from voice_agent.research.spending import Spending
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.research.toolbox.calculator import CALCULATOR
from voice_agent.research.toolbox.date_time import DATE_TIME
from voice_agent.research.tools import Toolbox
from voice_agent.research.wishes import is_order_to_write, is_reckoning

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
        permission: Permission | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``permission`` reaches the user in the middle of a reply; else there is nobody to ask.

        ``prefetch`` names the search tool that is asked the question itself, as round 0.

        With ``sufficiency`` the evidence is judged before each request: while it does not state
        the answer, the model may only search on, and nothing that it says is passed on.
        """
        self._model = model
        self._toolbox = toolbox
        self._reckons = any(spec.name in (CALCULATOR, DATE_TIME) for spec in toolbox.specs)
        self._limits = limits
        self._terms = terms
        self._weight = weight
        self._prefetch = prefetch
        self._sufficiency = sufficiency
        self._clock = clock
        self._spending = Spending(model, clock)
        self._reading = Reading(
            toolbox,
            permission or Permission(Asking(Nobody(), clock), Rules()),
            SectionWorkers(model, self._spending),
            clock,
        )
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
            elif run.judging or not sayable(said.text):
                return await self._finish(run, "empty_answer")
            else:
                return self._natural_end(run, said)

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
            provenance=Provenance(
                [*(m.content for m in inquiry.history if m.role == "user"), inquiry.question]
            ),
            judging=self._sufficiency is not None,
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
        over = self._spending.over(run)
        if over is not None:
            return 0, over
        if not tools_allowed(run.requests + 1, self._limits.max_steps):
            return 0, "steps"
        if run.stale_rounds >= self._limits.no_progress_rounds:
            return 0, "no_progress"
        return await self._spending.reserve(run, request)

    async def _ask(self, run: Run, request: Request, reserved: int) -> Streamed:
        run.requests += 1
        run.new_part = True
        said = Streamed()
        try:
            await stream_text(self._model, request, run.inquiry.stop, run.say, into=said)
        finally:
            self._spending.settle(run, reserved, said.finished)
        return said

    def _natural_end(self, run: Run, said: Streamed) -> Reply:
        if said.cut:
            run.say(close_cut(said.text, run.inquiry.language))
        return self._outcome(run, Ending(run.text.strip(), "complete", "none"))

    @staticmethod
    def _cut_short(said: Streamed) -> bool:
        """Whether the request ended because research was out of time, not because it was done."""
        return said.finished is not None and said.finished.reason == "deadline"

    async def _suffices(self, run: Run) -> bool:
        """Whether the evidence, where it has changed, states the answer: asked of the model."""
        if self._sufficiency is None:
            return False
        question = run.inquiry.question
        if run.account.writes:
            return True  # a small model that goes on from there writes the same again
        if self._is_order(run) or (self._reckons and not run.rounds and is_reckoning(question)):
            return False
        if run.known == run.judged:
            return False
        if not self._sufficiency.can_tell:
            return bool(run.account.facts or run.evidence.ranked(question, RELEVANCE_FLOOR))
        request = self._sufficiency.question(self._final.request(self._unfinished(run, "none")))
        reserved, reason = await self._reserve(run, request)
        if reason is not None:
            return False
        verdict = await self._sufficiency.check(request)
        self._spending.settle(run, reserved, verdict.finished)
        if verdict.finished.reason != "end":
            return False  # out of time or stopped: that is no verdict
        run.judged = run.known
        run.sufficient = verdict.sufficient
        if not run.sufficient and not run.rounds and self._reading.show_more(run):
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
            account=run.account.lines(run.inquiry.language),
            exchange=self._request(run),
        )

    def _is_order(self, run: Run) -> bool:
        return self._toolbox.can_write and is_order_to_write(run.inquiry.question)

    def _reported(self, run: Run) -> Reply:
        """Say in the program's own words what came of an order: a small model tells it wrong."""
        run.judging, run.new_part = False, True
        run.say(" ".join(run.account.lines(run.inquiry.language)))
        reply = self._outcome(run, Ending(run.text.strip(), "complete", "none"))
        return replace(reply, sources=())

    async def _finish(self, run: Run, reason: Reason) -> Reply:
        if reason == "none" and run.account.writes and self._is_order(run):
            return self._reported(run)
        if run.refuted and not run.account.lines(run.inquiry.language):
            reason = "nothing_found"
        if reason != "none":
            run.inquiry.emit(Finishing(turn=run.inquiry.turn, reason=reason))
        streamed, run.judging, run.new_part = run.text.strip(), False, True
        ending = await self._final.write(self._unfinished(run, reason))
        if streamed:
            ending.text = f"{streamed}\n{ending.text}"
        return self._outcome(run, ending)

    def _outcome(self, run: Run, ending: Ending) -> Reply:
        if uncertain := run.account.uncertain(run.inquiry.language):
            run.judging, run.new_part = False, True
            run.say(uncertain)
            ending.text = f"{ending.text}\n{uncertain}".strip()
        found = ending.basis == "fallback" or ending.reason != "nothing_found"
        sources = run.evidence.sources_of(ending.text) if found else ()
        return Reply(ending, sources, run.rounds, run.tokens.charged)
