"""The few statements of the found passages that bear on a question.

A prompt token costs as much as it sounds: the best sentences of the first passages, chosen by the
weight of the question's terms that they hold, answer as well as whole passages at a third of the
tokens (measured, see the design).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voice_agent.events import Source
from voice_agent.research.evidence import Finding, Terms, Weight

NEIGHBOUR_SHARE = 0.25
"""How much of a statement's score its neighbours get: an answer often stands beside the topic."""

PASSAGE_SHARE = 0.6
"""How much the passage's own relevance counts beside the statement's."""


@dataclass(frozen=True)
class Found:
    """A passage that a search returned, best first; ``coverage`` is its share of the question."""

    source: Source
    text: str
    coverage: float


@dataclass(frozen=True)
class _Statement:
    passage: int
    position: int
    text: str
    score: float


def choose(
    question: str,
    passages: Sequence[Found],
    *,
    statements: Callable[[str], list[str]],
    terms: Terms,
    weight: Weight,
    room_chars: int,
) -> list[Finding]:
    """Return the statements that bear on ``question``, together at most ``room_chars`` long.

    One finding for each passage that contributes, in the passages' order, its statements in
    theirs.
    """
    wanted = set(terms(question))
    total = sum(map(weight, wanted)) or 1.0
    scored: list[_Statement] = []
    for number, passage in enumerate(passages):
        parts = statements(passage.text)
        own = [sum(map(weight, wanted & set(terms(part)))) / total for part in parts]
        for position, part in enumerate(parts):
            near = max(
                (*own[max(position - 1, 0) : position], *own[position + 1 : position + 2]),
                default=0,
            )
            score = own[position] + NEIGHBOUR_SHARE * near + PASSAGE_SHARE * passage.coverage
            scored.append(_Statement(number, position, part, score))
    kept = _fitting(sorted(scored, key=lambda s: (-s.score, s.passage, s.position)), room_chars)
    return _by_passage(kept, passages)


def _fitting(ranked: Sequence[_Statement], room_chars: int) -> list[_Statement]:
    kept: list[_Statement] = []
    for statement in ranked:
        if len(statement.text) <= room_chars:
            kept.append(statement)
            room_chars -= len(statement.text)
        elif not kept:
            kept.append(_Statement(0, 0, statement.text[:room_chars], statement.score))
            break
    return kept


def _by_passage(kept: Sequence[_Statement], passages: Sequence[Found]) -> list[Finding]:
    findings: list[Finding] = []
    for number in sorted({statement.passage for statement in kept}):
        own = sorted((s for s in kept if s.passage == number), key=lambda s: s.position)
        findings.append(Finding(" ".join(s.text for s in own), passages[number].source))
    return findings
