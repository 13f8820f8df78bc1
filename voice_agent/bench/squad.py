"""Questions of the SQuAD family, and the rule for answers to them.

Rajpurkar and others 2016 (SQuAD), Artetxe and others 2020 (XQuAD). An answer is right when the
gold answer stands in it as whole words, both normalised as in the official evaluation: lower
case, without punctuation and articles; besides, a number may be written in words or in digits.
"""

import json
import random
import re
import string
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from voice_agent.bench.folding import fold
from voice_agent.bench.judge import Verdict, answer_alone, declines, says_nothing_found
from voice_agent.bench.questions import UNANSWERABLE, Question
from voice_agent.errors import UsageError

_MARKS = {ord(mark): None for mark in string.punctuation + "‘’“”–—…"}
_ARTICLES = frozenset({"a", "an", "the"})
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: n for n, word in enumerate(_ONES)} | {
    word: 10 * n for n, word in enumerate(_TENS, 2)
}

Paragraph = tuple[str, str]
"""A title and a text."""


def load_xquad(file: Path) -> tuple[list[Paragraph], list[Question]]:
    """Return the paragraphs and the questions of an XQuAD or SQuAD file (JSON).

    Raises UsageError.
    """
    try:
        articles = json.loads(text_of(file))["data"]
        paragraphs = [
            (str(article["title"]).replace("_", " "), paragraph)
            for article in articles
            for paragraph in article["paragraphs"]
        ]
        questions = [_question(row) for _, paragraph in paragraphs for row in paragraph["qas"]]
        return [(title, paragraph["context"]) for title, paragraph in paragraphs], questions
    except (ValueError, KeyError, TypeError) as error:
        raise bad_form(file, error) from error


def load_unanswerable(file: Path) -> tuple[list[Paragraph], list[Question]]:
    """Return paragraphs and questions that they do not answer, from JSON lines.

    Each line has ``title``, ``paragraph`` and ``question``. Raises UsageError.
    """
    try:
        rows = [json.loads(line) for line in text_of(file).split("\n") if line.strip()]
        paragraphs = dict.fromkeys(
            (row["title"].replace("_", " "), row["paragraph"]) for row in rows
        )
        questions = [
            Question(id=f"u{n:03}", text=row["question"], kind=UNANSWERABLE)
            for n, row in enumerate(rows, 1)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise bad_form(file, error) from error
    return list(paragraphs), questions


def drawn(questions: Sequence[Question], count: int, seed: int) -> list[Question]:
    """Return ``count`` of the questions, drawn at random: the same ones for the same seed."""
    return random.Random(seed).sample(questions, min(count, len(questions)))


def write_library(paragraphs: Iterable[Paragraph], folder: Path) -> None:
    """Write each paragraph as a Markdown file of its own into ``folder``."""
    for n, (title, text) in enumerate(paragraphs, 1):
        (folder / f"{n:03}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")


def judge_gold(question: Question, answer_text: str) -> Verdict:
    """Right is an answer in which the gold answer stands as whole words.

    As with the shipped questions, excerpts and what was looked for are no answers, nor is the
    program's own "not found".
    """
    text = answer_alone(answer_text)
    if says_nothing_found(fold(text)):
        return Verdict(False, "not found")
    answer = normalised(text)
    for gold in question.accept[0]:
        wanted = normalised(gold)
        if _contains(answer, wanted) or _contains(in_digits(answer), in_digits(wanted)):
            return Verdict(True)
    why = "not found" if declines(text) else f"lacks {question.accept[0][0]!r}"
    return Verdict(False, why)


def normalised(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, without punctuation and articles."""
    words = re.sub(r"[-–—](?=\w)", " ", text.casefold()).translate(_MARKS).split()
    return [word for word in words if word not in _ARTICLES]


def in_digits(words: Sequence[str]) -> list[str]:
    """Return ``words`` with the numbers up to 99 that are words in digits ("twenty one": 21)."""
    found: list[str] = []
    tens = 0
    for word in words:
        value = _VALUES.get(word)
        if tens and value is not None and 0 < value < 10:
            found[-1] = str(tens + value)
        else:
            found.append(word if value is None else str(value))
        tens = value if value is not None and value >= 20 else 0
    return found


def _contains(words: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return any(list(words[at : at + size]) == list(wanted) for at in range(len(words) - size + 1))


def _question(row: dict[str, Any]) -> Question:
    golds = tuple(dict.fromkeys(answer["text"] for answer in row["answers"]))
    if not all(normalised(gold) for gold in golds) or not golds:
        raise ValueError(f"question {row['id']} has an empty answer")
    return Question(id=row["id"], text=row["question"].strip(), accept=(golds,))


def text_of(file: Path) -> str:
    """Return the text of ``file``; raises UsageError where it cannot be read."""
    try:
        return file.read_text("utf-8")
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read: {(error.strerror or str(error)).lower()}.",
            mend="benchmarks/README.md says what --data must hold and where it comes from.",
            file=file,
        ) from error


def bad_form(file: Path, error: Exception) -> UsageError:
    """Return what to raise where ``file`` does not hold what it should."""
    return UsageError(
        f"{file} is not in the expected form: {type(error).__name__}: {error}.",
        mend="benchmarks/README.md says what --data must hold and where it comes from.",
        file=file,
    )
