"""Opens devices off the event loop: nobody waits long for a sound server that hangs."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress

from voice_agent.audio.devices import Device, Kind, choose
from voice_agent.audio.portaudio import PATIENCE_S, SoundSystem, Stream
from voice_agent.engine import detached
from voice_agent.errors import DeviceError

Open = Callable[[Device], Stream]
"""Returns a stopped stream to or from a device. Raises DeviceError."""

_TRIES, _TRY_S = 10, 0.03


class Opening:
    """Finds the device that ``wanted`` means and opens it; after a failure it looks again first.

    Device and number are found anew each time: what was unplugged may come back as another.
    """

    def __init__(self, system: SoundSystem, wanted: str, kind: Kind) -> None:
        self._system = system
        self._wanted = wanted
        self._kind = kind
        self.failed = False

    def at_once(self, open_: Open) -> Device:
        """See that the device opens, and return it. Blocks, but not long. Raises DeviceError."""
        opening = detached(lambda: self._open(open_), "sound-opening")
        try:
            device, stream = opening.result(2 * PATIENCE_S)
        except FutureTimeout as error:
            raise self._hangs(opening) from error
        finish(stream)
        return device

    def _open(self, open_: Open) -> tuple[Device, Stream]:
        try:
            if self.failed:
                self._look()
            device = choose(self._system.query(), self._wanted, self._kind)
            stream = open_(device)
        except DeviceError:
            self.failed = True
            raise
        self.failed = False
        return device, stream

    def _look(self) -> None:
        """Look for devices, as soon as the last stream is closed; not, if that takes long."""
        for _ in range(_TRIES):
            if self._system.rescan():
                return
            time.sleep(_TRY_S)

    def _run(self, open_: Open) -> tuple[Device, Stream]:
        device, stream = self._open(open_)
        try:
            stream.start()
        except DeviceError:
            self.failed = True
            stream.close()
            raise
        return device, stream

    def _hangs(self, opening: "Future[tuple[Device, Stream]]") -> DeviceError:
        opening.add_done_callback(_unwanted)
        self.failed = True
        return DeviceError(
            "The sound server does not answer.", mend="Restart it; it is tried again until then."
        )

    async def in_time(self, open_: Open) -> tuple[Device, Stream]:
        """Return the device and its running stream. Raises DeviceError.

        A stream that comes when nobody waits any more is closed.
        """
        opening = detached(lambda: self._run(open_), "sound-opening")
        try:
            async with asyncio.timeout(2 * PATIENCE_S):
                return await asyncio.shield(asyncio.wrap_future(opening))
        except TimeoutError as error:
            raise self._hangs(opening) from error
        except asyncio.CancelledError:
            opening.add_done_callback(_unwanted)
            raise


def _unwanted(opening: "Future[tuple[Device, Stream]]") -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result()[1].close()


async def closed(stream: Stream) -> None:
    """Close ``stream``, and wait a moment for it, not longer."""
    waiting = asyncio.wrap_future(stream.close())
    await asyncio.wait([waiting], timeout=1.0)


def finish(stream: Stream) -> None:
    """As `closed`, where there is no event loop."""
    with suppress(FutureTimeout):
        stream.close().result(1.0)
