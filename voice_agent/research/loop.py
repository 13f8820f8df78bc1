"""The research loop: rounds of model requests and tool calls that always end in an answer.

A round is one model request that proposes calls, with their execution. The loop goes on while it
adds evidence and stays within its budgets (`voice_agent.research.budget`); it ends when the model
answers, or with one reserved request without tools (`voice_agent.research.answer`).
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
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
    Look,
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
from voice_agent.research.drafts import Drafts
from voice_agent.research.evidence import Evidence, Terms, Weight
from voice_agent.research.excerpts import fitting, the_best
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

MORE_CHARS = 1_300
"""What is read at the last look at what the question itself has found."""
NARROW_CHARS = 250
"""What a model reads that cannot tell what bears on the question: each more misleads it."""

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

        With ``sufficiency`` an answer is drafted and judged before each research request: while
        none holds, the model may only search on, and nothing that it says is passed on.
        """
        self._model = model
        self._toolbox = toolbox
        self._reckons = any(spec.name in (CALCULATOR, DATE_TIME) for spec in toolbox.specs)
        self._limits = limits
        self._terms = terms
        self._weight = weight
        self._prefetch = prefetch
        self._clock = clock
        self._spending = Spending(model, clock)
        self._reading = Reading(
            toolbox,
            permission or Permission(Asking(Nobody(), clock), Rules()),
            SectionWorkers(model, self._spending),
            clock,
            terms=terms,
            weight=weight,
        )
        self._final = FinalAnswer(model, answer_limits, clock)
        self._drafts = (
            None
            if sufficiency is None
            else Drafts(self._final, sufficiency, self._spending, terms=terms, weight=weight)
        )

    def openings(self) -> tuple[Request, ...]:
        """Return what all requests of each lane begin with, to be processed at start."""
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
        return final, replace(final, lane="verdict"), research

    async def reply(self, inquiry: Inquiry) -> Reply:
        """Research ``inquiry`` and answer it.

        Raises Cancelled when its flag was set, and ModelError when a research request fails; only
        the final request falls back.
        """
        run = self._begin(inquiry)
        if self._prefetch is not None:
            await self._reading.read_ahead(run, self._prefetch)
        while True:
            early = await self._early(run)
            if early is not None:
                return early
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
            judging=self._drafts is not None,
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

    async def _early(self, run: Run) -> Reply | None:
        """The reply, where what is known so far has changed and gives an answer that holds."""
        if self._drafts is None:
            return None
        question = run.inquiry.question
        if run.account.wrote or (run.account.writes and self._is_order(run)):
            # a small model that goes on from there proposes the same again
            return await self._finish(run, "none")
        if self._is_order(run) or (self._reckons and not run.rounds and is_reckoning(question)):
            return None
        if run.known == run.judged:
            return None
        if not self._drafts.judges:
            relevant = run.evidence.relevant(question, RELEVANCE_FLOOR)
            if not (relevant or run.account.facts):
                return None
            return await self._finish(run, "none", Look(the_best(relevant, NARROW_CHARS)))
        return await self._drafted(run, self._drafts)

    async def _drafted(self, run: Run, drafts: Drafts) -> Reply | None:
        """The first draft that holds; None where none does, or a budget allows no other."""
        async with aclosing(self._looks(run)) as looks:
            async for look in looks:
                run.judged = run.known
                ending = await drafts.answer(run, replace(self._unfinished(run, "none"), look=look))
                if ending is not None:
                    return self._outcome(run, ending)
                if run.sufficient is not False:
                    return None  # no verdict
        return None

    async def _looks(self, run: Run) -> AsyncGenerator[Look | None, None]:
        """Yield what to answer from: all that is known (None), what is linked to it, the rest."""
        yield None
        if run.rounds or self._prefetch is None:
            return
        linked = await self._reading.follow(run, self._prefetch)
        if linked:
            run.evidence.add(linked)
            yield Look(linked, linked=True)
        if self._reading.show_more(run):
            yield Look(fitting(run.evidence.standing(run.waiting), MORE_CHARS))

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

    async def _finish(self, run: Run, reason: Reason, look: Look | None = None) -> Reply:
        if reason == "none" and run.account.writes and self._is_order(run):
            return self._reported(run)
        if run.refuted and not (run.account.wrote or run.account.questions):
            reason = "nothing_found"
        if reason != "none":
            run.inquiry.emit(Finishing(turn=run.inquiry.turn, reason=reason))
        streamed, run.judging, run.new_part = run.text.strip(), False, True
        ending = await self._final.write(replace(self._unfinished(run, reason), look=look))
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
