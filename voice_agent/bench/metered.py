"""A model whose requests are noted: what each was expected to cost, and what it did cost."""

import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from voice_agent.errors import ModelError
from voice_agent.llm.model import Finished, Likelihood, Model, Piece, Request, Size
from voice_agent.research.sufficiency import WeighingModel

Kind = Literal["reply", "verdict"]


@dataclass(frozen=True)
class Metered:
    """One request: its size as it was measured just before, and how it ended.

    ``finished`` is None where the model failed or its reader left early.
    """

    kind: Kind
    request: Request = field(repr=False)
    expected: Size
    finished: Finished | None
    took_s: float

    @property
    def spent_tokens(self) -> int:
        """Tokens evaluated and generated, by the seam's own count."""
        return self.finished.charged_tokens if self.finished else 0

    @property
    def whole(self) -> bool:
        """Whether it ran to its end: neither stopped, nor out of time, nor failed."""
        return self.finished is not None and self.finished.reason in ("end", "length")

    @property
    def computed_tokens(self) -> int:
        """Tokens that went through the model: the last one of a reply cut at its length did not."""
        cut = self.finished is not None and self.finished.reason == "length"
        return self.spent_tokens - cut

    def row(self) -> dict[str, Any]:
        """Return it as plain figures."""
        figures = asdict(self.finished) if self.finished else {"reason": "failed"}
        figures.pop("generated", None)
        return {
            "kind": self.kind,
            "lane": self.request.lane,
            "expected_prompt_tokens": self.expected.prompt_tokens,
            "expected_new_tokens": self.expected.new_tokens,
            **figures,
            "took_s": round(self.took_s, 2),
        }


class MeteredModel:
    """Passes all on to ``model``, and notes each request in ``requests``.

    ``weigher`` is the same model where it can weigh a verdict; else none must be asked for.
    """

    def __init__(self, model: Model, weigher: WeighingModel | None = None) -> None:
        self._model = model
        self._weigher = weigher
        self.requests: list[Metered] = []

    @property
    def context_tokens(self) -> int:
        """The model's own."""
        return self._model.context_tokens

    @context_tokens.setter
    def context_tokens(self, tokens: int) -> None:
        self._model.context_tokens = tokens

    @property
    def prompt_tokens_per_s(self) -> float:
        """The model's own."""
        return self._model.prompt_tokens_per_s

    @prompt_tokens_per_s.setter
    def prompt_tokens_per_s(self, speed: float) -> None:
        self._model.prompt_tokens_per_s = speed

    def take(self) -> list[Metered]:
        """Return what was noted since the last time."""
        taken, self.requests = self.requests, []
        return taken

    async def measure(self, request: Request) -> Size:
        """Ask the model."""
        return await self._model.measure(request)

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """Pass the reply's pieces on, and note what it cost."""
        expected, began = await self._model.measure(request), time.monotonic()
        finished: Finished | None = None
        try:
            async for piece in self._model.stream(request):
                finished = piece if isinstance(piece, Finished) else None
                yield piece
        finally:
            self._note("reply", request, expected, finished=finished, began=began)

    async def likelihood(self, request: Request, options: tuple[str, ...]) -> Likelihood:
        """Pass the verdict on, and note what it cost. Raises ModelError without a weigher."""
        if self._weigher is None:
            raise ModelError("This model gives no verdicts.")
        expected, began = await self._model.measure(request), time.monotonic()
        weighed = await self._weigher.likelihood(request, options)
        self._note("verdict", request, expected, finished=weighed.finished, began=began)
        return weighed

    def _note(
        self,
        kind: Kind,
        request: Request,
        expected: Size,
        *,
        finished: Finished | None,
        began: float,
    ) -> None:
        took_s = time.monotonic() - began
        self.requests.append(Metered(kind, request, expected, finished, took_s))
