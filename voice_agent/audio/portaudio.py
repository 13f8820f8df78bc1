"""PortAudio, through sounddevice: what devices there are, and streams to and from them.

PortAudio looks for devices once, when it is first used; so does this module, not at import. After
`rescan` it has looked again.

Its calls wait for the sound server, for ever if that hangs; a stream that fails before its first
block never ends at all (PortAudio's issue 1037: its thread runs in a circle and complains). So
no call here is waited for longer than `PATIENCE_S`, closing is done by a thread of its own, and
what C libraries write to stderr goes through a pipe that is emptied slowly: such a thread stands
there nearly all the time, in place of taking a whole core and filling the log.
"""

import atexit
import functools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.complaints import let_go, silence_alsa, slow_stderr
from voice_agent.audio.devices import Device
from voice_agent.engine import detached
from voice_agent.errors import DeviceError

Block = NDArray[np.float32]
"""Samples of shape (frames, channels)."""

OutputCallback = Callable[[Block, float, bool], None]
"""Fills a block; gets the seconds after which its first sample will be heard, and whether the
device ran out of samples before it."""

InputCallback = Callable[[Block, bool], None]
"""Takes a block that is gone afterwards, and whether samples were lost before it."""

BLOCK_S = 0.02
"""PortAudio's own choice of a block made underruns on a loaded machine, after each new start."""


class Stream(Protocol):
    """A stream to or from a device."""

    @property
    def rate_hz(self) -> int:
        """Frames a second."""

    @property
    def active(self) -> bool:
        """Whether it runs."""

    def start(self) -> None:
        """Run. Raises DeviceError."""

    def close(self) -> "Future[None]":
        """Stop at once, drop what is buffered, and give the device back.

        It returns at once, and never fails; what it returns is done when the device is free.
        """


PATIENCE_S = 5.0
"""A sound server that takes longer hangs."""
_RATES_HZ = (48_000, 44_100, 32_000, 16_000)
"""What a device is tried at that does not open at the rate it names."""
_SETTLE_S = 1.0
_INVALID_RATE, _UNAVAILABLE = -9997, -9985  # PortAudio's error codes


class SoundSystem(Protocol):
    """What devices there are, and streams to and from them; see the functions of this module.

    All may take `PATIENCE_S` and raise DeviceError. Only the event loop's thread must not wait.
    """

    def query(self) -> list[Device]:
        """Return all devices as they were when they were looked for last."""

    def rescan(self) -> bool:
        """Look for devices again; return False where an open stream is in the way."""

    def open_input(
        self,
        device: Device,
        take: InputCallback,
        *,
        latency_s: float,
        block_s: float,
        ended: Callable[[], None],
    ) -> Stream:
        """Return a stopped stream from ``device``."""

    def open_output(
        self,
        device: Device,
        fill: OutputCallback,
        *,
        latency_s: float,
        ended: Callable[[], None],
    ) -> Stream:
        """Return a stopped stream to ``device``."""


def query() -> list[Device]:
    """Return all devices. Raises DeviceError where PortAudio cannot be used."""
    with _alone():
        sounddevice = _library()
        apis = sounddevice.query_hostapis()
        default_input, default_output = sounddevice.default.device
        return [
            Device(
                number=number,
                name=row["name"],
                system=apis[row["hostapi"]]["name"],
                inputs=row["max_input_channels"],
                outputs=row["max_output_channels"],
                rate_hz=round(row["default_samplerate"]),
                default_input=number == default_input,
                default_output=number == default_output,
            )
            for number, row in enumerate(sounddevice.query_devices())
        ]


def rescan() -> bool:
    """Look for devices again: numbers may mean others afterwards. Raises DeviceError.

    Return False, and do nothing, while a stream is open or could not be closed: PortAudio would
    close it under our feet, or wait for it for ever.
    """
    with _alone():
        sounddevice = _library()
        if _streams():
            return False
        sounddevice._terminate()  # there is no public name for it
        sounddevice._initialize()
    return True


def open_output(
    device: Device,
    fill: OutputCallback,
    *,
    latency_s: float,
    ended: Callable[[], None],
) -> Stream:
    """Return a stopped stream of float32 to ``device``, at its own rate if it opens at that.

    ``fill`` and ``ended`` are called on PortAudio's thread, ``ended`` when the stream has stopped
    for whatever reason. Raises DeviceError.
    """
    sounddevice = _library()

    def callback(block: Block, _frames: int, time: Any, status: Any) -> None:
        fill(block, time.outputBufferDacTime - time.currentTime, bool(status.output_underflow))

    return _open(
        device,
        lambda rate_hz: sounddevice.OutputStream(
            device=device.number,
            samplerate=rate_hz,
            channels=min(2, device.outputs),
            blocksize=round(BLOCK_S * rate_hz),
            dtype="float32",
            latency=latency_s,
            callback=callback,
            finished_callback=ended,
        ),
    )


