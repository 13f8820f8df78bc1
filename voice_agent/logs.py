"""The log of the service: for the journal, with levels, and without anything that was said.

At the levels info and above no record holds the text of a question, an answer or a document;
``debug`` shows them.
"""

import asyncio
import faulthandler
import io
import json
import logging
import signal
import sys
from collections.abc import Callable
from typing import Any, TextIO

from voice_agent.events import (
    Answer,
    Asked,
    Cancelled,
    Error,
    Event,
    Transcript,
    Unrecorded,
    Wake,
    to_json,
)

log = logging.getLogger(__name__)

_PRIORITIES = (
    (logging.CRITICAL, 2),
    (logging.ERROR, 3),
    (logging.WARNING, 4),
    (logging.INFO, 6),
)
_DEBUG = 7


class JournalFormatter(logging.Formatter):
    """Puts the level before each line, as ``<6>``: sd-daemon(3)."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's lines, each with its level."""
        priority = next((p for level, p in _PRIORITIES if record.levelno >= level), _DEBUG)
        lines = super().format(record).splitlines() or [""]
        return "\n".join(f"<{priority}>{line}" for line in lines)


def log_to_journal(level: str, stream: TextIO = sys.stderr) -> None:
    """Let the whole program log to ``stream`` from ``level`` on: warning, info or debug."""
    output = logging.StreamHandler(stream)
    output.setFormatter(JournalFormatter("%(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [output]
    root.setLevel(level.upper())
    for library in ("asyncio", "faster_whisper"):  # the latter logs what it transcribes
        logging.getLogger(library).setLevel(logging.WARNING)


class JournalListener:
    """A listener that logs what happens, by its kind and its figures."""

    def begin(self, at_s: float) -> None:
        """The first sample came; the journal has its own clock."""

    def __call__(self, event: Event) -> None:
        """Log ``event``."""
        level, line = _line(event)
        if line:
            log.log(level, "%s", line)
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", json.dumps(to_json(event), ensure_ascii=False))


def _line(event: Event) -> tuple[int, str]:
    match event:
        case Wake():
            return logging.INFO, f"The wake word {event.word} was heard ({event.score:.2f})."
        case Transcript():
            return logging.INFO, (
                f"Turn {event.turn}: {event.audio_s:.1f} s of speech were understood "
                f"in {event.stt_s:.1f} s."
            )
        case Asked():
            return logging.INFO, f"Turn {event.turn}: a question was typed."
        case Answer():
            return logging.INFO, (
                f"Turn {event.turn}: answered ({event.basis}, {event.reason}) from "
                f"{len(event.sources)} sources; first sound after {_s(event.timings.first_sound)}."
            )
        case Cancelled():
            return logging.INFO, f"Turn {event.turn}: cancelled by {event.cause}."
        case Error() | Unrecorded():
            turn = "" if event.turn is None else f"Turn {event.turn}: "
            return logging.ERROR, f"{turn}{event.message} {event.mend}".rstrip()
    return logging.DEBUG, ""


def _s(seconds: float | None) -> str:
    return "no sound" if seconds is None else f"{seconds:.1f} s"


def dump_on_signal(state: Callable[[], dict[str, Any]]) -> None:
    """Let SIGUSR1 write ``state()`` and the stacks of all threads and tasks to the log.

    The threads' stacks come also when the event loop is stuck. Called on the event loop.
    """
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: _dump(state()))
    faulthandler.register(signal.SIGUSR1, all_threads=True, chain=True)


def _dump(state: dict[str, Any]) -> None:
    text = io.StringIO()
    for task in asyncio.all_tasks():
        task.print_stack(file=text)
    log.warning("State: %s\n%s", json.dumps(state), text.getvalue().rstrip())
