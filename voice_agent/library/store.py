"""Documents and passages in the database: written, counted, deleted."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from os import stat_result
from pathlib import Path

from voice_agent.library.passages import Passage, passages
from voice_agent.library.readers import Document, shown
from voice_agent.library.terms import terms


@dataclass(frozen=True)
class Known:
    """What the library knows of a file since it last read it."""

    id: int
    mtime_ns: int
    size: int
    sha: str


def roots(db: sqlite3.Connection) -> list[Path]:
    """Return the added folders and files, parents before what they contain."""
    rows = db.execute("SELECT path FROM folders ORDER BY path")
    return [path_of(row[0]) for row in rows]


def known(db: sqlite3.Connection, root: Path) -> dict[Path, Known]:
    """Return the documents at or below ``root``."""
    rows = db.execute(
        f"SELECT path, id, mtime_ns, size, sha FROM documents WHERE {_BELOW}", _bounds(root)
    )
    return {path_of(path): Known(*rest) for path, *rest in rows}


def totals(db: sqlite3.Connection, root: Path) -> tuple[int, int]:
    """Return how many documents and passages are at or below ``root``."""
    row = db.execute(
        f"SELECT count(*), coalesce(sum(passages), 0) FROM documents WHERE {_BELOW}",
        _bounds(root),
    ).fetchone()
    return row[0], row[1]


def put(db: sqlite3.Connection, document: Document, status: stat_result) -> None:
    """Write ``document`` and its passages in place of what was known of its path."""
    before = db.execute("SELECT id FROM documents WHERE path = ?", (bytes(document.path),))
    delete(db, [document_id for (document_id,) in before.fetchall()])
    found = passages(document)
    cursor = db.execute(
        "INSERT INTO documents (path, shown, title, mtime_ns, size, sha, passages) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            bytes(document.path),
            shown(document.path),
            document.title,
            status.st_mtime_ns,
            status.st_size,
            document.sha,
            len(found),
        ),
    )
    title = _joined(terms(f"{document.title} {shown(Path(document.path.stem))}"))
    for passage in found:
        _put_passage(db, cursor.lastrowid or 0, title, passage)


def touch(db: sqlite3.Connection, document_id: int, status: stat_result) -> None:
    """Note a new time stamp of a file whose content is still the same."""
    db.execute(
        "UPDATE documents SET mtime_ns = ?, size = ? WHERE id = ?",
        (status.st_mtime_ns, status.st_size, document_id),
    )


def delete(db: sqlite3.Connection, document_ids: Iterable[int]) -> None:
    """Delete documents with their passages and terms."""
    for key in [(document_id,) for document_id in document_ids]:
        passage_ids = db.execute("SELECT id FROM passages WHERE document = ?", key).fetchall()
        db.executemany("DELETE FROM terms WHERE rowid = ?", passage_ids)
        db.execute("DELETE FROM passages WHERE document = ?", key)
        db.execute("DELETE FROM documents WHERE id = ?", key)


def path_of(stored: bytes) -> Path:
    """Return a stored path; bytes that are not UTF-8 survive as Python's surrogate escapes."""
    return Path(stored.decode("utf-8", errors="surrogateescape"))


def is_below(path: Path, root: Path) -> bool:
    """Whether ``path`` is ``root`` or in it."""
    return path == root or root in path.parents


_BELOW = "path = ? OR (path > ? AND path < ?)"


def _bounds(root: Path) -> tuple[bytes, bytes, bytes]:
    folder = bytes(root).rstrip(b"/")
    return bytes(root), folder + b"/", folder + b"0"  # 0 is the character after /


def _put_passage(db: sqlite3.Connection, document_id: int, title: str, passage: Passage) -> None:
    cursor = db.execute(
        "INSERT INTO passages (document, ordinal, heading, lead, text, line, last_line) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            document_id,
            passage.ordinal,
            "\n".join(passage.heading),
            passage.lead,
            passage.text,
            passage.line,
            passage.last_line,
        ),
    )
    heading = _joined(terms(" ".join(passage.heading)))
    body = _joined(terms(passage.full_text))
    db.execute(
        "INSERT INTO terms (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
        (cursor.lastrowid, title, heading, body),
    )


def _joined(found: list[str]) -> str:
    return " ".join(found)
