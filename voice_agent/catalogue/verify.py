"""Finds out whether a model is on this machine, and is the catalogue's.

A file counts when its sha256 matches. Hashing a gigabyte at each start would take seconds, so a
hash that was once computed is remembered in the model's folder, in ``.verified.json``, for as
long as the file keeps its size and its time of change.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from voice_agent.catalogue.rows import Model, ModelFile
from voice_agent.errors import ModelMismatch, ModelMissing
from voice_agent.places import places

State = Literal["present", "missing", "mismatch"]
Stamp = list[int | str]

STAMPS = ".verified.json"
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Finding:
    """What was found of one file; ``detail`` says it in words."""

    path: Path
    state: State
    detail: str = ""


def locate(model: Model, models: Path) -> Path:
    """Return the folder that holds the model's files, once each is known to be the catalogue's.

    For a model that ships in a library, return its file there. ``models`` is the folder of all
    models. Raises `ModelMissing` or `ModelMismatch`, with the command that mends it.
    """
    return require(model, models, examine(model, models))


def locate_weights(model: Model, models: Path) -> Path:
    """Like `locate`, but return the file that holds the weights, for a model that has files."""
    locate(model, models)
    return model.weights(models)


def verify(model: Model, models: Path) -> Path:
    """Like `locate`, but read and hash every file again."""
    return require(model, models, examine(model, models, full=True))


def examine(model: Model, models: Path, *, full: bool = False) -> list[Finding]:
    """Look at each file of the model; ``full`` hashes also what was hashed before."""
    if model.ships_in:
        return [_examine_shipped(model.ships_in)]
    folder = model.folder(models)
    return [_examine_file(file, folder, full=full) for file in model.files]


def overall(findings: Sequence[Finding]) -> State:
    """Return the state of the whole model."""
    states = {finding.state for finding in findings}
    return "missing" if "missing" in states else "mismatch" if "mismatch" in states else "present"


def require(model: Model, models: Path, findings: Sequence[Finding]) -> Path:
    """Return what `locate` does if all findings are good, or raise for the first that is not."""
    bad = next((finding for finding in findings if finding.state != "present"), None)
    if bad is None:
        return findings[0].path if model.ships_in else model.folder(models)
    error = ModelMissing if bad.state == "missing" else ModelMismatch
    mend = f"Run '{pull_command(models, model.name)}'."
    if model.ships_in:
        mend = f"Install the package {model.ships_in.partition(':')[0]} again."
    raise error(f"Model {model.name}: {bad.path} {bad.detail}.", mend=mend, file=bad.path)


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file in hexadecimal digits. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def pull_command(models: Path, *names: str) -> str:
    """Return the command that fetches these models into the folder ``models``."""
    folder = [] if models == places().models else ["--folder", str(models)]
    return " ".join(["voice-agent models pull", *names, *folder])


def remember(file: ModelFile, folder: Path, stamp: Stamp) -> None:
    """Note in ``folder`` that the file with this stamp was hashed and matches.

    A folder that cannot be written to is no fault: the file is then hashed at each start.
    """
    draft = folder / f"{STAMPS}.{os.getpid()}"
    try:
        draft.write_text(json.dumps(_stamps(folder) | {file.path: stamp}, indent=1), "utf-8")
        draft.replace(folder / STAMPS)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def stamp_of(path: Path, sha256: str) -> Stamp:
    """Return what tells this state of a file, which has this hash, from any other."""
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, sha256]


def _examine_file(file: ModelFile, folder: Path, *, full: bool) -> Finding:
    path = folder / file.path
    try:
        if not path.is_file():
            return Finding(path, "missing", "is missing")
        size_bytes = path.stat().st_size
    except OSError as error:  # the folder of another user
        return Finding(path, "mismatch", f"cannot be read: {error.strerror}")
    if size_bytes != file.size_bytes:
        detail = f"has {size_bytes:,} bytes instead of {file.size_bytes:,}"
        return Finding(path, "mismatch", detail)
    if not full and _stamps(folder).get(file.path) == stamp_of(path, file.sha256):
        return Finding(path, "present")
    return _examine_content(file, path, folder)


def _examine_content(file: ModelFile, path: Path, folder: Path) -> Finding:
    try:
        stamp = stamp_of(path, file.sha256)  # before the hash: a change meanwhile must show
        got = sha256_of(path)
    except OSError as error:
        return Finding(path, "mismatch", f"cannot be read: {error.strerror}")
    if got != file.sha256:
        return Finding(path, "mismatch", f"has sha256 {got} instead of {file.sha256}")
    remember(file, folder, stamp)
    return Finding(path, "present")


def _examine_shipped(ships_in: str) -> Finding:
    package, _, member = ships_in.partition(":")
    try:
        path = Path(str(metadata.distribution(package).locate_file(member)))
    except metadata.PackageNotFoundError:
        return Finding(Path(member), "missing", f"is missing: {package} is not installed")
    return Finding(path, "present") if path.is_file() else Finding(path, "missing", "is missing")


def _stamps(folder: Path) -> dict[str, Stamp]:
    try:
        stamps = json.loads((folder / STAMPS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}
