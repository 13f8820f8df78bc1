"""Whether an answer holds: the model is asked if the statement under it tells what was asked.

A small model that is told to admit ignorance either invents or declines everything, and asked
about all the passages, or about its own answer, it says yes to nearly anything. Shown only the
statement on which the answer stands and asked whether that tells the answer to the question, it
tells the two apart far better: see `benchmarks/README.md` for how that was measured. This is the
floor of relevance below which evidence does not count as found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from voice_agent.engine import StopFlag
from voice_agent.llm.model import Finished, Likelihood, Message, Request
from voice_agent.research import prompts

OPTIONS = ("yes", "no")

AGAIN = 0.08
"""How much surer the model must be of a later draft than of the first."""


class WeighingModel(Protocol):
    """A model that can tell how likely its reply begins with each of some words."""

    async def likelihood(self, request: Request, options: tuple[str, ...]) -> Likelihood:
        """Process the request's prompt and weigh ``options`` as its first word."""
        ...


@dataclass(frozen=True)
class Verdict:
    """Whether the statements suffice, and what asking cost."""

    sufficient: bool
    yes: float
    finished: Finished


class Sufficiency:
    """Asks the model whether the statements under an answer tell what the question asks.

    They do where it prefers "yes" to "no" with a share of ``threshold``, which is measured for
    each model (``evidence_yes`` in the catalogue).
    """

    def __init__(self, model: WeighingModel, threshold: float) -> None:
        self._model = model
        self._threshold = threshold

    @property
    def can_tell(self) -> bool:
        """Whether the model's verdict is worth asking for; else any relevant passage suffices."""
        return self._threshold > 0

    def question(
        self,
        question: str,
        told: str,
        *,
        history: Sequence[Message],
        stop: StopFlag,
        deadline: float,
    ) -> Request:
        """Return the request for a verdict on whether the text ``told`` tells the answer."""
        return Request(
            messages=(
                Message("system", prompts.PERSONA),
                *history,
                Message("user", prompts.does_it_tell(told, question)),
            ),
            max_tokens=1,
            stop=stop,
            deadline=deadline,
            lane="verdict",
            calls_allowed=False,
        )

    async def check(self, request: Request, *, again: bool = False) -> Verdict:
        """Ask about ``request``, made by `question`. Raises ModelError.

        ``again``: an earlier draft did not hold, and each further one is another chance to be
        taken in, so more is asked of it.
        """
        weighed = await self._model.likelihood(request, OPTIONS)
        yes, no = weighed.shares
        share = yes / (yes + no) if yes + no else 0.0
        threshold = self._threshold + (AGAIN if again else 0.0)
        return Verdict(share >= threshold, share, weighed.finished)
