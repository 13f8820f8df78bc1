"""What a person reads in a terminal while the assistant listens: both sides of the talk."""

from voice_agent.cli.output import Writable
from voice_agent.cli.screen import Screen
from voice_agent.events import (
    Asked,
    AskedBack,
    Cancelled,
    Error,
    Event,
    Finishing,
    SoundLost,
    Transcript,
    Wake,
)


class LiveScreen:
    """A listener that writes each question as it was understood, and its answer with sources."""

    def __init__(self, stream: Writable) -> None:
        self._stream = stream
        self._answers = Screen(stream)

    def begin(self, at_s: float) -> None:
        """The first sample came; on a screen nothing depends on it."""

    def __call__(self, event: Event) -> None:
        """Write what ``event`` adds."""
        self._answers(event)
        line = _line(event)
        if line:
            begin = "\n" if isinstance(event, Finishing) and self._answers.begun else ""
            self._stream.write(f"{begin}{line}\n")
            self._stream.flush()


def _line(event: Event) -> str:
    if isinstance(event, Wake):
        return "(listening)"
    if isinstance(event, Transcript | Asked) and event.text:
        return f"You: {event.text}"
    if isinstance(event, AskedBack):
        return event.text
    if isinstance(event, Finishing):
        return "(Finishing the answer)"
    if isinstance(event, Cancelled):
        return "(stopped)"
    if isinstance(event, Error):
        return f"({event.message} {event.mend})"
    if isinstance(event, SoundLost):
        return _lost(event)
    return ""


def _lost(event: SoundLost) -> str:
    if not (event.overruns or event.dropped_blocks or event.underruns):
        return ""
    return (
        f"(Sound was lost: {event.overruns} overruns and {event.dropped_blocks} dropped blocks of "
        f"the microphone, {event.underruns} underruns of the loudspeaker.)"
    )
