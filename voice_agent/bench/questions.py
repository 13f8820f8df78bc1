"""Questions whose answers are known, from a TOML file such as ``examples/questions.toml``."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice_agent.errors import UsageError

UNANSWERABLE = "unanswerable"
"""The kind of a question that the documents do not answer."""


@dataclass(frozen=True)
class Question:
    """A question and what makes an answer to it right (see `voice_agent.bench.judge`).

    ``accept`` holds a group of equivalent forms for every fact that is asked for; ``contradict``
    the forms of tempting wrong ones.
    """

    id: str
    text: str
    kind: str = "fact"
    accept: tuple[tuple[str, ...], ...] = ()
    contradict: tuple[str, ...] = ()

    @property
    def answerable(self) -> bool:
        """Whether the documents answer it."""
        return self.kind != UNANSWERABLE


def examples() -> Path:
    """Return the folder of the shipped documents and questions, which is part of the checkout.

    Raises UsageError where the program was installed without it.
    """
    folder = Path(__file__).resolve().parents[2] / "examples"
    if not (folder / "questions.toml").is_file():
        raise UsageError(
            "The example questions are not part of this installation.",
            mend="Run from a checkout, or give --questions FILE and --documents FOLDER.",
        )
    return folder


def load_questions(file: Path) -> list[Question]:
    """Return the questions of ``file``; raises UsageError that says what is wrong with it."""
    try:
        rows = tomllib.loads(file.read_text("utf-8")).get("question")
    except OSError as error:
        raise _bad(file, f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _bad(file, f"is no TOML file: {error}") from error
    if not isinstance(rows, list) or not rows:
        raise _bad(file, "has no [[question]]")
    questions = [_question(file, n, row) for n, row in enumerate(rows, 1)]
    known: set[str] = set()
    for question in questions:
        if question.id in known:
            raise _bad(file, f"has two questions {question.id!r}")
        known.add(question.id)
    return questions


def chosen(
    questions: Sequence[Question], *, ids: str | None = None, limit: int | None = None
) -> list[Question]:
    """Return the first ``limit`` of the questions named in ``ids`` ("q01,q07"; None: of all).

    Raises UsageError for a name that none of them has.
    """
    by_id = {question.id: question for question in questions}
    names = list(by_id) if ids is None else [name.strip() for name in ids.split(",")]
    if unknown := [name for name in names if name not in by_id]:
        raise UsageError(
            f"There is no question {', '.join(map(repr, unknown))}.",
            mend=f"They are named {questions[0].id!r} to {questions[-1].id!r}.",
        )
    return [by_id[name] for name in dict.fromkeys(names)][:limit]


def _question(file: Path, number: int, row: Any) -> Question:
    try:
        question = Question(
            id=row["id"],
            text=row["text"],
            kind=row["kind"],
            accept=tuple(tuple(group) for group in row["accept"]),
            contradict=tuple(row["contradict"]),
        )
    except (KeyError, TypeError) as error:
        raise _bad(file, f"question {number} lacks or misuses a field: {error}") from error
    forms = [form for group in question.accept for form in group] + list(question.contradict)
    texts = [question.id, question.text, question.kind, *forms]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise _bad(file, f"question {number} has a field that is no text")
    if question.answerable != bool(question.accept) or not all(question.accept):
        raise _bad(
            file, f"question {question.id!r} needs `accept` exactly if it is not {UNANSWERABLE}"
        )
    return question


def _bad(file: Path, what: str) -> UsageError:
    return UsageError(
        f"{file} {what}.", mend="examples/questions.toml shows and explains the form.", file=file
    )
