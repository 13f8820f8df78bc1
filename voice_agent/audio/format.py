"""Recordings on disk: any rate and number of channels in, 16-bit WAV out; and resampling.

All sound from outside becomes mono float32 in [-1, 1], and what listens gets it at 16 kHz.
Reading goes block by block, so that the size of a file never decides how much memory is taken.
"""

import io
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile  # type: ignore[import-untyped]  # has no types
import soxr  # type: ignore[import-untyped]  # has no types
from numpy.typing import NDArray

from voice_agent.errors import RecordingError

SAMPLE_RATE_HZ = 16_000
"""The rate at which the assistant listens."""

LONGEST_S = 2 * 3600
"""A recording longer than this is refused: as float32 at 16 kHz it would take half a gigabyte."""

_RATES_HZ = range(1_000, 768_001)
_BLOCK_SAMPLES = 1 << 20  # of all channels together
_UNKNOWN_FRAMES = 1 << 62  # libsndfile's count where a header says nothing lies above
_UNKNOWN_BYTES = 0x7FFF_0000  # programs that write to a pipe put such sizes into the header
_CANCELS_BELOW = 1e-3  # energy of the mean of all channels over that of the loudest one
_IMPOSSIBLE = 2.0**40  # far above the 32-bit integers that some programs store as floats
_LOST_S = 0.1
_READABLE = "Give a recording as WAV, FLAC or OGG."


@dataclass(frozen=True)
class Sound:
    """Mono sound: ``samples`` float32 of shape (n,) in [-1, 1], ``rate_hz`` of them a second."""

    samples: NDArray[np.float32]
    rate_hz: int

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.samples) / self.rate_hz

    def at(self, rate_hz: int) -> "Sound":
        """Return the same sound at another rate."""
        return Sound(resample(self.samples, self.rate_hz, rate_hz), rate_hz)


def resample(samples: NDArray[np.float32], from_hz: int, to_hz: int) -> NDArray[np.float32]:
    """Return ``samples``, float32 of shape (n,), at another rate, by soxr's band-limited method."""
    if from_hz == to_hz or not len(samples):
        return samples
    return np.asarray(soxr.resample(samples, from_hz, to_hz), np.float32)


def read_recording(path: Path | str) -> Sound:
    """Return a recording as 16 kHz mono, read from WAV, FLAC, OGG or what else libsndfile knows.

    Channels are averaged; where they cancel each other the loudest one is taken. Sound that
    exceeds full scale is scaled down. Raises RecordingError when the file cannot be opened, is
    no recording, is damaged or ends early, holds no samples or impossible ones, or lasts longer
    than `LONGEST_S`.
    """
    path = Path(path)
    _check_file(path)
    with _open(path) as source:
        _check_header(source, path)
        parts = list(_resampled(source, path))
    samples = np.concatenate(parts)
    if not len(samples):
        raise RecordingError(f"{path} holds no samples.", mend="Record it again.", file=path)
    peak = float(np.abs(samples).max())
    if peak > 1:
        samples /= peak
    return Sound(samples, SAMPLE_RATE_HZ)


def write_wav(path: Path | str, sound: Sound) -> None:
    """Write ``sound`` as 16-bit mono WAV at its own rate; the file is whole or not there at all.

    Raises RecordingError when it cannot be written; a file that stood there before then stays.
    """
    path = Path(path)
    coded = io.BytesIO()
    scaled = np.round(np.clip(sound.samples, -1, 1) * 32767).astype(np.int16)
    soundfile.write(coded, scaled, sound.rate_hz, format="WAV", subtype="PCM_16")
    try:
        _put(path, coded.getvalue())
    except OSError as error:
        raise RecordingError(
            f"{path} cannot be written: {_reason(error)}.",
            mend="Name a file in a folder that exists, is yours and has room.",
            file=path,
        ) from error


