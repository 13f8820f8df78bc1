"""What was measured: one record a question, and the figures over many of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Literal

from voice_agent.bench.folding import fold
from voice_agent.events import Event, Source, Timings

Mode = Literal["typed", "spoken"]

_MARKS = str.maketrans({mark: " " for mark in '.,;:?!"()-'})


@dataclass(frozen=True, kw_only=True)
class QuestionAnswered(Event):
    """One question, its answer and the verdict on it.

    ``heard`` is the transcript of a spoken question. ``basis`` and ``reason`` are those of the
    answer, None when the turn failed.
    """

    id: str
    kind: str
    mode: Mode
    question: str
    heard: str | None
    right: bool
    why: str
    text: str
    basis: str | None
    reason: str | None
    rounds: int
    charged_tokens: int
    answer_tokens: int
    sources: tuple[Source, ...]
    timings: Timings


@dataclass(frozen=True)
class Spread:
    """Median and 95th percentile of ``count`` values; None of none."""

    count: int
    median: float | None
    p95: float | None


@dataclass(frozen=True)
class Figures:
    """The figures over the questions of one mode.

    ``by_kind`` holds how many were right and how many were asked. ``timings`` are spreads by name,
    in seconds; None for a stage that there was none of. ``word_errors`` are of the transcripts.
    """

    questions: int
    right: int
    answered: int
    by_kind: dict[str, dict[str, int]]
    basis: dict[str, int]
    rounds: Spread
    charged_tokens: Spread
    answer_tokens: Spread
    timings: dict[str, dict[str, float | int | None] | None]
    word_errors: int | None
    words: int | None


@dataclass(frozen=True, kw_only=True)
class Benchmark(Event):
    """The figures of a whole benchmark; a mode that was not asked for is None."""

    model: str
    questions: int
    typed: Figures | None
    spoken: Figures | None
    interrupted: bool


def figures(results: Sequence[QuestionAnswered]) -> Figures:
    """Return the figures over ``results``, all of one mode."""
    heard = [(r.question, r.heard) for r in results if r.heard is not None]
    return Figures(
        questions=len(results),
        right=sum(r.right for r in results),
        answered=sum(bool(r.text.strip()) for r in results),
        by_kind=_by_kind(results),
        basis=dict(Counter(r.basis or "failed" for r in results)),
        rounds=spread(r.rounds for r in results),
        charged_tokens=spread(r.charged_tokens for r in results),
        answer_tokens=spread(r.answer_tokens for r in results),
        timings={field.name: _timing(results, field.name) for field in fields(Timings)},
        word_errors=sum(word_errors(*pair) for pair in heard) if heard else None,
        words=sum(word_count(question) for question, _ in heard) if heard else None,
    )


def spread(values: Iterable[float]) -> Spread:
    """Return the spread of ``values``."""
    ordered = sorted(values)
    return Spread(len(ordered), percentile(ordered, 0.5), percentile(ordered, 0.95))


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """Return the value below which ``share`` of the sorted values lie; None if there are none.

    Between two values it is interpolated (Hyndman and Fan 1996, definition 7).
    """
    if not ordered:
        return None
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return round(ordered[low] + (at - low) * (ordered[high] - ordered[low]), 4)


def word_errors(said: str, heard: str) -> int:
    """Return how many words must be changed, left out or put in to make ``heard`` into ``said``.

    Case and punctuation do not count (the edit distance of Levenshtein, over words).
    """
    reference, guess = _words(said), _words(heard)
    row = list(range(len(guess) + 1))
    for n, word in enumerate(reference, 1):
        before, row[0] = row[0], n
        for m, other in enumerate(guess, 1):
            change = before + (word != other)
            before = row[m]
            row[m] = min(change, row[m] + 1, row[m - 1] + 1)
    return row[-1]


def word_count(text: str) -> int:
    """Return how many words `word_errors` counts in ``text``."""
    return len(_words(text))


def _words(text: str) -> list[str]:
    return fold(text).translate(_MARKS).split()


def _by_kind(results: Sequence[QuestionAnswered]) -> dict[str, dict[str, int]]:
    asked = Counter(r.kind for r in results)
    right = Counter(r.kind for r in results if r.right)
    return {kind: {"right": right[kind], "of": count} for kind, count in asked.items()}


def _timing(results: Sequence[QuestionAnswered], name: str) -> dict[str, float | int | None] | None:
    values = [getattr(r.timings, name) for r in results]
    found = spread(value for value in values if value is not None)
    return asdict(found) if found.count else None
