"""What a person reads in a terminal: the answer as it is written, and where it stands."""

import sys
from typing import TYPE_CHECKING

from voice_agent.events import Answer, AnswerText, Cancelled, Event, Source, Unrecorded
from voice_agent.settings import Loaded

if TYPE_CHECKING:
    from voice_agent.cli.output import Writable

ADD_FOLDER = "Add your own folder of text or Markdown files: voice-agent library add FOLDER"


class Screen:
    """A listener that writes the answer and its sources; on stderr, that they are not on record."""

    def __init__(self, stream: "Writable") -> None:
        self._stream = stream
        self._written = ""

    def __call__(self, event: Event) -> None:
        """Write what ``event`` adds to the answer."""
        if isinstance(event, AnswerText):
            self._write(event.text if self._written else event.text.lstrip())
        elif isinstance(event, Answer):
            self._write(_rest(event.text, self._written))
            self._write("".join(f"\n  {_line(source)}" for source in event.sources) + "\n")
            self._written = ""
        elif isinstance(event, Cancelled) and self._written:
            self._write("\n")
            self._written = ""
        elif isinstance(event, Unrecorded):
            sys.stderr.write(f"voice-agent: {event.message} {event.mend}\n")

    @property
    def begun(self) -> bool:
        """Whether a part of an answer stands there."""
        return bool(self._written)

    def _write(self, text: str) -> None:
        self._written += text
        self._stream.write(text)
        self._stream.flush()


def tell_notices(loaded: Loaded) -> None:
    """Say on stderr which settings are ignored and why."""
    for notice in loaded.notices:
        sys.stderr.write(f"voice-agent: {notice}\n")


def tell_empty_library(documents: int) -> None:
    """Say on stderr, while there are no documents, how to add some."""
    if documents == 0:
        sys.stderr.write(f"voice-agent: there are no documents yet. {ADD_FOLDER}\n")


def _rest(text: str, written: str) -> str:
    """What of the whole answer was not streamed, such as the excerpt of a fallback.

    White space does not count: between what two requests said it is the answer's own.
    """
    at = 0
    for char in "".join(written.split()):
        at = _skip_blanks(text, at)
        if text[at : at + 1] != char:
            return f"\n{text}"
        at += 1
    return text[at:].rstrip()


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


def _line(source: Source) -> str:
    heading = f" › {source.heading}" if source.heading else ""
    page = f", page {source.page}" if source.page else ""
    return f"{source.title}{heading}{page} ({source.path})"
