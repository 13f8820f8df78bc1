"""Where things live on disk (XDG Base Directory Specification 0.8), all private to the user."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

NAME = "voice-agent"
FOLDER_MODE = 0o700
FILE_MODE = 0o600
CONFIG_VARIABLE = "XDG_CONFIG_HOME"
DATA_VARIABLE = "XDG_DATA_HOME"
CACHE_VARIABLE = "XDG_CACHE_HOME"


@dataclass(frozen=True)
class Places:
    """The program's folders and the files in them; nothing is created by naming it."""

    config: Path
    data: Path
    cache: Path
    runtime: Path
    models: Path

    @property
    def config_file(self) -> Path:
        """The settings."""
        return self.config / "config.toml"

    @property
    def ledger(self) -> Path:
        """The record of turns."""
        return self.data / "ledger.sqlite3"

    @property
    def recordings(self) -> Path:
        """What was asked, as sound, where the user wants it kept."""
        return self.data / "recordings"

    @property
    def library(self) -> Path:
        """The index of the user's documents."""
        return self.data / "library.sqlite3"

    @property
    def control_socket(self) -> Path:
        """The socket of the running service."""
        return self.runtime / "control.sock"


def places(env: Mapping[str, str] = os.environ) -> Places:
    """Return the places that ``env`` gives; unset, empty and relative paths mean the default."""
    home = Path(env.get("HOME") or Path.home())
    data = _base(env, DATA_VARIABLE, home / ".local" / "share") / NAME
    cache = _base(env, CACHE_VARIABLE, home / ".cache") / NAME
    return Places(
        config=_base(env, CONFIG_VARIABLE, home / ".config") / NAME,
        data=data,
        cache=cache,
        runtime=_base(env, "XDG_RUNTIME_DIR", cache / "run") / NAME,
        models=checkout_models() or data / "models",
    )


def checkout_models() -> Path | None:
    """Return the ``models`` folder of the checkout that this program runs from, if it does."""
    return _in_checkout("models")


def checkout_examples() -> Path | None:
    """Return the ``examples`` folder of the checkout that this program runs from, if it does."""
    return _in_checkout("examples")


def _in_checkout(name: str) -> Path | None:
    checkout = Path(__file__).resolve().parent.parent
    folder = checkout / name
    return folder if folder.is_dir() and (checkout / "pyproject.toml").is_file() else None


def private_folder(folder: Path) -> Path:
    """Create ``folder`` and its parents for the user alone (0700) and return it.

    An existing folder of ours is closed to others; its parents are left as they are.
    Raises OSError if that cannot be done.
    """
    for missing in reversed([p for p in folder.parents if not p.exists()]):
        missing.mkdir(mode=FOLDER_MODE, exist_ok=True)
    folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(FOLDER_MODE)
    return folder


def private_file(file: Path) -> Path:
    """Create ``file`` (0600) and its folder if they are missing, and return it.

    An existing file is closed to others and its content is left alone. Raises OSError.
    """
    private_folder(file.parent)
    file.touch(mode=FILE_MODE, exist_ok=True)
    if file.stat().st_mode & 0o077:
        file.chmod(FILE_MODE)
    return file


def how_to_write(path: Path, variable: str, error: OSError | None = None) -> str:
    """Return what lets ``path``, which could not be written for ``error``, be written.

    ``variable`` is the one that names another place for it.
    """
    place = next(each for each in (path, *path.parents) if os.path.lexists(each))
    if place == path and os.access(path, os.R_OK | os.W_OK):
        place = path.parent  # where SQLite keeps its journal
    elsewhere = f"or name another place: export {variable}=FOLDER"
    if error is not None and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"Make room on the disk of {place}, {elsewhere}"
    if not place.exists():
        return f"It is a link that leads nowhere: ls -l '{place}'"
    if place != path and not place.is_dir():
        return f"Move the file out of the way: mv '{place}' '{place}.aside'"
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return f"{place} is on a disk that can only be read; mount it for writing, {elsewhere}"
    if place.stat().st_uid != os.getuid():
        return f"{place} belongs to another user; let yourself write there, {elsewhere}"
    rights = "u+rwx" if place.is_dir() else "u+rw"
    return f"Let yourself write in {place}: chmod {rights} '{place}', {elsewhere}"


def _base(env: Mapping[str, str], name: str, default: Path) -> Path:
    path = Path(env.get(name) or default)
    return path if path.is_absolute() else default
