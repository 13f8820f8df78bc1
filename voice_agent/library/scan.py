"""Brings the library in step with what is on the disk."""

from collections.abc import Callable, Iterator
from itertools import islice
from os import stat_result
from pathlib import Path
from sqlite3 import Connection
from typing import TypeVar

from voice_agent.library import schema, store
from voice_agent.library.folders import Walk, reason
from voice_agent.library.readers import Unsuitable, read, shown
from voice_agent.library.records import Report

BATCH_FILES = 200
"""How many files one transaction holds: what an interrupt can undo."""

Progress = Callable[[int, str], None]
"""Told how many files have been looked at, and the path of the last one."""

T = TypeVar("T")


class Scan:
    """Reads folders into the database ``db``, each file once, and keeps the ``report``."""

    def __init__(self, db: Connection, max_bytes: int, progress: Progress | None) -> None:
        self.report = Report()
        self._db = db
        self._max_bytes = max_bytes
        self._progress = progress
        self._seen: set[Path] = set()

    def read(self, root: Path) -> None:
        """Read what is new or changed at ``root`` and delete what has vanished."""
        known = store.known(self._db, root)
        if known and _seems_unmounted(root):
            self.report.missing.append(shown(root))
            return
        walk = Walk(root)
        for batch in _batches(walk.files(), BATCH_FILES):
            with schema.transaction(self._db):
                for path, status in batch:
                    self._look_at(path, status, known.get(path))
        self._forget_vanished(walk, known)
        # the walk of a folder inside this one sees the same files again
        self.report.skipped = list(dict.fromkeys([*self.report.skipped, *walk.skipped]))

    def _look_at(self, path: Path, status: stat_result, before: store.Known | None) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        if before and (before.mtime_ns, before.size) == (status.st_mtime_ns, status.st_size):
            self.report.unchanged += 1
        else:
            self._read_file(path, status, before)
        if self._progress:
            self._progress(len(self._seen), shown(path))

    def _read_file(self, path: Path, status: stat_result, before: store.Known | None) -> None:
        try:
            document = read(path, self._max_bytes)
        except Unsuitable as unsuitable:
            self.report.skipped.append((shown(path), str(unsuitable)))
            self._delete([before] if before else [])
            return
        except OSError as error:  # perhaps only for now: what was read before stays
            self.report.skipped.append((shown(path), reason(error)))
            return
        if before and before.sha == document.sha:
            store.touch(self._db, before.id, status)
            self.report.unchanged += 1
            return
        store.put(self._db, document, status)
        self.report.added += before is None
        self.report.changed += before is not None

    def _forget_vanished(self, walk: Walk, known: dict[Path, store.Known]) -> None:
        """Delete what the walk would have seen; not what is another added folder's."""
        inner = [root for root in store.roots(self._db) if walk.root in root.parents]
        kept = [*inner, *walk.unlisted]
        gone = [
            document
            for path, document in known.items()
            if path not in self._seen and not any(store.is_below(path, folder) for folder in kept)
        ]
        with schema.transaction(self._db):
            self._delete(gone)

    def _delete(self, gone: list[store.Known]) -> None:
        store.delete(self._db, [document.id for document in gone])
        self.report.removed += len(gone)


def _seems_unmounted(root: Path) -> bool:
    try:
        return not root.exists() or (root.is_dir() and next(root.iterdir(), None) is None)
    except OSError:  # the walk reports it
        return False


def _batches(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch
