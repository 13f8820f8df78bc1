"""The ledger's schema as a list of changes, each applied once and recorded.

A change that has been released is never edited: append another one.
"""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from voice_agent.errors import LedgerError

Migration = Callable[[sqlite3.Connection], None]


def m001_turns(db: sqlite3.Connection) -> None:
    """Conversations, their turns, and every step of a turn.

    AUTOINCREMENT: the id of a deleted turn never comes back, so that a late step of it can not
    be written to another one. ``writer`` names the process that runs the turn.
    """
    db.execute(
        """
        CREATE TABLE conversations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            started_at TEXT NOT NULL
        )
        """
    )
    db.execute(
        """
        CREATE TABLE turns (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation_id INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
            kind TEXT NOT NULL CHECK (kind IN ('typed', 'spoken')),
            question TEXT NOT NULL,
            language TEXT NOT NULL,
            started_at TEXT NOT NULL,
            ended_at TEXT,
            state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'cancelled', 'failed')),
            writer TEXT NOT NULL,
            basis TEXT, reason TEXT, text TEXT, spoken TEXT, heard_text TEXT,
            sources TEXT, timings TEXT,
            rounds INTEGER, charged_tokens INTEGER, answer_tokens INTEGER,
            error_stage TEXT, error_message TEXT
        )
        """
    )
    db.execute("CREATE INDEX turns_of_conversation ON turns(conversation_id, id)")
    db.execute(
        """
        CREATE TABLE steps (
            turn_id INTEGER NOT NULL REFERENCES turns(id) ON DELETE CASCADE,
            n INTEGER NOT NULL,
            kind TEXT NOT NULL,
            at TEXT NOT NULL,
            data TEXT NOT NULL,
            PRIMARY KEY (turn_id, n)
        ) WITHOUT ROWID
        """
    )


MIGRATIONS: tuple[Migration, ...] = (m001_turns,)


def migrate(db: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring ``db``, a connection in autocommit mode, up to date: all of it or nothing.

    Raises LedgerError when a newer program has been here, sqlite3.Error when a change fails.
    """
    db.execute("BEGIN IMMEDIATE")  # two programs that start at once wait for each other here
    try:
        db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT)")
        applied = {name for (name,) in db.execute("SELECT name FROM migrations")}
        _refuse_newer(applied - {m.__name__ for m in migrations})
        for migration in migrations:
            if migration.__name__ not in applied:
                migration(db)
                moment = datetime.now(UTC).isoformat(timespec="milliseconds")
                db.execute("INSERT INTO migrations VALUES (?, ?)", (migration.__name__, moment))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _refuse_newer(unknown: set[str]) -> None:
    if unknown:
        changes = ", ".join(sorted(unknown))
        raise LedgerError(
            f"The ledger was written by a newer voice-agent (with the changes {changes}).",
            mend="Run that version, or update this one; nothing was changed.",
        )
