"""Whether an answer is right: a pure rule on its text, strict about the fact asked for.

An answerable question is answered right when of every group in ``accept`` one form stands in the
answer as whole words, no form in ``contradict`` does, and the answer does not also say in the
program's own words that nothing was found. An unanswerable one is answered right when the answer
says that this was not found or is not stated, and states no fact in its place. Text that is no
answer (the excerpt after a fallback, the list of what was looked for) is not judged.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from voice_agent.bench.folding import fold, stands
from voice_agent.bench.questions import Question
from voice_agent.phrases import LANGUAGES, Phrase, phrase


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and why it is not ("" if it is)."""

    right: bool
    why: str = ""


Rule = Callable[[Question, str], Verdict]
"""Judges the text of an answer to a question."""

_NOT_SAID = (
    r"\bnot (?:\w+ ){0,2}(?:mentioned|stated|specified|given|provided|listed|included|recorded"
    r"|indicated|available|known|found|named|noted|described|documented|disclosed|contained)\b",
    r"\bnot (?:directly |explicitly )?in (?:the|your|these|those|any)\b.*"
    r"\b(?:documents?|passages?|texts?|files?|notes?)\b",
    r"\b(?:do|does|did) not (?:\w+ )?(?:say|state|mention|specify|give|provide|name|list|include"
    r"|contain|indicate|tell|record|describe|reveal|know|answer|show|find)\b",
    r"\bnot have (?:\w+ ){0,3}(?:information|details?|data|answer)\b",
    r"\b(?:could|can|am|was|were) (?:\w+ )?not (?:able to )?(?:find|determine|answer|tell|locate"
    r"|say)\b",
    r"\bunable to (?:find|determine|answer|locate|say)\b",
    r"\bno (?:\w+ ){0,2}(?:information|mention|details?|record|data|reference|indication"
    r"|answer)\b",
    r"\bno (?:\w+ ){1,5}(?:listed|given|stated|mentioned|specified|recorded|found|provided)\b",
    r"\b(?:nothing|none) (?:\w+ ){0,3}(?:about|says?|said|found|mentions?|states?)\b",
    r"\bfound nothing\b",
    r"\b(?:unknown|unspecified|unstated)\b",
)
_NOT_FOUND = re.compile("|".join(_NOT_SAID))
_SAYS_ONLY = re.compile(r"\b(?:say|give|state|mention|name|list)s? only\b.*\bnot\b")

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE = re.compile(r"[;:,](?!\d)\s*|\b(?:but|however|although|though|and|while|yet|so)\b")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NUMBER_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven"
    r"|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|half"
    r"|first|second|third|fourth|fifth|daily|weekly|monthly|yearly)\b"
)
_DAY = re.compile(
    r"\b(?:january|february|april|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b"
)
_COLOUR = re.compile(
    r"\b(?:black|white|gr[ea]y|silver|red|dark|blue|green|yellow|orange|brown|purple|beige)\b"
)
_FACTS = (_NUMBER, _NUMBER_WORDS, _DAY, _COLOUR)
_WORD = re.compile(r"[^\W\d_][\w'-]*")
_NO_NAMES = frozenset({"i", "i'm", "i've", "i'd", "i'll"})


def judge(question: Question, answer_text: str) -> Verdict:
    """Judge ``answer_text`` as an answer to ``question``."""
    answer = answer_alone(answer_text)
    if not answer:
        return Verdict(False, "no answer")
    if not question.answerable:
        return judge_declined(question, answer_text)
    text = fold(answer)
    for form in question.contradict:
        if stands(fold(form), text):
            return Verdict(False, f"says {form!r}")
    for group in question.accept:
        if not any(stands(fold(form), text) for form in group):
            return Verdict(False, "not found" if declines(answer) else f"lacks {group[0]!r}")
    return Verdict(False, "not found") if says_nothing_found(text) else Verdict(True)


def judge_declined(question: Question, answer_text: str) -> Verdict:
    """Right is an honest "not found" that states no fact in its place."""
    answer = answer_alone(answer_text)
    if not declines(answer):
        return Verdict(False, "does not say that this was not found")
    fact = next(_facts(answer, question.text), "")
    return Verdict(False, f"says {fact!r}") if fact else Verdict(True)


def declines(answer: str) -> bool:
    """Whether ``answer`` says that something was not found or is not stated."""
    return any(
        _says_not_found(clause) or _SAYS_ONLY.search(_negations(fold(sentence)))
        for sentence in _SENTENCE.split(answer)
        for clause in _CLAUSE.split(sentence)
    )


def answer_alone(text: str) -> str:
    """Return the answer without the fallback's excerpt and the list of what was looked for."""
    for language in LANGUAGES:
        text = text.partition(phrase("excerpt", language))[0]
        looked_for, _, end = phrase("looked_for", language, queries="\0").partition("\0")
        text = re.sub(rf"{re.escape(looked_for)}[“\"].*{re.escape(end)}", "", text)
    return text.strip()


def says_nothing_found(folded: str) -> bool:
    """Whether one of the program's own sentences for "not found" stands in the folded text."""
    names: tuple[Phrase, ...] = ("not_in_documents", "nothing_found")
    own = [fold(phrase(name, language)).rstrip(".") for name in names for language in LANGUAGES]
    return any(sentence in folded for sentence in own)


def _says_not_found(clause: str) -> bool:
    folded = fold(clause)
    return _NOT_FOUND.search(_negations(folded)) is not None or says_nothing_found(folded)


def _negations(folded: str) -> str:
    """Return the text with its short negations written out."""
    written = re.sub(r"\b(?:can't|cannot)\b", "can not", folded)
    return re.sub(r"n't\b", " not", written)


def _facts(answer: str, question: str) -> Iterator[str]:
    """Yield what looks like an answer: outside the clauses that decline, and not in the question.

    Numbers, days, months, colours, and words with a capital inside a sentence, which are names.
    """
    known = set(re.findall(r"[^\W_]+", fold(question)))
    for sentence in _SENTENCE.split(answer):
        for n, clause in enumerate(_CLAUSE.split(sentence)):
            if _says_not_found(clause):
                continue
            yield from _values(fold(clause), known)
            yield from _names(clause, known, begins_sentence=n == 0)


def _values(clause: str, known: set[str]) -> Iterator[str]:
    for pattern in _FACTS:
        yield from (found for found in pattern.findall(clause) if found not in known)


def _names(clause: str, known: set[str], *, begins_sentence: bool) -> Iterator[str]:
    words = _WORD.findall(clause.translate({0x2019: "'"}))
    for word in words[1:] if begins_sentence else words:
        plain = word.casefold().removesuffix("'s")
        if word[0].isupper() and plain not in known | _NO_NAMES:
            yield word
