"""Whether what was found states the answer: asked of the model before it may answer.

A small model that is told to admit ignorance either invents or declines everything; how likely it
says "yes" when asked whether the passages state the answer tells the two apart far better, and
costs some twenty tokens, because the passages have just been processed for the answer itself.
This is the floor of relevance below which evidence does not count as found. `benchmarks/README.md`
has how it was measured.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from voice_agent.llm.model import Finished, Likelihood, Request
from voice_agent.research import prompts

OPTIONS = ("yes", "no")


class WeighingModel(Protocol):
    """A model that can tell how likely its reply begins with each of some words."""

    async def likelihood(self, request: Request, options: tuple[str, ...]) -> Likelihood:
        """Process the request's prompt and weigh ``options`` as its first word."""
        ...


@dataclass(frozen=True)
class Verdict:
    """Whether the passages suffice, and what asking cost."""

    sufficient: bool
    yes: float
    finished: Finished


class Sufficiency:
    """Asks the model whether the passages that it has just read state the answer.

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

    def question(self, request: Request) -> Request:
        """Return ``request`` with its last message asking for the verdict instead."""
        last = request.messages[-1]
        asking = replace(last, content=f"{last.content}\n{prompts.SUFFICIENT}")
        return replace(request, messages=(*request.messages[:-1], asking), max_tokens=1)

    async def check(self, request: Request) -> Verdict:
        """Ask about ``request``, made by `question`. Raises ModelError."""
        weighed = await self._model.likelihood(request, OPTIONS)
        yes, no = weighed.shares
        share = yes / (yes + no) if yes + no else 0.0
        return Verdict(share >= self._threshold, share, weighed.finished)
