"""Statements that answer only together: one names what another is about.

"Leo is in class 8a" and the row of class 8a answer a question about Leo, and neither does alone.
Such pairs share a name or a code that the question does not have. They are found by searching for
the names in what the question itself has found, as a multi-hop retriever does (compare Yang and
others 2018, HotpotQA, where a question bridges two paragraphs), without asking the model.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from voice_agent.research.evidence import Finding, Terms, Weight

SEEDS = 8
"""Statements of the first search whose names are followed."""

WEAKEST_LINK = 1.0
"""Least weight of the names that two statements share; one that is everywhere links nothing."""

_CLOSE_SCORE = 0.1
_SIBLING_SHARE = 0.5
_LINK_WEIGHT = 0.1
_STRONG_LINK = 5.0
_OWN_WEIGHT = 0.3

_FAR_COST = 0.5

_WORD = re.compile(r"\w+")
_CLAUSE = re.compile(r"[,;:.]\s|\b(?:and|or|und|oder|y|o|et|ou)\b")


def names(text: str) -> list[str]:
    """Return the names, numbers and codes in ``text``, in order, as they are written."""
    return [word for word in _WORD.findall(text) if word[0].isupper() or _has_digit(word)]


def follow_ups(question: str, found: Sequence[Finding], *, terms: Terms) -> list[str]:
    """Return the queries that follow the names in the statements that were ``found``.

    Each has the names of one statement and those words of the question that it lacks.
    """
    asked = {word.casefold() for word in _WORD.findall(question)}
    queries = []
    for finding in found[:SEEDS]:
        held = set(terms(f"{finding.label} {finding.text}"))
        missing = [word for word in _WORD.findall(question) if not set(terms(word)) <= held]
        named = [name for name in names(finding.text) if name.casefold() not in asked]
        if missing and named:
            queries.append(" ".join((*named, *missing)))
    return list(dict.fromkeys(queries))


def linked(
    question: str,
    seeds: Sequence[Finding],
    pool: Sequence[Finding],
    *,
    terms: Terms,
    weight: Weight,
    room_chars: int,
) -> list[Finding]:
    """Return the statements of the best pairs, at most ``room_chars`` long; [] if there is none.

    The first of a pair is one of ``seeds``, the second any of ``pool``. Of the rows of one table
    only those that are linked about as well as the best one are kept: its other rows mislead.
    """
    asked = {word.casefold() for word in _WORD.findall(question)}
    measure = _Measure(set(terms(question)), terms, weight)
    items = list(dict.fromkeys((*seeds, *pool)))
    named = {item: {name.casefold() for name in names(item.text)} - asked for item in items}
    carriers = Counter(name for each in named.values() for name in each)
    near = {item: _named_with(item.text, asked) for item in items}
    pairs: list[_Pair] = []
    for first in seeds[:SEEDS]:
        for second in items:
            shared = {
                name: math.log(len(items) / carriers[name]) for name in named[first] & named[second]
            }
            link = sum(shared.values())
            if second is not first and link >= WEAKEST_LINK:
                close = near[first] | near[second]
                apart = sum(weight for name, weight in shared.items() if name not in close)
                score = measure.score(first, second, link)
                pairs.append(_Pair(first, second, link - _FAR_COST * apart, score))
    return _chosen([pair for pair in pairs if pair.score > 0], room_chars)


def _named_with(text: str, asked: set[str]) -> set[str]:
    """The names in one clause with a name of the question: not Mia's class, but Leo's."""
    near: set[str] = set()
    for clause in _CLAUSE.split(text):
        if asked & {name.casefold() for name in names(clause)}:
            near |= {name.casefold() for name in names(clause)}
    return near


@dataclass(frozen=True)
class _Pair:
    first: Finding
    second: Finding
    link: float
    score: float


class _Measure:
    """How much of the question two statements cover together."""

    def __init__(self, asked: set[str], terms: Terms, weight: Weight) -> None:
        self._asked = asked
        self._terms = terms
        self._weight = weight
        self._total = sum(map(weight, asked)) or 1.0
        self._held: dict[Finding, tuple[set[str], set[str]]] = {}

    def score(self, first: Finding, second: Finding, link: float) -> float:
        """Return 0 where one of the two adds nothing that was asked about."""
        own, place = self._terms_of(first)
        other, other_place = self._terms_of(second)
        if not (place - other_place and other_place - place):
            return 0.0
        together = self._share(place | other_place)
        apart = self._share(own) + self._share(other)
        strength = min(link, _STRONG_LINK) / _STRONG_LINK
        return together + _OWN_WEIGHT * apart + _LINK_WEIGHT * strength

    def _terms_of(self, finding: Finding) -> tuple[set[str], set[str]]:
        """What was asked about in the statement, and in it and its label."""
        if finding not in self._held:
            own = self._asked & set(self._terms(finding.text))
            self._held[finding] = own, own | self._asked & set(self._terms(finding.label))
        return self._held[finding]

    def _share(self, held: set[str]) -> float:
        return sum(map(self._weight, held)) / self._total


def _chosen(pairs: Sequence[_Pair], room_chars: int) -> list[Finding]:
    """Take the best pair, and those about as good that share a statement with it."""
    if not pairs:
        return []
    best = max(pairs, key=lambda pair: pair.score)
    core = {best.first, best.second}
    close = [
        pair
        for pair in pairs
        if pair.score >= best.score - _CLOSE_SCORE and core & {pair.first, pair.second}
    ]
    strongest: dict[str, float] = {}
    for pair in close:
        for label in (pair.first.label, pair.second.label):
            strongest[label] = max(strongest.get(label, 0.0), pair.link)
    chosen: dict[Finding, None] = {}
    for pair in sorted(close, key=lambda pair: -pair.score):
        if pair.link < _SIBLING_SHARE * max(
            strongest[pair.first.label], strongest[pair.second.label]
        ):
            continue
        fresh = [f for f in (pair.first, pair.second) if f not in chosen]
        size = sum(len(f.text) for f in fresh)
        if size <= room_chars:
            room_chars -= size
            chosen |= dict.fromkeys(fresh)
    return list(chosen)


def _has_digit(word: str) -> bool:
    return any(letter.isdigit() for letter in word)
