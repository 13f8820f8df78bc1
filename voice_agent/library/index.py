"""The library: folders of documents, kept in step with the disk, searched by passage."""

from collections.abc import Iterable
from pathlib import Path
from sqlite3 import Connection
from threading import RLock
from types import TracebackType

from voice_agent.errors import LibraryError
from voice_agent.library import schema, search, store
from voice_agent.library.folders import reason
from voice_agent.library.passages import Passage
from voice_agent.library.readers import MAX_BYTES, shown
from voice_agent.library.records import Folder, Hit, Opened, Report
from voice_agent.library.scan import Progress, Scan


class Library:
    """The user's documents in one SQLite file.

    Every method may be called from any thread; one call runs at a time. Another process, or
    another Library on the same file, may read meanwhile and sees what was committed. All methods
    raise LibraryError, with what to do, where the database or a folder cannot be used.
    """

    def __init__(self, path: Path, db: Connection, max_bytes: int = MAX_BYTES) -> None:
        self._path = path
        self._db = db
        self._max_bytes = max_bytes
        self._lock = RLock()
        self._state = (-1, -1)
        self._idf: dict[str, float] = {}

    @classmethod
    def open(cls, path: Path, *, max_bytes: int = MAX_BYTES) -> "Library":
        """Open the library at ``path``, made private to the user if it is not there yet.

        A document larger than ``max_bytes`` is skipped.
        """
        return cls(path, schema.connect(path), max_bytes)

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> "Library":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def add(self, folder: Path, progress: Progress | None = None) -> Report:
        """Add a folder, or one file, and read what is new or changed in it.

        May be interrupted at any moment: what was committed stays, the next call goes on.
        """
        root = _existing(folder)
        with self._lock, schema.translated(self._path):
            self._db.execute("INSERT OR IGNORE INTO folders (path) VALUES (?)", (bytes(root),))
            return self._read([root], progress)

    def sync(self, progress: Progress | None = None) -> Report:
        """Read all folders again: new and changed files are read, vanished ones removed.

        A folder that is not there, or empty though it had documents, may only be unmounted: its
        documents are kept and the report names it.
        """
        with self._lock, schema.translated(self._path):
            return self._read(store.roots(self._db), progress)

    def remove(self, folder: Path) -> int:
        """Forget a folder and return how many documents went; those of other folders stay."""
        root = folder.expanduser().resolve()
        with self._lock, schema.translated(self._path):
            others = store.roots(self._db)
            if root not in others:
                raise _not_added(root, others)
            others.remove(root)
            gone = [
                document.id
                for path, document in store.known(self._db, root).items()
                if not any(store.is_below(path, other) for other in others)
            ]
            with schema.transaction(self._db):
                self._db.execute("DELETE FROM folders WHERE path = ?", (bytes(root),))
                store.delete(self._db, gone)
            return len(gone)

    def folders(self) -> list[Folder]:
        """Return what was added, by path."""
        with self._lock, schema.translated(self._path):
            return [
                Folder(shown(root), *store.totals(self._db, root), root.exists())
                for root in store.roots(self._db)
            ]

    def search(self, query: str, limit: int = 5) -> list[Hit]:
        """Return at most ``limit`` passages for a question or words, best first.

        ``query`` may hold anything; a query without a single word finds nothing.
        """
        with self._lock, schema.translated(self._path):
            return search.search(self._db, query, limit, self.idf)

    def idf(self, term: str) -> float:
        """Return how rare ``term`` is among the passages, as a positive number.

        ``term`` is a normal form, as `voice_agent.library.terms.terms` gives them; an unknown
        one counts as the rarest.
        """
        with self._lock, schema.translated(self._path):
            (version,) = self._db.execute("PRAGMA data_version").fetchone()
            if self._state != (state := (version, self._db.total_changes)):
                self._state, self._idf = state, {}
            if term not in self._idf:
                count = search.passage_count(self._db)
                occurrences = search.document_frequency(self._db, term)
                self._idf[term] = search.inverse_frequency(count, occurrences)
            return self._idf[term]

    def document(self, name: str) -> Opened:
        """Return the whole document that ``name`` means: a path, its end, or about its title."""
        with self._lock, schema.translated(self._path):
            return search.document(self._db, name)

    def passages(self, name: str) -> list[Passage]:
        """Return the passages of the document that ``name`` means, in order."""
        with self._lock, schema.translated(self._path):
            return search.passages(self._db, name)

    def _read(self, roots: list[Path], progress: Progress | None) -> Report:
        scan = Scan(self._db, self._max_bytes, progress)
        for root in roots:
            scan.read(root)
        return scan.report


def _existing(folder: Path) -> Path:
    try:
        root = folder.expanduser().resolve()
        if root.is_dir():
            next(root.iterdir(), None)
        else:
            root.stat()
    except FileNotFoundError as error:
        raise LibraryError(
            f"There is no folder or file {shown(folder)}.",
            mend="Check the spelling, or mount the drive it is on.",
            file=shown(folder),
        ) from error
    except (OSError, RuntimeError) as error:  # RuntimeError: no such home folder, or a link loop
        said = reason(error) if isinstance(error, OSError) else str(error)
        raise LibraryError(
            f"{shown(folder)} cannot be read: {said}.",
            mend=f"Give yourself the right to read it (chmod u+rX '{shown(folder)}').",
            file=shown(folder),
        ) from error
    return root


def _not_added(root: Path, others: Iterable[Path]) -> LibraryError:
    listed = ", ".join(shown(other) for other in others)
    return LibraryError(
        f"{shown(root)} is not a folder of the library.",
        mend=f"Its folders are: {listed}." if listed else "The library has no folders.",
        file=shown(root),
    )
