"""The library's database: how it is laid out, opened and brought up to date.

``passages`` holds the text once; ``terms`` is the full-text index over the normal forms that
`voice_agent.library.terms` makes of it (so its own tokenizer only divides at spaces), with
``vocabulary`` as the view that counts them. Paths are stored as bytes: a file name need not be
valid text; ``shown`` is the form that can be printed.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from voice_agent.errors import LibraryError
from voice_agent.places import DATA_VARIABLE, how_to_write, private_file

APPLICATION_ID = 0x564C4942  # "VLIB"
BUSY_TIMEOUT_S = 30.0

MIGRATIONS = (
    """
    CREATE TABLE folders (path BLOB PRIMARY KEY);
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        path BLOB NOT NULL UNIQUE,
        shown TEXT NOT NULL,
        title TEXT NOT NULL,
        mtime_ns INTEGER NOT NULL,
        size INTEGER NOT NULL,
        sha TEXT NOT NULL,
        passages INTEGER NOT NULL
    );
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        document INTEGER NOT NULL REFERENCES documents (id),
        ordinal INTEGER NOT NULL,
        heading TEXT NOT NULL,  -- one heading a line, the highest first
        lead TEXT NOT NULL,
        text TEXT NOT NULL,
        line INTEGER NOT NULL,
        last_line INTEGER NOT NULL,
        UNIQUE (document, ordinal)
    );
    CREATE VIRTUAL TABLE terms USING fts5(title, heading, body, tokenize="ascii tokenchars '.:'");
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, row);
    """,
)
"""Applied once each, in order; the database's user_version counts those it has had."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the database at ``path``, made (0600) if missing, at the newest schema.

    Raises LibraryError where that cannot be done.
    """
    with translated(path):
        private_file(path)
        db = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as unless_ready:
            unless_ready.callback(db.close)
            _prepare(db, path)
            unless_ready.pop_all()
    return db


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite and the file system say about the database into LibraryError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise LibraryError(
            f"The library {path} cannot be used: {error}.", mend=_mend(str(error), path), file=path
        ) from error
    except sqlite3.DatabaseError as error:
        raise _broken(f"is damaged ({error})", path) from error
    except OSError as error:
        raise LibraryError(
            f"The library {path} cannot be opened: {error.strerror}.",
            mend=how_to_write(path, DATA_VARIABLE, error),
            file=path,
        ) from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done inside, or nothing of it."""
    with db:  # rolls back on an interrupt too
        db.execute("BEGIN IMMEDIATE")
        yield


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION_ID:
        raise _broken("is another program's database", path)
    if version > len(MIGRATIONS):
        raise LibraryError(
            f"The library {path} was written by a newer version of this program.",
            mend="Update the program, or move the file away and add your folders again.",
            file=path,
        )
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    if version < len(MIGRATIONS):
        _migrate(db)


def _migrate(db: sqlite3.Connection) -> None:
    with transaction(db):  # another process may have been here first: read the version inside
        (version,) = db.execute("PRAGMA user_version").fetchone()
        for script in MIGRATIONS[version:]:
            for statement in script.split(";\n"):
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _broken(what: str, path: Path) -> LibraryError:
    return LibraryError(
        f"The library {path} {what}.",
        mend=f"Your documents are untouched. Move it away (mv '{path}' '{path}.broken') and add "
        "your folders again with 'voice-agent library add FOLDER'.",
        file=path,
    )


def _mend(said: str, path: Path) -> str:
    if "locked" in said:
        return "Another 'voice-agent library' command is writing to it; try again when it is done."
    if "full" in said:
        return "Make room on the disk and try again; what was read so far is kept."
    return how_to_write(path, DATA_VARIABLE)
