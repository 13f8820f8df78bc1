"""Which files of a folder are documents.

Hidden files and folders, and folders of installed code, are left out. A link to a file is read,
a link to a folder is not followed, so that no walk can run in circles or out of the folder.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from voice_agent.library.readers import OTHER_DOCUMENTS, SUFFIXES, shown

IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})


@dataclass
class Walk:
    """A walk through ``root``, a folder or one file, in the order of names.

    ``skipped`` fills with what was seen but cannot be read, with the reason; ``unlisted`` with
    folders whose content could not be seen.
    """

    root: Path
    skipped: list[tuple[str, str]] = field(default_factory=list)
    unlisted: list[Path] = field(default_factory=list)

    def files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield each document's file and its status."""
        if not self.root.is_dir():
            yield from self._file(self.root)
            return
        for folder, folders, names in os.walk(self.root, onerror=self._unlisted):
            folders[:] = sorted(name for name in folders if not _ignored(name))
            for path in (Path(folder, name) for name in sorted(names)):
                if self._wanted(path):
                    yield from self._file(path)

    def _wanted(self, path: Path) -> bool:
        suffix = path.suffix.lower()
        if path.name.startswith("."):
            return False
        if suffix in OTHER_DOCUMENTS:
            self.skipped.append((shown(path), f"{suffix} files cannot be read yet"))
        return suffix in SUFFIXES

    def _file(self, path: Path) -> Iterator[tuple[Path, os.stat_result]]:
        try:
            status = path.stat()
        except OSError as error:
            self.skipped.append((shown(path), reason(error)))
            return
        if stat.S_ISREG(status.st_mode):
            yield path, status
        else:
            self.skipped.append((shown(path), "not an ordinary file"))

    def _unlisted(self, error: OSError) -> None:
        folder = Path(error.filename)
        self.unlisted.append(folder)
        self.skipped.append((shown(folder), reason(error)))


def reason(error: OSError) -> str:
    """Say an operating system's error in a few words."""
    return (error.strerror or type(error).__name__).lower()


def _ignored(name: str) -> bool:
    return name.startswith(".") or name in IGNORED_FOLDERS
