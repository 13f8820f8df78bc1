"""What a reply has found so far: new or a repetition, and which of it bears on the question.

Novelty is told by fingerprints, as in near-duplicate detection (Broder 1997, shingling): result
order, scores, case and white space do not count, so the same passages found by another query are
no progress. Relevance is the share of the question's term weight that a finding holds.
"""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from voice_agent.events import Source

MAX_FINGERPRINTS = 20_000
"""Fingerprints remembered for a reply; beyond it the oldest are forgotten first."""

MIN_NEW_FINGERPRINTS = 3
"""New fingerprints that make a read round count as progress: fewer is a changed number or date."""

_SHINGLE_WORDS = 5
_WORD = re.compile(r"\w+")
_TIME_STAMP = re.compile(
    r"\b(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?\b", re.IGNORECASE
)
_SCORE = re.compile(r"\b(score|similarity|distance)\s*[:=]\s*[\d.]+", re.IGNORECASE)

Terms = Callable[[str], list[str]]
"""A text's words in the form in which the library's index compares them."""
Weight = Callable[[str], float]
"""How much a term tells: its inverse document frequency."""


@dataclass(frozen=True)
class Finding:
    """A piece of text that a tool returned, with where it stands (None: not a document).

    ``line`` and ``place`` give its order among others of the same source; ``portion`` counts the
    portions in which a reply's evidence came.
    """

    text: str
    source: Source | None = None
    line: int = 0
    place: int = 0
    portion: int = 0

    @property
    def label(self) -> str:
        """Title and heading, as the model and the screen name the source."""
        if self.source is None:
            return ""
        heading = f" > {self.source.heading}" if self.source.heading else ""
        return f"{self.source.title}{heading}"


def _key(finding: Finding) -> str:
    return f"{finding.label}\n{finding.text}"


def fingerprints(text: str) -> set[bytes]:
    """Return the fingerprints of ``text``: its paragraphs and its overlapping word shingles."""
    plain = _SCORE.sub(" ", _TIME_STAMP.sub(" ", text.casefold()))
    marks = {_mark(" ".join(_WORD.findall(part))) for part in plain.split("\n\n") if part.strip()}
    words = _WORD.findall(plain)
    for at in range(len(words) - _SHINGLE_WORDS + 1):
        marks.add(_mark(" ".join(words[at : at + _SHINGLE_WORDS])))
    return marks


def _mark(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()


class Novelty:
    """Tells whether a round of reading added anything to what the reply has seen."""

    def __init__(self, limit: int = MAX_FINGERPRINTS) -> None:
        self._seen: OrderedDict[bytes, None] = OrderedDict()
        self._limit = limit

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, text: str) -> int:
        """Remember ``text``; return how many of its fingerprints are new."""
        new = 0
        for mark in fingerprints(text):
            new += mark not in self._seen
            self._seen[mark] = None
            self._seen.move_to_end(mark)
        while len(self._seen) > self._limit:
            self._seen.popitem(last=False)
        return new


class Evidence:
    """The findings of one reply, in the order in which they came, each text once."""

    def __init__(self, terms: Terms, weight: Weight) -> None:
        self._terms = terms
        self._weight = weight
        self._findings: dict[str, Finding] = {}
        self._portions = 0
        self._struck: set[str] = set()
        self._scores: dict[tuple[str, int, str, int], float] = {}
        self.searched: list[str] = []

    def __len__(self) -> int:
        return len(self._findings)

    def unseen(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return those of ``findings`` that are not kept yet."""
        return [f for f in findings if f.text.strip() and _key(f) not in self._findings]

    def add(self, findings: Iterable[Finding]) -> list[Finding]:
        """Keep what is new of ``findings`` as the next portion; return it."""
        self._portions += 1
        fresh = [replace(finding, portion=self._portions) for finding in self.unseen(findings)]
        self._findings |= {_key(finding): finding for finding in fresh}
        return fresh

    def strike(self, finding: Finding) -> None:
        """Answer no more from ``finding``, which did not tell what an answer made of it."""
        self._struck.add(_key(finding))

    def standing(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return those of ``findings`` that were not struck."""
        return [finding for finding in findings if _key(finding) not in self._struck]

    def relevance(self, text: str, question: str) -> float:
        """The share, 0 to 1, of the question's term weight that ``text`` holds."""
        wanted = set(self._terms(question))
        total = sum(map(self._weight, wanted))
        return sum(map(self._weight, wanted & set(self._terms(text)))) / total if total else 0.0

    def ranked(self, question: str, floor: float = 0.0) -> list[Finding]:
        """Return the findings of sources at or above the relevance ``floor``, the best first.

        A source counts by all that one portion has of it, and its statements stay in the order
        in which they came: the one that holds the answer often shares no word with the question,
        while the one beside it does.
        """
        sources: dict[tuple[int, str], list[Finding]] = {}
        for finding in self.standing(self._findings.values()):
            sources.setdefault((finding.portion, finding.label), []).append(finding)
        scored = [
            (self._score(question, portion, label, own), own)
            for (portion, label), own in sources.items()
        ]
        ranked = sorted(scored, key=lambda pair: -pair[0])
        return [finding for score, own in ranked if score >= floor for finding in own]

    def relevant(self, question: str, floor: float) -> list[Finding]:
        """Return the same as `ranked`, in the order in which the tools returned it."""
        ranked = self.ranked(question, floor)
        kept = {_key(finding) for finding in ranked}
        return [finding for key, finding in self._findings.items() if key in kept]

    def _score(self, question: str, portion: int, label: str, own: list[Finding]) -> float:
        """The relevance of what one portion has of a source: reckoned once, until one is struck."""
        key = (question, portion, label, len(own))
        if key not in self._scores:
            text = f"{label} {' '.join(finding.text for finding in own)}"
            self._scores[key] = self.relevance(text, question)
        return self._scores[key]

    def sources_of(self, answer: str) -> tuple[Source, ...]:
        """Return where the answer's words stand: the sources that hold its telling terms."""
        wanted = set(self._terms(answer))
        best: dict[tuple[str, str | None], tuple[float, Source]] = {}
        for finding in self._findings.values():
            if finding.source is None:
                continue
            held = wanted & set(self._terms(f"{finding.label} {finding.text}"))
            score = sum(map(self._weight, held))
            key = (finding.source.path, finding.source.heading)
            if score > best.get(key, (0.0, None))[0]:
                best[key] = (score, finding.source)
        ranked = sorted(best.values(), key=lambda pair: -pair[0])
        return tuple(s for score, s in ranked[:3] if score >= 0.6 * ranked[0][0])
