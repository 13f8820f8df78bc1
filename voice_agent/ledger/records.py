"""What the ledger gives back: turns and their steps."""

import json
import sqlite3
from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["typed", "spoken"]
State = Literal["open", "answered", "cancelled", "failed", "interrupted"]


@dataclass(frozen=True)
class Step:
    """One event of a turn, counted from 1; ``kind`` is the event's name, ``data`` its fields."""

    n: int
    kind: str
    at: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One question and what came of it; times are ISO 8601 in UTC.

    ``interrupted``: the program ended before the turn did. ``reason`` of a cancelled turn is what
    cancelled it. ``steps`` is empty in a list of turns.
    """

    id: int
    conversation: int
    kind: Kind
    question: str
    language: str
    started_at: str
    ended_at: str | None
    state: State
    basis: str | None
    reason: str | None
    text: str | None
    spoken: str | None
    heard_text: str | None
    sources: list[dict[str, Any]]
    timings: dict[str, float | None]
    rounds: int | None
    charged_tokens: int | None
    answer_tokens: int | None
    error_stage: str | None
    error_message: str | None
    steps: tuple[Step, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the turn as an object that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True)
class Conversation:
    """Turns that belong together; ``question`` is the first one that was understood."""

    id: int
    started_at: str
    turns: int
    question: str


COLUMNS = (
    "id, conversation_id AS conversation, kind, question, language, started_at, ended_at, state, "
    "basis, reason, text, spoken, heard_text, sources, timings, rounds, charged_tokens, "
    "answer_tokens, error_stage, error_message"
)
"""The columns of `Turn`, in SQL."""


def turn_from(row: sqlite3.Row, *, interrupted: bool, steps: tuple[Step, ...] = ()) -> Turn:
    """Return the turn of a row with `COLUMNS` (and ``writer``, which stays out)."""
    fields = {name: row[name] for name in row.keys() if name != "writer"}  # noqa: SIM118
    fields["sources"] = json.loads(fields["sources"] or "[]")
    fields["timings"] = json.loads(fields["timings"] or "{}")
    if interrupted:
        fields["state"] = "interrupted"
    return Turn(**fields, steps=steps)


def step_from(row: sqlite3.Row) -> Step:
    """Return the step of a row with n, kind, at and data."""
    return Step(row["n"], row["kind"], row["at"], json.loads(row["data"]))
