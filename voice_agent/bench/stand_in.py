"""Sound devices that are not there, behind the seam of the real ones, with any fault one wants."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.devices import Device, Kind
from voice_agent.audio.portaudio import BLOCK_S, Block, InputCallback, OutputCallback
from voice_agent.errors import DeviceError

_MICROPHONE = Device(0, "stand-in microphone", "none", 1, 0, 48_000, default_input=True)
_LOUDSPEAKER = Device(1, "stand-in loudspeaker", "none", 0, 2, 48_000, default_output=True)


class StandIn:
    """A `SoundSystem` without devices: one microphone, one loudspeaker, both in real time.

    As with PortAudio, only `rescan` finds what was plugged in, and not while a stream is open.
    ``busy`` devices do not open, ``stalled`` ones deliver nothing, ``level`` is what is heard;
    ``rate_hz`` is what streams open at, whatever their device says.
    """

    def __init__(self) -> None:
        self.busy = False
        self.stalled = False
        self.level = 0.1
        self.rate_hz = 48_000
        self.streams: set[StandInStream] = set()
        self.heard: deque[Block] = deque(maxlen=50)  # one second
        self.there = [_MICROPHONE, _LOUDSPEAKER]
        self._known = list(self.there)
        self._next = 2

    def unplug(self, kind: Kind) -> None:
        """Take the devices of a kind away; their streams end."""
        self.there = [device for device in self.there if not device.can(kind)]
        for stream in list(self.streams):
            if stream.device.can(kind):
                stream.fail()

    def plug(self, kind: Kind) -> None:
        """Bring one back, under another number."""
        device = _MICROPHONE if kind == "input" else _LOUDSPEAKER
        self.there.append(replace(device, number=self._next))
        self._next += 1

    def query(self) -> list[Device]:
        """Return the devices that were there at the last search."""
        return list(self._known)

    def rescan(self) -> bool:
        """Look for devices, unless a stream is open."""
        if self.streams:
            return False
        self._known = list(self.there)
        return True

    def sounding(self, frames: int) -> NDArray[np.float32]:
        """Return the next ``frames`` that the microphone hears, float32 of shape (frames,)."""
        return np.full(frames, self.level, np.float32)

    def open_input(
        self,
        device: Device,
        take: InputCallback,
        *,
        latency_s: float,
        block_s: float,
        ended: Callable[[], None],
    ) -> "StandInStream":
        """Return a stream of what is `sounding`."""

        def step(frames: int) -> None:
            take(self.sounding(frames)[:, None], False)

        return self._open(StandInStream(self, device, step, block_s=block_s, ended=ended))

    def open_output(
        self,
        device: Device,
        fill: OutputCallback,
        *,
        latency_s: float,
        ended: Callable[[], None],
    ) -> "StandInStream":
        """Return a stream that plays into `heard`."""

        def step(frames: int) -> None:
            block = np.zeros((frames, 2), np.float32)
            fill(block, latency_s, False)
            self.heard.append(block)

        return self._open(StandInStream(self, device, step, block_s=BLOCK_S, ended=ended))

    def _open(self, stream: "StandInStream") -> "StandInStream":
        if self.busy or stream.device not in self.there:
            raise DeviceError(f"The device {stream.device.name!r} cannot be used.")
        self.streams.add(stream)
        return stream


class StandInStream:
    """A stream of a `StandIn`, on a thread of its own."""

    def __init__(
        self,
        system: StandIn,
        device: Device,
        step: Callable[[int], None],
        *,
        block_s: float,
        ended: Callable[[], None],
    ) -> None:
        self.device = device
        self.rate_hz = system.rate_hz
        self._system = system
        self._step = step
        self._block_s = block_s
        self._ended = ended
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stand-in", daemon=True)

    @property
    def active(self) -> bool:
        """Whether it runs."""
        return not self._stop.is_set()

    def start(self) -> None:
        """Run."""
        self._thread.start()

    def fail(self) -> None:
        """End as if the device were gone."""
        self._stop.set()

    def close(self) -> "Future[None]":
        """End, and give the device back."""
        self._stop.set()
        self._system.streams.discard(self)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _run(self) -> None:
        while not self._stop.wait(self._block_s):
            if not self._system.stalled:
                self._step(round(self._block_s * self.rate_hz))
        self._ended()
