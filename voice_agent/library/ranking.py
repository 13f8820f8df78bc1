"""Which passages answer a question: pure functions over term lists.

SQLite's BM25 proposes candidates; they are put in order here by BM25 over weighted fields
(S. Robertson, H. Zaragoza, M. Taylor, "Simple BM25 extension to multiple weighted fields", CIKM
2004), so that a passage with several of the question's terms beats one that repeats a single
term, raised where neighbouring words of the question stand together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TITLE_WEIGHT = 2.0
HEADING_WEIGHT = 1.5
K1 = 1.2
B = 0.4
TYPICAL_TERMS = 120  # of a passage's body, fixed so that a score does not move with the library
PAIR_WEIGHT = 0.3
PAIR_WINDOW = 3
COVERAGE_POWER = 0.25


@dataclass(frozen=True)
class Query:
    """A question's terms in order, each with its idf and the terms that count in its place.

    ``variants`` maps a term of the library to the question's term that it stands for and how
    much it counts, 1 for the term itself.
    """

    weights: Mapping[str, float]
    variants: Mapping[str, tuple[str, float]]


@dataclass(frozen=True)
class Candidate:
    """A passage's term lists."""

    passage_id: int
    title: Sequence[str]
    heading: Sequence[str]
    body: Sequence[str]


@dataclass(frozen=True)
class Ranked:
    """A candidate's score, and which share (0 to 1, by idf) of the question it holds."""

    candidate: Candidate
    score: float
    coverage: float


def match_expression(terms: Sequence[str]) -> str:
    """Return the FTS5 expression for any of ``terms``, each quoted so that none is syntax."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def rank(query: Query, candidates: Sequence[Candidate]) -> list[Ranked]:
    """Return the candidates, best first; equal ones by passage id."""
    ranked = [_score(query, candidate) for candidate in candidates]
    return sorted(ranked, key=lambda each: (-each.score, each.candidate.passage_id))


def _score(query: Query, candidate: Candidate) -> Ranked:
    length = 1 - B + B * len(candidate.body) / TYPICAL_TERMS
    frequency: dict[str, float] = {}
    held: dict[str, float] = {}
    for field, weight in (
        (candidate.title, TITLE_WEIGHT),
        (candidate.heading, HEADING_WEIGHT),
        (candidate.body, 1 / length),
    ):
        for term, share in _resolved(query, field):
            frequency[term] = frequency.get(term, 0.0) + weight * share
            held[term] = max(held.get(term, 0.0), share)
    bm25 = sum(query.weights[t] * n * (K1 + 1) / (n + K1) for t, n in frequency.items())
    whole = sum(query.weights.values())
    coverage = sum(query.weights[t] * share for t, share in held.items()) / whole
    pairs = PAIR_WEIGHT * _pairs(query, candidate.body)
    return Ranked(candidate, (bm25 + pairs) * coverage**COVERAGE_POWER, coverage)


def _resolved(query: Query, terms: Sequence[str]) -> list[tuple[str, float]]:
    return [query.variants[term] for term in terms if term in query.variants]


def _pairs(query: Query, body: Sequence[str]) -> float:
    """The summed idf of neighbouring terms of the question that stand close together in order."""
    places: dict[str, list[int]] = {}
    for place, term in enumerate(body):
        if term in query.variants:
            places.setdefault(query.variants[term][0], []).append(place)
    asked = list(query.weights)
    return sum(
        min(query.weights[first], query.weights[second])
        for first, second in zip(asked, asked[1:], strict=False)
        if _near(places.get(first, []), places.get(second, []))
    )


def _near(firsts: Sequence[int], seconds: Sequence[int]) -> bool:
    return any(0 < second - first <= PAIR_WINDOW for first in firsts for second in seconds)
