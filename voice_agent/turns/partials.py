"""Partial transcripts: the text of what has been said up to a pause, made while the pause lasts."""

import asyncio
import logging
from collections.abc import Callable

from voice_agent.audio.format import Sound
from voice_agent.engine import StopFlag
from voice_agent.stt import Transcriber, Transcription

log = logging.getLogger(__name__)


class Partials:
    """Makes the text of one pause at a time; ``tell`` gets it, unless speech went on meanwhile.

    Used on the event loop's thread; the model works on its own. A text that has become useless is
    stopped, and until the model has noticed it is not free.
    """

    def __init__(
        self, transcriber: Transcriber, language: str, tell: Callable[[Transcription], None]
    ) -> None:
        self._transcriber = transcriber
        self._language = language
        self._tell = tell
        self._working: set[asyncio.Task[Transcription]] = set()
        self._current: asyncio.Task[Transcription] | None = None
        self._stop = StopFlag()

    def begin(self, sound: Sound) -> bool:
        """Make the text of ``sound`` and drop the one before.

        Return whether the model was free for it; else it will be late.
        """
        self.drop()
        free = not self._working
        self._stop = StopFlag()
        task = asyncio.create_task(
            self._transcriber.transcribe(sound, language=self._language, stop=self._stop),
            name="partial",
        )
        self._current = task
        self._working.add(task)
        task.add_done_callback(self._done)
        return free

    def drop(self) -> None:
        """Speech went on, or what was said is of no use any more: nobody waits for its text."""
        self._current = None
        self._stop.set()

    def take(self) -> asyncio.Task[Transcription] | None:
        """Return the text of the pause that goes on, ready or not: it is the transcript.

        None where there is no such text. `drop` stops it still. Raises what the transcriber
        raises; a caller that may be cancelled shields it.
        """
        taken, self._current = self._current, None
        return taken

    def _done(self, task: asyncio.Task[Transcription]) -> None:
        self._working.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            log.debug("no partial transcript: %s", error)
        elif task is self._current:
            self._tell(task.result())
