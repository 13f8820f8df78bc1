"""One turn and its cancel scope: everything a turn started ends with it."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from voice_agent import errors
from voice_agent.engine import StopFlag
from voice_agent.events import Answer, Cancelled, Error, Listener, Timings

log = logging.getLogger(__name__)

Ending = Answer | Cancelled | Error
"""The one event with which a turn ends."""

NOTHING_SAID = "nothing was said"
STOP_PHRASE = "stop phrase"
"""Why a turn cancels itself: there were no words, or words such as "never mind"."""


class Turn:
    """A turn's id, its stop flag and its task. Times are seconds of ``clock``.

    A turn that could not begin has no id.
    """

    def __init__(self, turn_id: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.id = turn_id
        self.stop = StopFlag()
        self.began = clock()
        self.question = ""
        self.streamed = ""
        self._clock = clock
        self._task: asyncio.Task[Answer | Error] | None = None
        self._silence: Callable[[], None] = _nothing
        self._cause = ""
        self._cancelled_at = 0.0
        self._silence_s: float | None = None
        self.heard_text: Callable[[], str] = str
        self.record: Listener = lambda event: None

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return bool(self._cause)

    def since(self, moment: float) -> float:
        """Seconds from ``moment`` until now."""
        return round(self._clock() - moment, 4)

    def silenced_by(self, silence: Callable[[], None]) -> None:
        """Name what makes the turn silent at once."""
        self._silence = silence

    def cancel(self, cause: str) -> None:
        """Silence the turn, mark it cancelled, stop its work; once, and in this order."""
        if self._cause:
            return
        self._cancelled_at = self._clock()
        self._silence()
        self._silence_s = self.since(self._cancelled_at)
        self._cause = cause
        self.stop.set()
        if self._task is not None:
            self._task.cancel()

    async def supervise(self, work: Coroutine[Any, Any, Answer | Error]) -> Ending:
        """Run the turn's work to its end and return the event that says how it ended.

        The only place besides the tool runner where an error of any kind is contained: a turn may
        fail, the next one works.
        """
        self._task = asyncio.create_task(work, name=f"turn-{self.id}")
        if self._cause:
            self._task.cancel()
        try:
            await asyncio.wait([self._task])
        finally:
            self._task.cancel()
        if self._task.cancelled() or self._cause:
            return self._cancelled()
        try:
            return self._task.result()
        except errors.Cancelled:
            return self._cancelled()
        except errors.VoiceAgentError as error:
            log.debug("turn %s failed", self.id, exc_info=error)
            return Error(
                turn=self.id,
                stage=error.stage,
                message=error.message,
                mend=error.mend,
                file=error.file,
            )
        except Exception as error:  # noqa: BLE001  # the turn supervisor (see the house rules)
            log.exception("turn %s failed", self.id)
            return Error(
                turn=self.id,
                stage="turn",
                message=f"The turn failed: {type(error).__name__}: {error}.",
                mend="Ask again; with --debug the log shows where it failed.",
            )

    def _cancelled(self) -> Cancelled:
        return Cancelled(
            turn=self.id,
            cause=self._cause or "stopped",
            silence_s=self._silence_s,
            stopped_s=self.since(self._cancelled_at) if self._cause else None,
            heard_text=self.heard_text(),
        )


@dataclass
class Watch:
    """The moments of a turn, in seconds after ``zero``, the question's end."""

    turn: Turn
    zero: float
    timings: Timings = field(default_factory=Timings)

    def note(self, name: str) -> None:
        """Note that the moment ``name`` of the timings is now, unless it was before."""
        if getattr(self.timings, name) is None:
            self.timings = replace(self.timings, **{name: self.turn.since(self.zero)})


def _nothing() -> None:
    return None
