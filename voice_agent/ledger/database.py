"""Opens the ledger's SQLite file and says in plain words what is wrong with it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from voice_agent.errors import LedgerError
from voice_agent.ledger.migrations import migrate
from voice_agent.places import DATA_VARIABLE, how_to_write, private_file

BUSY_TIMEOUT_S = 5.0

# FULL: what was written survives a power cut as well. secure_delete and temp_store: deleted text
# is overwritten, and VACUUM leaves no copy of the rest in a temporary file.
PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
)


def open_database(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Open the ledger at ``path`` (0600, folder 0700), created and migrated where needed.

    The connection is in autocommit mode and belongs to the thread that opened it. Raises
    LedgerError; a file that is no ledger is left as it is.
    """
    try:
        private_file(path)
    except OSError as error:
        message = f"The ledger {path} cannot be opened: {error.strerror}."
        raise LedgerError(
            message, mend=how_to_write(path, DATA_VARIABLE, error), file=path
        ) from error
    with readable_errors(path):
        db = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)
        try:
            db.row_factory = sqlite3.Row
            for pragma in PRAGMAS:
                db.execute(pragma)
            migrate(db)
        except BaseException:
            db.close()
            raise
        return db


@contextmanager
def readable_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into LedgerError with what to do about them."""
    try:
        yield
    except LedgerError as error:
        error.file = error.file or str(path)
        raise
    except sqlite3.Error as error:
        message = f"The ledger {path} failed: {error}."
        raise LedgerError(message, mend=_mend(error, path), file=path) from error


def _mend(error: sqlite3.Error, path: Path) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return (
            f"Move it aside, a new one is begun: mv '{path}' '{path}.broken' (and, if they are "
            f"there, '{path.name}-wal' and '{path.name}-shm' with it)."
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "Another program holds it; try again when that has ended."
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return f"Make space on the disk of {path.parent}, or look for a fault of the disk."
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return how_to_write(path, DATA_VARIABLE)
    return "Please report it, with the message above; the ledger was left as it is."
