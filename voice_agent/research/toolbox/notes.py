"""The tool that writes: a dated line in one of the user's notes."""

import asyncio
import fcntl
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError
from voice_agent.llm.model import ToolSpec
from voice_agent.research.tools import ToolOutput

ADD_NOTE = "add_note"

MAX_TEXT_CHARS = 1_000
MAX_TITLE_CHARS = 60
DEFAULT_TITLE = "Notes"


class AddNote:
    """Appends a line with date and time to a note: a Markdown file in the user's folder.

    A note is replaced as a whole by its longer version, so that it has the line or has it not,
    whatever happens meanwhile. A title never leads out of the folder, and neither does a link.
    """

    spec = ToolSpec(
        ADD_NOTE,
        "Write down a note, only when the user asks for it.",
        {
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": MAX_TEXT_CHARS},
                "title": {"type": "string", "description": "which list, such as Shopping"},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    )
    writes = True
    time_limit_s = 10.0

    def __init__(self, folder: Path, now: Callable[[], datetime] = datetime.now) -> None:
        """Write into ``folder``, which is made when the first note is."""
        self._folder = folder
        self._now = now

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        """Append ``arguments["text"]`` to the note ``title``; raises ToolError, then unwritten."""
        name = file_name(str(arguments.get("title", "")))
        text = " ".join(str(arguments["text"]).split())
        if not text:
            raise ToolError("The note is empty.")
        line = f"- {self._now():%Y-%m-%d %H:%M} {text}\n"
        await asyncio.to_thread(self._append, name, line)
        return ToolOutput(f"Written to {name}: {text}")

    def _append(self, name: str, line: str) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _locked(self._folder) as folder:
                _replace(folder, name, line.encode("utf-8", "replace"))
        except OSError as error:
            raise ToolError(f"{name} cannot be written: {error.strerror}.") from error


def file_name(title: str) -> str:
    """Return the name of the file of the note ``title``: letters, digits, blanks and dashes."""
    plain = " ".join(re.sub(r"[^\w\s-]", " ", title).split())[:MAX_TITLE_CHARS].strip(" -")
    return f"{plain or DEFAULT_TITLE}.md"


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """The open ``folder``; two programs that write notes wait for each other."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield opened
    finally:
        os.close(opened)


def _replace(folder: int, name: str, line: bytes) -> None:
    """Put the file ``name`` with ``line`` at its end in the place of the one without."""
    before, mode = _read(folder, name)
    if before and not before.endswith(b"\n"):
        before += b"\n"
    new = f".{secrets.token_hex(8)}.new"
    written = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode, dir_fd=folder)
    try:
        with os.fdopen(written, "wb") as file:
            file.write(before + line)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(new, dir_fd=folder)
        raise
    os.fsync(folder)


def _read(folder: int, name: str) -> tuple[bytes, int]:
    """Return what the note holds and its mode; a link is refused, for it may lead anywhere."""
    try:
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return b"", 0o600
    with os.fdopen(opened, "rb") as file:
        return file.read(), os.fstat(opened).st_mode & 0o777
