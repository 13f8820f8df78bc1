"""Keeps what a model has processed of the beginnings of requests, from one start to the next."""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from voice_agent.places import private_file, private_folder

log = logging.getLogger(__name__)

_MOST = 8


class Prefixes:
    """The kept beginnings in ``folder`` (0700, files 0600), of which the newest eight stay.

    Each has its sha256 beside it: llama.cpp aborts on a damaged one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, model: str, tokens: Sequence[int]) -> Path:
        """Return where the beginning ``tokens`` is kept for the model with this fingerprint."""
        key = json.dumps([model, list(tokens)]).encode()
        return self._folder / f"{hashlib.sha256(key).hexdigest()[:32]}.prefix"

    def whole(self, file: Path) -> bool:
        """Whether ``file`` is there as it was written."""
        try:
            return _sha256(file) == _digest_file(file).read_text()
        except OSError:
            return False

    def keep(self, file: Path, save: Callable[[Path], None]) -> None:
        """Let ``save`` write ``file``; where the disk does not allow it, only speed is lost."""
        new = file.with_suffix(f".{os.getpid()}.new")
        try:
            private_folder(self._folder)
            self._make_room()
            save(private_file(new))
            digest = _sha256(new)
            with new.open("rb+") as saved:
                os.fsync(saved.fileno())
            private_file(_digest_file(file)).write_text(digest)
            new.replace(file)
        except OSError as error:
            log.warning("The processed system prompt could not be kept: %s", error)
            new.unlink(missing_ok=True)

    def _make_room(self) -> None:
        kept = sorted(self._folder.glob("*.prefix"), key=lambda file: file.stat().st_mtime)
        for old in kept[: 1 - _MOST]:
            old.unlink(missing_ok=True)
            _digest_file(old).unlink(missing_ok=True)


def _digest_file(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _sha256(file: Path) -> str:
    with file.open("rb") as kept:
        return hashlib.file_digest(kept, "sha256").hexdigest()