def open_input(
    device: Device,
    take: InputCallback,
    *,
    latency_s: float,
    block_s: float,
    ended: Callable[[], None],
) -> Stream:
    """Return a stopped stream of float32 from ``device``, of two channels at most.

    It has the device's own rate if it opens at that, another one if not.
    ``take`` and ``ended`` are called on PortAudio's thread, ``ended`` when the stream has stopped
    for whatever reason. Raises DeviceError.
    """
    sounddevice = _library()

    def callback(block: Block, _frames: int, _time: Any, status: Any) -> None:
        take(block, bool(status.input_overflow))

    return _open(
        device,
        lambda rate_hz: sounddevice.InputStream(
            device=device.number,
            samplerate=rate_hz,
            channels=min(2, device.inputs),
            blocksize=round(block_s * rate_hz),
            dtype="float32",
            latency=latency_s,
            callback=callback,
            finished_callback=ended,
        ),
    )


def _open(device: Device, make: Callable[[int], Any]) -> Stream:
    others = [rate_hz for rate_hz in _RATES_HZ if rate_hz != device.rate_hz]
    with _alone():
        try:
            return _opened(device, make, [device.rate_hz, *others])
        except _library().PortAudioError as error:
            raise _unusable(device, error) from error


def _opened(device: Device, make: Callable[[int], Any], rates_hz: list[int]) -> Stream:
    """Return the stream at the first of ``rates_hz`` that the device opens at."""
    first, *others = rates_hz
    try:
        return _Opened(make(first), replace(device, rate_hz=first))
    except _library().PortAudioError as error:
        if _code(error) != _INVALID_RATE or not others:
            raise
        return _opened(device, make, others)


class _Opened:
    """A sounddevice stream whose failures are DeviceErrors, and whose end nobody waits for."""

    def __init__(self, stream: Any, device: Device) -> None:
        self._stream = stream
        self._device = device
        self.closing: Future[None] | None = None
        _streams().add(self)

    @property
    def rate_hz(self) -> int:
        return self._device.rate_hz

    @property
    def active(self) -> bool:
        return self.closing is None and bool(self._stream.active)

    def start(self) -> None:
        try:
            self._stream.start()
        except _library().PortAudioError as error:
            raise _unusable(self._device, error) from error

    def close(self) -> Future[None]:
        if self.closing is None:
            self.closing = detached(self._end, "sound-closing")
        return self.closing

    def _end(self) -> None:
        self._stream.abort(ignore_errors=True)  # may wait for ever, so nothing is locked yet
        with _lock():
            self._stream.close(ignore_errors=True)
            _streams().discard(self)


def _unusable(device: Device, error: Exception) -> DeviceError:
    reason = str(error.args[0]) if error.args else str(error)
    if _code(error) == _UNAVAILABLE:
        return DeviceError(
            f"The device {device.name!r} is busy ({reason}).",
            mend="End the program that uses it; it is tried again until then.",
        )
    return DeviceError(
        f"The device {device.name!r} cannot be used ({reason}).",
        mend="Choose another of 'voice-agent devices' in audio.input_device or "
        "audio.output_device, or see what else is using it.",
    )


def _code(error: Exception) -> int:
    return int(error.args[1]) if len(error.args) > 1 else 0


@functools.cache
def _lock() -> threading.Lock:
    """Return what one holds who opens, closes or looks: PortAudio's lists know no threads."""
    return threading.Lock()


@functools.cache
def _streams() -> set[_Opened]:
    """Return all streams that have not been closed yet."""
    return set()


@contextmanager
def _alone() -> Iterator[None]:
    if not _lock().acquire(timeout=PATIENCE_S):
        raise DeviceError(
            "The sound server does not answer.",
            mend="Restart it: systemctl --user restart pipewire pipewire-pulse, or pulseaudio.",
        )
    try:
        yield
    finally:
        _lock().release()


def _settle() -> None:
    """Wait a moment for what is being closed: at the end its callbacks would find no Python."""
    closing = [stream.closing for stream in _streams() if stream.closing is not None]
    wait(closing, timeout=_SETTLE_S)
    let_go()


@functools.cache
def _library() -> ModuleType:
    """Return sounddevice, which starts PortAudio when it is first imported."""
    silence_alsa()
    slow_stderr()
    try:
        import sounddevice  # type: ignore[import-untyped]  # has no types
    except OSError as error:  # the Python package is there, the C library is not
        raise DeviceError(
            "PortAudio, which reaches the microphone and loudspeaker, is not installed.",
            mend="Run 'sudo apt install libportaudio2'.",
        ) from error
    atexit.unregister(sounddevice._exit_handler)  # waits for ever for a stream that hangs
    atexit.register(_settle)
    return sounddevice  # type: ignore[no-any-return]
