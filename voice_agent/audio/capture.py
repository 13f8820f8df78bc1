"""Sound from a microphone, or from a recording in its place: 16 kHz mono in blocks, with times."""

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import numpy as np
import soxr  # type: ignore[import-untyped]  # has no types
from numpy.typing import NDArray

from voice_agent.audio import portaudio
from voice_agent.audio.devices import Device
from voice_agent.audio.format import SAMPLE_RATE_HZ, read_recording
from voice_agent.audio.opening import Opening, closed
from voice_agent.errors import DeviceError

LATENCY_S = 0.04
BLOCK_S = 0.04
"""Blocks of half the length took more than twice the processor time: 4 % of a core, all day."""
LOST_S = 3.0
"""A device that has delivered nothing for so long is gone."""
FIRST_S = 5.0
"""A device that has just been opened may take so long: sound servers wake theirs."""
SLEPT_S = 1.0
"""After a sleep of the machine that is longer the device is opened anew."""

_MOST_WAITING = 250  # blocks: ten seconds; older sound is of no use to anybody
_STEP_S = 0.02
_BLOCKS_A_WHILE = 50


@dataclass(frozen=True)
class Captured:
    """The next sound: float32 of shape (n,) in [-1, 1] at 16 kHz.

    ``at_s`` is when its first sample was there, on the event loop's clock.
    """

    samples: NDArray[np.float32]
    at_s: float


class Microphone(Protocol):
    """Hears without a gap."""

    def blocks(self) -> AsyncGenerator[Captured, None]:
        """Yield block after block in real time, until it is closed. Raises DeviceError.

        It ends where the device is to be opened anew, as the next call does.
        """

    @property
    def ended(self) -> bool:
        """Whether nothing but silence will come: the recording that it plays is over."""


class DeviceMicrophone:
    """A microphone. Used as a context manager; its device is open while `blocks` is iterated.

    ``overruns`` counts how often the system lost samples, ``dropped_blocks`` what we were too
    slow for. ``make_way`` is called before devices are looked for again: streams are in the way.
    """

    ended = False

    def __init__(
        self,
        device: str = "",
        *,
        latency_s: float = LATENCY_S,
        system: portaudio.SoundSystem = portaudio,
        slept_s: Callable[[], float] | None = None,
    ) -> None:
        self._latency_s = latency_s
        self._system = system
        self._slept_s = slept_s or machine_slept_s
        self._opening = Opening(system, device, "input")
        self._waiting: deque[tuple[portaudio.Block, float]] = deque()
        self._arrived = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._anew = False
        self.make_way: Callable[[], None] = lambda: None
        self._heard: object = None
        self.overruns = 0
        self.dropped_blocks = 0

    def __enter__(self) -> Self:
        """Find the device and see that it opens; raises DeviceError."""
        self._device = self._opening.at_once(self._open)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Nothing is open outside of `blocks`."""

    @property
    def device(self) -> Device:
        """The device in use."""
        return self._device

    def look_again(self) -> None:
        """Open the device anew, so that devices can be looked for meanwhile."""
        self._anew = self._opening.failed = True
        self._arrived.set()

    async def blocks(self) -> AsyncGenerator[Captured, None]:
        """Yield block after block; raises DeviceError when the device is gone.

        It ends after a sleep of the machine and after `look_again`.
        """
        self._waiting.clear()
        self._loop = asyncio.get_running_loop()
        if self._opening.failed:
            self.make_way()
        self._device, stream = await self._opening.in_time(self._open)
        incoming = _Incoming(stream.rate_hz)
        self._anew, slept_s, patience_s = False, self._slept_s(), FIRST_S
        try:
            while not self._anew and self._slept_s() - slept_s < SLEPT_S:
                block = await self._next(stream, patience_s)
                captured = incoming.convert(*block) if block is not None else None
                patience_s = LOST_S
                if captured is not None and len(captured.samples):
                    yield captured
        except DeviceError:
            self._opening.failed = True
            raise
        finally:
            self._loop = None
            await closed(stream)

    async def _next(
        self, stream: portaudio.Stream, patience_s: float
    ) -> tuple[portaudio.Block, float] | None:
        """Return the next block; None when the device is to be opened anew."""
        while not self._waiting:
            self._arrived.clear()
            if self._anew:
                return None
            if not stream.active:
                raise self._lost()
            try:
                async with asyncio.timeout(patience_s):
                    await self._arrived.wait()
            except TimeoutError as error:
                raise self._lost() from error
        return self._waiting.popleft()

    def _open(self, device: Device) -> portaudio.Stream:
        """Return a stream; from now on no other one is heard, as one that hung and comes back."""
        self._heard = heard = object()

        def take(block: portaudio.Block, overrun: bool) -> None:
            if self._heard is heard:
                self._take(block, overrun)

        return self._system.open_input(
            device,
            take,
            latency_s=self._latency_s,
            block_s=BLOCK_S,
            ended=self._wake_reader,
        )

    def _take(self, block: portaudio.Block, overrun: bool) -> None:
        """Hand a block over (on PortAudio's thread): copy, count, nothing else."""
        self.overruns += overrun
        loop = self._loop
        if loop is None:
            return
        if len(self._waiting) >= _MOST_WAITING:
            self.dropped_blocks += 1
            return
        self._waiting.append((block.copy(), loop.time()))
        self._wake_reader()

    def _wake_reader(self) -> None:
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._arrived.set)

    def _lost(self) -> DeviceError:
        return DeviceError(
            f"The microphone {self._device.name!r} delivers no sound any more.",
            mend="See that it is connected and that the sound server runs.",
        )


