"""Answers that are written from what is known so far, and given only where they hold.

A draft is the short final request; its text is held back until the statement under it has been
judged (`voice_agent.research.sufficiency`). A text too long to be one spoken fact is passed on
while it is written: nobody should wait for its end.
"""

from dataclasses import dataclass, replace

from voice_agent.research import prompts
from voice_agent.research.answer import Ending, FinalAnswer, Look, Unfinished
from voice_agent.research.evidence import Terms, Weight
from voice_agent.research.reply import Run
from voice_agent.research.spending import Spending
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.research.support import is_about_another, support, tells_nothing

HELD_CHARS = 240
"""How much of a draft is held back at most: two spoken sentences."""


@dataclass
class _Held:
    """Text that waits for its verdict, or has been let go."""

    run: Run
    text: str = ""
    free: bool = False

    def take(self, piece: str) -> None:
        self.text += piece
        if self.free:
            self.run.say(piece)
        elif len(self.text) > HELD_CHARS:
            self.let_go()

    def let_go(self) -> None:
        """Say what was held, and pass on what comes after it."""
        if not self.free:
            self.free = True
            self.run.sufficient = True
            self.run.say(self.text)


class Drafts:
    """Writes drafts and judges them."""

    def __init__(
        self,
        final: FinalAnswer,
        sufficiency: Sufficiency,
        spending: Spending,
        *,
        terms: Terms,
        weight: Weight,
    ) -> None:
        self._final = final
        self._sufficiency = sufficiency
        self._spending = spending
        self._terms = terms
        self._weight = weight

    @property
    def judges(self) -> bool:
        """Whether the model can tell an answer that holds from one that does not."""
        return self._sufficiency.can_tell

    async def answer(self, run: Run, unfinished: Unfinished) -> Ending | None:
        """Write the answer and say it; None where it does not hold or a budget forbids it."""
        held = _Held(run)
        look = unfinished.look or Look(unfinished.findings())  # ranked once for all that follows
        reply = replace(unfinished, look=look, on_text=held.take, deadline=run.time.deadline)
        if not (look.findings or reply.account):
            return None
        reserved, reason = await self._spending.reserve(run, self._final.request(reply))
        if reason is not None:
            return None
        run.new_part = True
        ending = await self._final.write(reply)
        done = held.free or ending.basis == "fallback"
        holds = done or await self._holds(run, reply, look, held.text)
        self._spending.settle(run, reserved, None if holds else ending.finished)
        if not holds:
            return None
        held.let_go()
        return ending

    async def _holds(self, run: Run, reply: Unfinished, look: Look, answer: str) -> bool:
        grounds = support(
            reply.question,
            answer,
            self._final.shown(reply),
            terms=self._terms,
            weight=self._weight,
            linked=look.linked,
        )
        if tells_nothing(reply.question, answer, terms=self._terms) or is_about_another(
            reply.question, grounds, terms=self._terms
        ):
            run.sufficient = False
            return False
        told = "\n".join(filter(None, (prompts.passages(grounds), *reply.account)))
        request = self._sufficiency.question(
            reply.question,
            told,
            history=reply.history[-2:],
            stop=reply.stop.child(),
            deadline=run.time.deadline,
        )
        reserved, reason = await self._spending.reserve(run, request)
        if reason is not None:
            return False
        verdict = await self._sufficiency.check(request, again=run.sufficient is False)
        self._spending.settle(run, reserved, verdict.finished)
        if verdict.finished.reason == "end":  # else out of time or stopped: that is no verdict
            run.sufficient = verdict.sufficient
            if not verdict.sufficient and grounds:
                reply.evidence.strike(grounds[0])
        return verdict.sufficient and verdict.finished.reason == "end"
