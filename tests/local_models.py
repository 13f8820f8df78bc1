"""Made-up models, wheels and a progress that remembers, for the tests of the catalogue."""

import contextlib
import hashlib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from voice_agent.catalogue import Model
from voice_agent.catalogue.sources import Part

HUB_FILE = "owner/repo@abc:weights.bin"
HUB_PATH = "/owner/repo/resolve/abc/weights.bin"


def file_row(content: bytes, *sources: dict[str, Any], path: str = "weights.bin") -> dict[str, Any]:
    digest = hashlib.sha256(content).hexdigest()
    return {"path": path, "size_bytes": len(content), "sha256": digest, "sources": list(sources)}


def model_of(*files: dict[str, Any], name: str = "tiny") -> Model:
    rest = {"title": "A model", "role": "llm", "choice": "default", "licence": "MIT"}
    return Model.model_validate({"name": name, "memory_mb": 1, "file": list(files)} | rest)


def hub_model(content: bytes, name: str = "tiny") -> Model:
    return model_of(file_row(content, {"hub": HUB_FILE}), name=name)


def write_wheel(folder: Path, name: str, members: dict[str, bytes]) -> None:
    """Write a wheel of version 1.0 that pip accepts, holding ``members`` in its package."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, content in members.items():
            wheel.writestr(f"{name}/{path}", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


class Watcher:
    """A progress that keeps what it was told; ``stop_at`` is where the user presses Ctrl-C."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.notes: list[str] = []
        self.files: list[str] = []
        self._stop_at = stop_at

    def note(self, text: str) -> None:
        self.notes.append(text)

    @contextlib.contextmanager
    def file(self, name: str, part: Part) -> Iterator[Callable[[int], None]]:
        self.files.append(name)
        yield self._moved

    def _moved(self, now_bytes: int) -> None:
        if self._stop_at is not None and now_bytes >= self._stop_at:
            raise KeyboardInterrupt
