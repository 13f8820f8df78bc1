"""The language model alone: prompt and generated tokens a second, restored prefix, cancelling."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal

from voice_agent.bench.figures import Spread, spread
from voice_agent.engine import StopFlag
from voice_agent.errors import ModelError
from voice_agent.events import Event
from voice_agent.llm.local import LocalModel
from voice_agent.llm.model import Finished, Lane, Message, Request

What = Literal["prompt", "generation", "prefix processed", "prefix restored", "cancel"]

UNITS: dict[What, str] = {
    "prompt": "tokens/s",
    "generation": "tokens/s",
    "prefix processed": "s",
    "prefix restored": "s",
    "cancel": "s",
}

_WORDS_PER_TOKEN = 0.7
_CANCEL_AFTER_S = 0.5
_REPLY_TOKENS = 48
_DEADLINE_S = 600.0


@dataclass(frozen=True, kw_only=True)
class LlmTaken(Event):
    """One value, in the unit of `UNITS`; ``tokens`` were processed, generated or restored."""

    what: What
    tokens: int
    value: float


@dataclass(frozen=True)
class LlmRow:
    """All values of one kind, with the tokens of the first."""

    what: What
    unit: str
    tokens: int
    values: Spread


@dataclass(frozen=True, kw_only=True)
class LlmFigures(Event):
    """All figures of a model."""

    model: str
    rows: tuple[LlmRow, ...]


async def taken(
    model: LocalModel, words: Sequence[str], *, runs: int, prompt_tokens: int
) -> AsyncIterator[LlmTaken]:
    """Yield ``runs`` values of each kind; ``words`` fill prompts of about ``prompt_tokens``.

    ``model`` keeps processed beginnings on disk (`LocalModel.load`). Raises ModelError.
    """
    texts = _Texts(words, prompt_tokens)
    for _ in range(runs):
        async for value in _replied(model, texts):
            yield value
        async for value in _prepared(model, texts):
            yield value
        yield await _cancelled(model, texts)


def llm_figures(results: Sequence[LlmTaken], *, model: str) -> LlmFigures:
    """Return the figures over ``results``."""
    rows = []
    for what, unit in UNITS.items():
        some = [result for result in results if result.what == what]
        if some:
            rows.append(LlmRow(what, unit, some[0].tokens, spread(each.value for each in some)))
    return LlmFigures(model=model, rows=tuple(rows))


class _Texts:
    """Texts of one length that begin differently each, so that none shares another's prefix."""

    def __init__(self, words: Sequence[str], tokens: int) -> None:
        self._words = words
        self._length = max(1, round(tokens * _WORDS_PER_TOKEN))
        self._made = 0

    def next(self, times: int = 1) -> str:
        """Return another text, ``times`` as long as the others."""
        self._made += 1
        length = self._length * times
        begin = self._made * 37
        chosen = [self._words[(begin + n) % len(self._words)] for n in range(length)]
        return f"{self._made}. {' '.join(chosen)}"


async def _replied(model: LocalModel, texts: _Texts) -> AsyncIterator[LlmTaken]:
    request = _request(f"Tell at length what this is about.\n\n{texts.next()}", lane="answer")
    began = time.monotonic()
    first_s = 0.0
    async for piece in model.stream(request):
        first_s = first_s or time.monotonic() - began
        if isinstance(piece, Finished):
            done = piece
    reply_s = time.monotonic() - began - first_s
    count = done.evaluated_tokens
    yield LlmTaken(what="prompt", tokens=count, value=round(count / first_s, 2))
    if done.output_tokens > 1 and reply_s > 0:
        count = done.output_tokens - 1
        yield LlmTaken(what="generation", tokens=count, value=round(count / reply_s, 2))


async def _prepared(model: LocalModel, texts: _Texts) -> AsyncIterator[LlmTaken]:
    """Process a beginning, drive it out by another one, and have it restored."""
    one, other = (Message("system", texts.next()) for _ in range(2))
    kinds: list[tuple[What, Message]] = [
        ("prefix processed", one),
        ("prefix processed", other),
        ("prefix restored", one),
    ]
    for what, message in kinds:
        request = _request("", system=message)
        began = time.monotonic()
        size = await model.prepare(request)
        value = round(time.monotonic() - began, 4)
        if what == "prefix restored" and size.new_tokens:
            raise ModelError(
                "A processed beginning could not be kept on disk.",
                mend="Make room in the folder for temporary files.",
            )
        yield LlmTaken(what=what, tokens=size.prompt_tokens, value=value)


async def _cancelled(model: LocalModel, texts: _Texts) -> LlmTaken:
    """Stop a prompt in the middle; it is long enough that it cannot be over before."""
    request = _request(texts.next(4), lane="conversation")
    reply = asyncio.ensure_future(_end(model, request))
    await asyncio.sleep(_CANCEL_AFTER_S)
    began = time.monotonic()
    request.stop.set()
    done = await reply
    return LlmTaken(
        what="cancel", tokens=done.prompt_tokens, value=round(time.monotonic() - began, 4)
    )


async def _end(model: LocalModel, request: Request) -> Finished:
    async for piece in model.stream(request):
        if isinstance(piece, Finished):
            return piece
    raise ModelError("The reply had no end.", mend="Please report this.")


def _request(text: str, *, lane: Lane = "conversation", system: Message | None = None) -> Request:
    messages = (system,) if system else (Message("user", text),)
    return Request(
        messages=messages,
        max_tokens=_REPLY_TOKENS,
        stop=StopFlag(),
        deadline=time.monotonic() + _DEADLINE_S,
        lane=lane,
        calls_allowed=False,
    )
