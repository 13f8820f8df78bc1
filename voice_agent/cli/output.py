"""Standard output: events as JSON lines, and what is done where it cannot be written."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

from voice_agent.errors import OutputError
from voice_agent.events import Event, to_json


class Writable(Protocol):
    """What listeners write to."""

    def write(self, text: str, /) -> object:
        """Take ``text``."""

    def flush(self) -> None:
        """Pass on what was taken."""


class StandardOutput:
    """Standard output, which raises OutputError, or BrokenPipeError if its reader has left."""

    def write(self, text: str) -> None:
        """Write ``text``."""
        with _named():
            sys.stdout.write(text)

    def flush(self) -> None:
        """Pass on what was written."""
        with _named():
            sys.stdout.flush()


def say(line: str) -> None:
    """Write a line to standard output, at once. Raises what `StandardOutput` does."""
    output = StandardOutput()
    output.write(f"{line}\n")
    output.flush()


def say_row(row: dict[str, Any]) -> None:
    """Write a JSON object as a line; like `say`."""
    say(json.dumps(row, ensure_ascii=False))


class Output:
    """An output that may fail while a turn runs: the turn does not fail for it.

    What can no longer be written is dropped, ``lost`` is called once, and `check` tells.
    """

    def __init__(self, stream: Writable) -> None:
        self._stream = stream
        self._failure: OSError | OutputError | None = None
        self.lost: Callable[[], object] = lambda: None

    def write(self, text: str) -> None:
        """Write ``text``, if that can be done."""
        self._try(lambda: self._stream.write(text))

    def flush(self) -> None:
        """Pass on what was written, if that can be done."""
        self._try(self._stream.flush)

    def check(self) -> None:
        """Raise again what was raised where output was lost."""
        if self._failure is not None:
            raise self._failure

    def _try(self, write: Callable[[], object]) -> None:
        if self._failure is not None:
            return
        try:
            write()
        except (OSError, OutputError) as error:
            self._failure = error
            self.lost()


@contextmanager
def _named() -> Iterator[None]:
    """Say of a failure that it is the output's."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"The output cannot be written: {error.strerror}.",
            mend="Make room where it goes, or send it elsewhere.",
        ) from error


class JsonLines:
    """A listener that prints each event as one JSON object a line, at once.

    Seconds count from ``started`` (a `time.monotonic` instant), by default its own making.
    """

    def __init__(self, stream: Writable, started: float | None = None) -> None:
        self._stream = stream
        self._started = time.monotonic() if started is None else started

    def begin(self, at: float) -> None:
        """Count seconds from ``at`` from now on: the microphone's first sample."""
        self._started = at

    def __call__(self, event: Event) -> None:
        """Print ``event``; without a position of its own it gets the time that it is now."""
        if event.t_s is None:
            event = replace(event, t_s=round(time.monotonic() - self._started, 4))
        self._stream.write(f"{json.dumps(to_json(event), ensure_ascii=False)}\n")
        self._stream.flush()
