"""PortAudio, through sounddevice: what devices there are, and streams to and from them.

PortAudio looks for devices once, when it is first used; so does this module, not at import.
"""

import ctypes
import ctypes.util
import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.devices import Device
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
    def active(self) -> bool:
        """Whether it runs."""

    def start(self) -> None:
        """Run."""

    def abort(self) -> None:
        """Stop at once and drop what is buffered."""

    def close(self) -> None:
        """Give the device back."""


def query() -> list[Device]:
    """Return all devices. Raises DeviceError where PortAudio cannot be used."""
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


def open_output(
    device: Device,
    fill: OutputCallback,
    *,
    latency_s: float,
    ended: Callable[[], None],
) -> Stream:
    """Return a stopped stream of float32 to ``device``, at its own rate.

    ``fill`` and ``ended`` are called on PortAudio's thread, ``ended`` when the stream has stopped
    for whatever reason. Raises DeviceError.
    """
    sounddevice = _library()

    def callback(block: Block, _frames: int, time: Any, status: Any) -> None:
        fill(block, time.outputBufferDacTime - time.currentTime, bool(status.output_underflow))

    return _open(
        device,
        lambda: sounddevice.OutputStream(
            device=device.number,
            samplerate=device.rate_hz,
            channels=min(2, device.outputs),
            blocksize=round(BLOCK_S * device.rate_hz),
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
    """Return a stopped stream of float32 from ``device``, at its own rate, of two channels at most.

    ``take`` and ``ended`` are called on PortAudio's thread, ``ended`` when the stream has stopped
    for whatever reason. Raises DeviceError.
    """
    sounddevice = _library()

    def callback(block: Block, _frames: int, _time: Any, status: Any) -> None:
        take(block, bool(status.input_overflow))

    return _open(
        device,
        lambda: sounddevice.InputStream(
            device=device.number,
            samplerate=device.rate_hz,
            channels=min(2, device.inputs),
            blocksize=round(block_s * device.rate_hz),
            dtype="float32",
            latency=latency_s,
            callback=callback,
            finished_callback=ended,
        ),
    )


def _open(device: Device, make: Callable[[], Any]) -> Stream:
    try:
        with quiet():
            return _QuietStream(make(), device)
    except _library().PortAudioError as error:
        raise _unusable(device, error) from error


class _QuietStream:
    """A sounddevice stream whose failures are DeviceErrors and whose libraries are silent."""

    def __init__(self, stream: Any, device: Device) -> None:
        self._stream = stream
        self._device = device

    @property
    def active(self) -> bool:
        return bool(self._stream.active)

    def start(self) -> None:
        try:
            with quiet():
                self._stream.start()
        except _library().PortAudioError as error:
            raise _unusable(self._device, error) from error

    def abort(self) -> None:
        self._stream.abort(ignore_errors=True)

    def close(self) -> None:
        with quiet():
            self._stream.close(ignore_errors=True)


def _unusable(device: Device, error: Exception) -> DeviceError:
    reason = str(error.args[0]) if error.args else str(error)
    return DeviceError(
        f"The device {device.name!r} cannot be used ({reason}).",
        mend="Choose another of 'voice-agent devices' in audio.input_device or "
        "audio.output_device, or see what else is using it.",
    )


@functools.cache
def _library() -> ModuleType:
    """Return sounddevice, which starts PortAudio when it is first imported."""
    _silence_alsa()
    try:
        import sounddevice  # type: ignore[import-untyped]  # has no types
    except OSError as error:  # the Python package is there, the C library is not
        raise DeviceError(
            "PortAudio, which reaches the microphone and loudspeaker, is not installed.",
            mend="Run 'sudo apt install libportaudio2'.",
        ) from error
    return sounddevice  # type: ignore[no-any-return]


@functools.cache
def _silence_alsa() -> object:
    """Give ALSA an error handler that says nothing, for the whole process.

    ALSA writes each underrun and each missing card to stderr. Returned, and so kept by the cache:
    the handler must live as long as the library may call it.
    """
    name = ctypes.util.find_library("asound")
    if name is None:
        return None
    handler = ctypes.CFUNCTYPE(None)(lambda: None)
    ctypes.CDLL(name).snd_lib_error_set_handler(handler)
    return handler


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what C libraries write to stderr out of it meanwhile."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)