def _put(path: Path, content: bytes) -> None:
    target = path.resolve()  # through a link, its target is replaced and not the link
    if target.exists() and not target.is_file():
        target.write_bytes(content)  # a device or pipe cannot be replaced; a folder raises
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _check_file(path: Path) -> None:
    try:
        with path.open("rb"):
            size = path.stat().st_size
    except FileNotFoundError as error:
        raise RecordingError(
            f"{path} does not exist.", mend="Check the name.", file=path
        ) from error
    except IsADirectoryError as error:
        raise RecordingError(
            f"{path} is a folder, not a recording.", mend="Name the files in it.", file=path
        ) from error
    except OSError as error:
        raise RecordingError(
            f"{path} cannot be opened: {_reason(error)}.",
            mend=f"Make it readable, for example with: chmod u+r '{path}'.",
            file=path,
        ) from error
    if not path.is_file():
        raise RecordingError(f"{path} is not a regular file.", mend=_READABLE, file=path)
    if not size:
        raise RecordingError(f"{path} is empty (0 bytes).", mend="Record it again.", file=path)


def _open(path: Path) -> soundfile.SoundFile:
    try:
        return soundfile.SoundFile(path)
    except (soundfile.LibsndfileError, TypeError) as error:  # TypeError: a name that ends in .raw
        raise RecordingError(
            f"{path} is not a recording that can be read ({_fault(error)}).",
            mend=_READABLE,
            file=path,
        ) from error


def _check_header(source: soundfile.SoundFile, path: Path) -> None:
    rate_hz, frames = source.samplerate, source.frames
    if rate_hz not in _RATES_HZ:
        raise RecordingError(
            f"{path} has an impossible sample rate of {rate_hz} Hz.", mend=_READABLE, file=path
        )
    if frames < _UNKNOWN_FRAMES and frames / rate_hz > LONGEST_S:
        raise _too_long(path)
    missing_s = _missing_s(source.extra_info, frames / rate_hz)
    if missing_s > _LOST_S:
        raise RecordingError(
            f"{path} ends early: {missing_s:.1f} s of {frames / rate_hz + missing_s:.1f} s"
            " are missing.",
            mend="Copy it again, or keep what is there with: ffmpeg -i OLD.wav NEW.wav.",
            file=path,
        )


def _missing_s(log: str, seconds: float) -> float:
    """How much of a WAV's sound its header promises and the file lacks.

    libsndfile reads such a file as if it were whole, but writes a line into its log. Sizes that
    stand for "unknown" are no promise.
    """
    sizes = re.search(r"^data : (\d+) \(should be (\d+)\)", log, re.MULTILINE)
    if sizes is None:
        return 0
    promised, present = (int(size) for size in sizes.groups())
    if not 0 < present < promised < _UNKNOWN_BYTES:
        return 0
    return seconds * (promised - present) / present


def _resampled(source: soundfile.SoundFile, path: Path) -> Iterator[NDArray[np.float32]]:
    stream = soxr.ResampleStream(source.samplerate, SAMPLE_RATE_HZ, 1, dtype="float32")
    total = 0
    for block in _blocks(source, path):
        total += len(block)
        if total / source.samplerate > LONGEST_S:
            raise _too_long(path)
        yield stream.resample_chunk(block)
    yield stream.resample_chunk(np.zeros(0, np.float32), last=True)


def _blocks(source: soundfile.SoundFile, path: Path) -> Iterator[NDArray[np.float32]]:
    size = max(1, _BLOCK_SAMPLES // source.channels)
    while True:
        try:
            block = source.read(size, dtype="float32", always_2d=True)
        except soundfile.LibsndfileError as error:
            raise RecordingError(
                f"{path} is damaged or ends early ({_fault(error)}).",
                mend="Copy it again, or record it again.",
                file=path,
            ) from error
        if not len(block):
            return
        if not (np.abs(block) < _IMPOSSIBLE).all():
            raise RecordingError(
                f"{path} holds samples that are not numbers, or too large to be sound.",
                mend="Record it again.",
                file=path,
            )
        yield _mono(block)


def _mono(block: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean of the channels of ``block``, shape (n, channels), as shape (n,)."""
    mean = np.ascontiguousarray(block.mean(axis=1))
    energies = np.square(block).sum(axis=0)
    if float(np.square(mean).sum()) < _CANCELS_BELOW * float(energies.max()) / block.shape[1] ** 2:
        return np.ascontiguousarray(block[:, energies.argmax()])
    return mean


def _too_long(path: Path) -> RecordingError:
    return RecordingError(
        f"{path} is longer than {LONGEST_S // 3600} hours.",
        mend="Cut it into shorter files.",
        file=path,
    )


def _fault(error: Exception) -> str:
    text = str(getattr(error, "error_string", error))  # libsndfile's own words
    return text.removeprefix("Error : ").rstrip(".")


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
