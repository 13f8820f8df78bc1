"""Waiting for a server, but not past a request's deadline and not once it has been stopped."""

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from typing import Any, Literal, TypeVar

from voice_agent.engine import StopFlag

T = TypeVar("T")

_CANCEL_S = 1.0
"""How long what was waited for may take to clean up."""


class Ended(Exception):  # noqa: N818  # it is no error: the request is over
    """The request was stopped or is out of time."""

    def __init__(self, reason: Literal["stopped", "deadline"]) -> None:
        super().__init__(reason)
        self.reason = reason


class Limit:
    """The bounds of one request; ``deadline`` is an instant of `time.monotonic`.

    To be made on the event loop that waits; the flag may be set from any thread.
    """

    def __init__(self, stop: StopFlag, deadline: float) -> None:
        loop = asyncio.get_running_loop()
        self._deadline = deadline
        self._stop = stop
        self._stopped: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and so has the request
                loop.call_soon_threadsafe(self._note_stop)

        stop.on_set(tell)

    @property
    def left_s(self) -> float:
        """Seconds until the deadline, below zero after it."""
        return self._deadline - time.monotonic()

    def hurry(self, seconds: float) -> None:
        """Let the deadline be in ``seconds``, if it is not sooner."""
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    async def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what ``work`` returns; raises Ended, and then it has been cancelled."""
        task = asyncio.ensure_future(work)
        try:
            if not self._stop.is_set() and self.left_s > 0:
                timeout = None if self.left_s == float("inf") else self.left_s
                first: set[asyncio.Future[Any]] = {task, self._stopped}
                await asyncio.wait(first, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()  # never lost: it may be something to be closed
            raise Ended("stopped" if self._stop.is_set() else "deadline")
        finally:
            task.cancel()
            await asyncio.wait({task}, timeout=_CANCEL_S)
            if task.done() and not task.cancelled():
                task.exception()  # looked at, so that asyncio does not report it as lost

    def _note_stop(self) -> None:
        if not self._stopped.done():
            self._stopped.set_result(None)
