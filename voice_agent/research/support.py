"""The statement on which an answer stands, to be checked apart from all that was found with it."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath

from voice_agent.research.evidence import Finding, Terms, Weight

FACT_WEIGHT = 2.0
"""How much more a term counts that the answer has told than one that was asked about."""


def support(
    question: str,
    answer: str,
    findings: Sequence[Finding],
    *,
    terms: Terms,
    weight: Weight,
    linked: bool = False,
) -> list[Finding]:
    """Return what ``answer`` stands on: the statement that holds most of what it tells.

    An answer from ``linked`` findings stands on two: also on the one that holds most of what was
    asked about and is missing in the first.
    """
    if not findings:
        return []
    asked = set(terms(question))
    told = set(terms(answer)) - asked or set(terms(answer))

    def share(wanted: set[str], finding: Finding) -> float:
        return sum(map(weight, wanted & set(terms(f"{finding.label} {finding.text}"))))

    best = max(findings, key=lambda f: FACT_WEIGHT * share(told, f) + share(asked, f))
    if not linked:
        return [best]
    missing = asked - set(terms(f"{best.label} {best.text}"))
    linking = max(findings, key=lambda f: share(missing, f))
    return [best, linking] if share(missing, linking) > 0 else [best]


def tells_nothing(question: str, answer: str, *, terms: Terms) -> bool:
    """Whether ``answer`` only says the question again."""
    return set(terms(answer)) <= set(terms(question))


def is_about_another(question: str, findings: Sequence[Finding], *, terms: Terms) -> bool:
    """Whether the findings are about another thing than the question, to judge by its words.

    "Flat 4" is not Flat 3: where a word of the question stands with other numbers only, what is
    said there is no answer. Nor is what is said of members one about "non-members", or the other
    way round. Title, heading and file name count as the statement itself.
    """
    texts = [_whole(finding) for finding in findings]
    found: dict[str, set[str]] = {}
    for text in texts:
        for word, numbers in _numbered(text, terms).items():
            found.setdefault(word, set()).update(numbers)
    other_number = any(
        found.get(word) and not found[word] & own
        for word, own in _numbered(question, terms).items()
    )
    return other_number or _is_negated_otherwise(question, "\n".join(texts), terms)


def _whole(finding: Finding) -> str:
    stem = PurePath(finding.source.path).stem if finding.source else ""
    return f"{finding.label}\n{finding.text}\n{re.sub('[-_]', ' ', stem)}"


def _is_negated_otherwise(question: str, text: str, terms: Terms) -> bool:
    """Whether a word of the question stands in ``text`` as its opposite only, "non-" or not."""
    asked, told = _by_negation(question, terms), _by_negation(text, terms)
    return any((asked[own] - asked[not own]) & told[not own] - told[own] for own in (False, True))


def _by_negation(text: str, terms: Terms) -> dict[bool, set[str]]:
    """The terms of ``text`` that stand plain (False) and those behind "non-" (True)."""
    negated = " ".join(_NEGATED.findall(text))
    return {False: set(terms(_NEGATED.sub(" ", text))), True: set(terms(negated))}


_NEGATED = re.compile(r"\b(?:non|nicht)[-\u2010\u2011]([^\W_]+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[.,:]\d+)*")
_NUMBER = re.compile(r"\d{1,3}")


def _numbered(text: str, terms: Terms) -> dict[str, set[str]]:
    """The telling words of ``text`` that a small number follows, in digits or as a word."""
    telling = {term for term in terms(text) if not _NUMBER.fullmatch(term)}
    found: dict[str, set[str]] = {}
    for word, number in pairwise(_WORD.findall(text)):
        numbers = {value for value in terms(number) if _NUMBER.fullmatch(value)}
        for term in telling & set(terms(word)) if numbers else ():
            found.setdefault(term, set()).update(numbers)
    return found
