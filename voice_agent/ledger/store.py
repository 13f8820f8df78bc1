"""Keeps every turn, step by step, on disk.

Each call is one transaction of its own, so that a killed program loses at most the step that it
was writing. A ledger belongs to the thread that opened it; other processes may have it open too.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from voice_agent.errors import LedgerError
from voice_agent.events import (
    Answer,
    Cancelled,
    Error,
    Event,
    Timings,
    Transcript,
    name_of,
    to_json,
)
from voice_agent.ledger.database import open_database, readable_errors
from voice_agent.ledger.records import COLUMNS, Conversation, Kind, Step, Turn, step_from, turn_from
from voice_agent.ledger.writer import is_running, this_process

Clock = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


class Ledger:
    """The record of turns; a context manager that closes its file.

    Every method raises LedgerError when the file cannot be read or written. A turn that was
    deleted while it ran stays deleted: what is still written to it is dropped.
    """

    def __init__(self, db: sqlite3.Connection, path: Path, clock: Clock = _now) -> None:
        self._db = db
        self._path = path
        self._clock = clock
        self._writer = this_process()

    @classmethod
    def open(cls, path: Path, clock: Clock = _now) -> "Ledger":
        """Open the ledger at ``path``, created where it is missing."""
        return cls(open_database(path), path, clock)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a closed ledger can do nothing more."""
        self._db.close()

    def begin_conversation(self) -> int:
        """Record that a conversation begins and return its id."""
        with self._transaction():
            sql = "INSERT INTO conversations (started_at) VALUES (?)"
            conversation = self._db.execute(sql, (self._moment(),)).lastrowid
        assert conversation is not None
        return conversation

    def begin_turn(
        self, question: str, *, kind: Kind, language: str, conversation: int | None = None
    ) -> int:
        """Record that a turn begins and return its id; without a conversation one begins too.

        A spoken question may still be empty: its first `Transcript` step brings it; what is said
        later answers questions of the assistant. A conversation that was deleted meanwhile begins
        anew under its old id.
        """
        at = self._moment()
        if conversation is None:
            conversation = self.begin_conversation()
        with self._transaction():
            sql = "INSERT OR IGNORE INTO conversations (id, started_at) VALUES (?, ?)"
            self._db.execute(sql, (conversation, at))
            turn = self._db.execute(
                "INSERT INTO turns (conversation_id, kind, question, language, started_at, state, "
                "writer) VALUES (?, ?, ?, ?, ?, 'open', ?)",
                (conversation, kind, _clean(question), language, at, self._writer),
            ).lastrowid
        assert turn is not None
        return turn

    def step(self, turn: int, event: Event) -> None:
        """Add ``event`` to a turn's steps, under its own name and with its fields.

        Each step waits for the disk: record sentences, not every piece of text.
        """
        with self._transaction():
            self._add_step(turn, event)
            if isinstance(event, Transcript):
                sql = "UPDATE turns SET question = ?, language = ? WHERE id = ? AND question = ''"
                self._db.execute(sql, (_clean(event.text), event.language, turn))

    def end_turn(
        self,
        turn: int,
        event: Answer | Cancelled | Error,
        *,
        streamed: str = "",
        timings: Timings | None = None,
    ) -> None:
        """Record how a turn ended; raises LedgerError if it had ended before.

        ``streamed`` is what there was of an answer that did not come to its end, ``timings`` when.
        """
        columns = {"text": _clean(streamed) or None, "ended_at": self._moment()} | _ending(event)
        if timings is not None and "timings" not in columns:
            columns["timings"] = _json(asdict(timings))
        assigned = ", ".join(f"{name} = coalesce(:{name}, {name})" for name in columns)
        with self._transaction():
            state = self._value("SELECT state FROM turns WHERE id = ?", turn)
            if state not in (None, "open"):
                raise LedgerError(f"Turn {turn} has ended before: it is {state}.")
            self._add_step(turn, event)
            self._db.execute(f"UPDATE turns SET {assigned} WHERE id = :id", columns | {"id": turn})

    def heard(self, turn: int, text: str) -> None:
        """Record which part of a turn's answer was really heard, also after its end."""
        with self._transaction():
            sql = "UPDATE turns SET heard_text = ? WHERE id = ?"
            self._db.execute(sql, (_clean(text), turn))

    def turns(self, limit: int = 20, *, conversation: int | None = None) -> list[Turn]:
        """Return the last ``limit`` turns, newest last, without their steps."""
        with readable_errors(self._path):
            rows = self._db.execute(
                f"SELECT {COLUMNS}, writer FROM turns WHERE ?1 IS NULL OR conversation_id = ?1 "
                "ORDER BY id DESC LIMIT ?2",
                (conversation, limit),
            ).fetchall()
        return [turn_from(row, interrupted=_interrupted(row)) for row in reversed(rows)]

    def conversations(self, limit: int = 20) -> list[Conversation]:
        """Return the last ``limit`` conversations with turns, newest last."""
        with readable_errors(self._path):
            rows = self._db.execute(
                "SELECT c.id, c.started_at, count(*) AS turns, "
                "coalesce((SELECT question FROM turns AS first WHERE conversation_id = c.id "
                "AND question != '' ORDER BY id LIMIT 1), '') AS question "
                "FROM conversations AS c JOIN turns ON turns.conversation_id = c.id "
                "GROUP BY c.id ORDER BY c.id DESC LIMIT ?",
                (limit,),
            ).fetchall()
        return [Conversation(**dict(row)) for row in reversed(rows)]

    def turn(self, turn: int) -> Turn:
        """Return one turn with its steps; raises LedgerError if there is none."""
        with readable_errors(self._path):
            sql = f"SELECT {COLUMNS}, writer FROM turns WHERE id = ?"
            row = self._db.execute(sql, (turn,)).fetchone()
        if row is None:
            raise self._no_turn(turn)
        return turn_from(row, interrupted=_interrupted(row), steps=self._steps(turn))

    def existing(self, turns: Sequence[int]) -> set[int]:
        """Return those of ``turns`` that are there."""
        sql = "SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(?))"
        with readable_errors(self._path):
            return {row["id"] for row in self._db.execute(sql, (json.dumps(list(turns)),))}

    def in_doubt(self, tool: str) -> dict[str, Any] | None:
        """Return the arguments of the last write of ``tool``, if nobody knows what came of it.

        So it is when the program ended, or was killed, before the outcome was recorded.
        """
        with readable_errors(self._path):
            row = self._db.execute(
                "SELECT turn_id, data FROM steps "
                "WHERE kind = 'write_begun' AND json_extract(data, '$.name') = ? "
                "ORDER BY turn_id DESC, n DESC LIMIT 1",
                (tool,),
            ).fetchone()
            if row is None:
                return None
            begun = json.loads(row["data"])
            outcome = self._value(
                "SELECT json_extract(data, '$.status') FROM steps WHERE turn_id = ? "
                "AND kind = 'tool_result' AND json_extract(data, '$.id') = ?",
                row["turn_id"],
                begun["id"],
            )
        return dict(begun["arguments"]) if outcome in (None, "unknown") else None

    def delete(self, turn: int) -> None:
        """Delete a turn with all its text; raises LedgerError if there is none."""
        with self._transaction():
            found = self._db.execute("DELETE FROM turns WHERE id = ?", (turn,)).rowcount
            if not found:
                raise self._no_turn(turn)
            self._drop_empty_conversations()
        self._erase()

    def delete_conversation(self, conversation: int) -> int:
        """Delete a conversation with all its text, and return how many turns it had.

        Raises LedgerError if there is none.
        """
        with self._transaction():
            sql = "SELECT count(*) FROM turns WHERE conversation_id = ?"
            count: int = self._value(sql, conversation)
            if not count:
                raise LedgerError(
                    f"There is no conversation {conversation}.",
                    mend="See 'voice-agent history conversations'.",
                )
            self._db.execute("DELETE FROM conversations WHERE id = ?", (conversation,))
        self._erase()
        return count

    def delete_all(self) -> int:
        """Delete every turn with all its text, and return how many there were."""
        with self._transaction():
            count: int = self._value("SELECT count(*) FROM turns")
            self._db.execute("DELETE FROM conversations")
        self._erase()
        return count

    def expire(self, keep_days: int) -> int:
        """Delete turns that began more than ``keep_days`` ago (0: none); return how many."""
        if not keep_days:
            return 0
        before = self._moment(timedelta(days=keep_days))
        with self._transaction():
            sql = "DELETE FROM turns WHERE started_at < ?"
            count = self._db.execute(sql, (before,)).rowcount
            self._drop_empty_conversations()
        if count:
            self._erase()
        return count

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with readable_errors(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _add_step(self, turn: int, event: Event) -> None:
        data = {k: v for k, v in to_json(event).items() if k not in ("event", "turn")}
        self._db.execute(
            "INSERT INTO steps (turn_id, n, kind, at, data) "
            "SELECT id, (SELECT coalesce(max(n), 0) + 1 FROM steps WHERE turn_id = ?1), ?2, ?3, ?4 "
            "FROM turns WHERE id = ?1",
            (turn, name_of(event), self._moment(), _json(data)),
        )

    def _steps(self, turn: int) -> tuple[Step, ...]:
        with readable_errors(self._path):
            sql = "SELECT n, kind, at, data FROM steps WHERE turn_id = ? ORDER BY n"
            return tuple(step_from(row) for row in self._db.execute(sql, (turn,)))

    def _drop_empty_conversations(self) -> None:
        self._db.execute(
            "DELETE FROM conversations WHERE id NOT IN (SELECT conversation_id FROM turns)"
        )

    def _erase(self) -> None:
        """Leave nothing of deleted text in the file: rebuild it, and empty the log beside it."""
        try:
            self._db.execute("VACUUM")
            busy = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.Error as error:
            raise self._traces(str(error)) from error
        if busy:
            raise self._traces("another program is reading it")

    def _traces(self, reason: str) -> LedgerError:
        return LedgerError(
            f"It is deleted, but traces of it remain in {self._path}: {reason}.",
            mend="They go when no program uses the ledger any more, or with the next deletion.",
            file=self._path,
        )

    def _no_turn(self, turn: int) -> LedgerError:
        return LedgerError(f"There is no turn {turn}.", mend="See 'voice-agent history'.")

    def _value(self, sql: str, *values: object) -> Any:
        row = self._db.execute(sql, values).fetchone()
        return None if row is None else row[0]

    def _moment(self, earlier: timedelta = timedelta()) -> str:
        return (self._clock() - earlier).astimezone(UTC).isoformat(timespec="milliseconds")


def _interrupted(row: sqlite3.Row) -> bool:
    return row["state"] == "open" and not is_running(row["writer"])


def _ending(event: Answer | Cancelled | Error) -> dict[str, object]:
    """Return the columns that say how a turn ended."""
    if isinstance(event, Cancelled):
        heard = _clean(event.heard_text) or None
        return {"state": "cancelled", "reason": event.cause, "heard_text": heard}
    if isinstance(event, Error):
        message = _clean(f"{event.message} {event.mend}".strip())
        return {"state": "failed", "error_stage": event.stage, "error_message": message}
    plain = to_json(event)
    same = ("basis", "reason", "rounds", "charged_tokens", "answer_tokens")
    return {name: plain[name] for name in same} | {
        "state": "answered",
        "text": _clean(event.text),
        "spoken": _clean(event.spoken),
        "sources": _json(plain["sources"]),
        "timings": _json(plain["timings"]),
    }


def _json(value: object) -> str:
    return _clean(json.dumps(value, ensure_ascii=False))


def _clean(text: str) -> str:
    """Return ``text`` without lone surrogates (file names that are not UTF-8), SQLite refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")
