"""Which decoded texts can be trusted, which were invented, and what is left of repetition."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

PADDING_S = 3.0
"""Silence behind the speech in a short window; `bench stt` measures others beside it."""

_TOKENS_PER_S = 7
_TOKENS_MORE = 16
_FEWEST_TOKENS_PER_S = 1
_TRUSTED_COMPRESSION = 2.0
_TRUSTED_LOGPROB = -0.8
_REPETITIVE = 2.4
_SILENT = 0.6
_UNSURE = -1.0
_REPEATED = re.compile(r"(?P<phrase>\b\w.{0,80}?)(?:[\s.,!?;:]+(?P=phrase)\b){3,}", re.IGNORECASE)


@dataclass(frozen=True)
class Decoded:
    """What Whisper wrote for one piece of sound, as decoded, and how sure it was.

    ``avg_logprob`` is the mean log-probability of its ``tokens``; ``no_speech_prob`` the
    model's own doubt that anyone spoke; ``compression_ratio`` the text's length over its
    deflated length, which repetition raises.
    """

    text: str
    tokens: int
    avg_logprob: float
    no_speech_prob: float
    compression_ratio: float


NOTHING = Decoded("", 0, 0.0, 1.0, 0.0)
"""No speech."""


def token_allowance(seconds: float) -> int:
    """Return how many tokens ``seconds`` of speech can hold at the very most."""
    return int(_TOKENS_PER_S * seconds) + _TOKENS_MORE


def compression_ratio(text: str) -> float:
    """Return the length of ``text`` over its deflated length."""
    content = text.encode()
    return len(content) / len(zlib.compress(content))


def can_be_trusted(decoded: Decoded, seconds: float) -> bool:
    """Whether a short window's text needs no second look through the full window.

    Some short windows end in repetition. Three bounds find most of them (design.md, "Whisper need
    not see 30 s"); said twice, a short sentence still stays within them, so it is looked for.
    Others end after a word or two ("Chapter 34"), which the full window goes beyond.
    """
    return (
        max(1, _FEWEST_TOKENS_PER_S * (seconds - 1)) <= decoded.tokens <= token_allowance(seconds)
        and decoded.compression_ratio < _TRUSTED_COMPRESSION
        and decoded.avg_logprob > _TRUSTED_LOGPROB
        and not says_twice(decoded.text)
    )


def says_twice(text: str) -> bool:
    """Whether the last words of ``text`` are the same as those just before them."""
    words = re.findall(r"\w+", text.lower())
    return any(
        words[-length:] == words[-2 * length : -length] for length in range(1, len(words) // 2 + 1)
    )


def settled(decoded: Decoded) -> Decoded:
    """Return what is kept of a final result: nothing if it was invented, repetition said once.

    Text is invented where the model doubts that anyone spoke and is unsure of its words (Radford
    et al. 2022, "Robust Speech Recognition via Large-Scale Weak Supervision", section 4.5).
    """
    if decoded.no_speech_prob > _SILENT and decoded.avg_logprob < _UNSURE:
        return NOTHING
    if decoded.compression_ratio <= _REPETITIVE:
        return decoded
    text = _REPEATED.sub(r"\g<phrase>", decoded.text)
    return Decoded(
        text,
        decoded.tokens,
        decoded.avg_logprob,
        decoded.no_speech_prob,
        compression_ratio(text),
    )


def joined(results: Sequence[Decoded]) -> Decoded:
    """Return one text for the ``results`` of a recording's pieces; of each figure, the worst."""
    spoken = [result for result in results if result.text.strip()]
    if not spoken:
        return NOTHING
    return Decoded(
        " ".join("".join(result.text for result in spoken).split()),
        sum(result.tokens for result in spoken),
        min(result.avg_logprob for result in spoken),
        max(result.no_speech_prob for result in spoken),
        max(result.compression_ratio for result in spoken),
    )