class _Incoming:
    """Turns a device's blocks into one stream of 16 kHz, whose times run without jitter.

    A sample's time is that of the promptest delivery. What PortAudio says of the age of a block
    was seen to err by 0.3 s in a stream's first seconds, on a sound server.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._resampler = soxr.ResampleStream(rate_hz, SAMPLE_RATE_HZ, 1, dtype="float32")
        self._began_s = math.inf
        self._recent_s = math.inf
        self._blocks = 0
        self._taken = 0
        self._given = 0

    def convert(self, block: portaudio.Block, arrived_s: float) -> Captured:
        """Return a block, shape (frames, channels), as the next mono sound of the stream."""
        self._taken += len(block)
        self._follow(arrived_s - self._taken / self._rate_hz)
        start_s = self._began_s + self._given / SAMPLE_RATE_HZ
        mono = np.ascontiguousarray(block.mean(axis=1))
        samples = np.asarray(self._resampler.resample_chunk(mono), np.float32)
        self._given += len(samples)
        return Captured(samples, start_s)

    def _follow(self, began_s: float) -> None:
        """Take a delivery that was prompter; a later time only when all have been late a while."""
        self._recent_s = min(self._recent_s, began_s)
        self._blocks += 1
        if began_s < self._began_s - _STEP_S:
            self._began_s = began_s
        if self._blocks % _BLOCKS_A_WHILE == 0:
            if self._recent_s > self._began_s + _STEP_S:
                self._began_s = self._recent_s
            self._recent_s = math.inf


def machine_slept_s() -> float:
    """Return how long the machine has been asleep since its start (clock_gettime(2))."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()


class RecordedMicrophone:
    """A recording that plays the part of the microphone at its true speed, then silence."""

    def __init__(self, recording: Path) -> None:
        """Read it. Raises RecordingError."""
        self._samples = read_recording(recording).samples
        self._at = 0

    @property
    def ended(self) -> bool:
        """Whether the recording is over."""
        return self._at >= len(self._samples)

    async def blocks(self) -> AsyncGenerator[Captured, None]:
        """Yield block after block, each when its last sample would have been heard."""
        loop = asyncio.get_running_loop()
        began_s = loop.time() - self._at / SAMPLE_RATE_HZ
        size = round(BLOCK_S * SAMPLE_RATE_HZ)
        while True:
            block = self._samples[self._at : self._at + size]
            samples = np.pad(block, (0, size - len(block)))
            at_s = began_s + self._at / SAMPLE_RATE_HZ
            await asyncio.sleep(at_s + BLOCK_S - loop.time())
            self._at += size
            yield Captured(samples, at_s)
