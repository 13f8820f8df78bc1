"""The few statements of the found passages that bear on a question.

A prompt token costs as much as it sounds: the best sentences of the first passages, chosen by the
weight of the question's terms that they hold, answer as well as whole passages at a third of the
tokens (measured, see the design).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from voice_agent.events import Source
from voice_agent.research.evidence import Finding, Terms, Weight

NEIGHBOUR_SHARE = 0.25
"""How much of a statement's score its neighbours get: an answer often stands beside the topic."""

PASSAGE_SHARE = 0.6
"""How much the passage's own relevance counts beside the statement's."""

_USUAL_TERMS = 8
_LENGTH_COST = 0.1


@dataclass(frozen=True)
class Found:
    """A passage that a search returned, best first; ``coverage`` is its share of the question.

    ``line`` is where it stands in its document.
    """

    source: Source
    text: str
    coverage: float
    line: int = 0


def choose(
    question: str,
    passages: Sequence[Found],
    *,
    statements: Callable[[str], list[str]],
    terms: Terms,
    weight: Weight,
    room_chars: int,
) -> list[Finding]:
    """Return the statements that bear on ``question``, best first, at most ``room_chars`` long.

    One finding a statement, so that a later search can go on where this one ended.
    """
    wanted = set(terms(question))
    total = sum(map(weight, wanted)) or 1.0
    scored: list[tuple[float, Finding]] = []
    for passage in passages:
        parts = statements(passage.text)
        own = [_density(terms(part), wanted, weight) / total for part in parts]
        for place, part in enumerate(parts):
            near = max((*own[max(place - 1, 0) : place], *own[place + 1 : place + 2]), default=0)
            score = own[place] + NEIGHBOUR_SHARE * near + PASSAGE_SHARE * passage.coverage
            scored.append((score, Finding(part, passage.source, passage.line, place)))
    ranked = sorted(scored, key=lambda pair: -pair[0])  # stable: equal ones in the search's order
    return fitting([finding for _score, finding in ranked], room_chars)


def _density(held: Sequence[str], wanted: set[str], weight: Weight) -> float:
    """The weight of the ``wanted`` terms in a statement; a long one tells less by each of them."""
    longer = max(0, len(held) - _USUAL_TERMS) / _USUAL_TERMS
    return sum(map(weight, wanted & set(held))) / (1 + _LENGTH_COST * longer)


def fitting(findings: Sequence[Finding], room_chars: int) -> list[Finding]:
    """Return the findings that fit ``room_chars``; the first is cut rather than dropped."""
    kept: list[Finding] = []
    for finding in findings:
        if len(finding.text) <= room_chars:
            kept.append(finding)
            room_chars -= len(finding.text)
        elif not kept:
            return [replace(finding, text=finding.text[:room_chars])]
    return kept


def the_best(findings: Sequence[Finding], room_chars: int) -> list[Finding]:
    """Return the first of the findings whole, and what fits ``room_chars`` with it.

    Each is a portion of its own, so that they are read in their order, the best one last.
    """
    first_chars = max((len(finding.text) for finding in findings[:1]), default=0)
    kept = fitting(findings, max(room_chars, first_chars))
    return [replace(finding, portion=len(kept) - rank) for rank, finding in enumerate(kept)]
