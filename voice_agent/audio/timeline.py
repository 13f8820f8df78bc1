"""A file that plays the part of the loudspeaker: each sound stands where it would be heard."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import soundfile  # type: ignore[import-untyped]  # has no types
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound, resample
from voice_agent.audio.gain import Gain
from voice_agent.errors import RecordingError

RATE_HZ = 48_000
_SILENCE_SAMPLES = 1 << 16


@dataclass(eq=False)
class _Part:
    """A sound from sample ``start`` on, at `RATE_HZ`; ``heard`` gets how much of it was heard."""

    start: int
    samples: NDArray[np.float32]
    heard: asyncio.Future[None]

    @property
    def end(self) -> int:
        return self.start + len(self.samples)


class TimelineSpeaker:
    """Plays into a WAV file of 48 kHz mono, in real time, from the moment given to `begin`.

    Used as a context manager; the file is written on exit, after an interruption, too. It is as
    long as the sound that was asked for with `played`, or that was played.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: list[_Part] = []
        self._waiting: list[_Part] = []
        self._began_s: float | None = None
        self._length = 0
        self._played_samples = 0
        self._gain = Gain(RATE_HZ)

    def __enter__(self) -> Self:
        """See that the file can be written; raises RecordingError."""
        self._part_file = self._path.with_name(f".{self._path.name}.{os.getpid()}.part")
        try:
            self._part_file.touch()
        except OSError as error:
            raise _unwritable(self._path, error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write the file, if it was begun; raises RecordingError."""
        self.abort()
        try:
            if self._began_s is None:
                return
            with soundfile.SoundFile(
                self._part_file, "w", RATE_HZ, 1, subtype="PCM_16", format="WAV"
            ) as out:
                self._write(out)
            self._part_file.replace(self._path)
        except (OSError, soundfile.LibsndfileError) as fault:
            raise _unwritable(self._path, fault) from fault
        finally:
            self._part_file.unlink(missing_ok=True)

    def begin(self, at_s: float) -> None:
        """Say when the file's first sample is, on the event loop's clock."""
        self._began_s = at_s

    @property
    def played_samples(self) -> int:
        """How many samples of all sounds have been heard, at each sound's own rate."""
        return self._played_samples

    async def play(self, sound: Sound) -> int:
        """Play ``sound`` after those before it; return how many of its samples were heard."""
        loop = asyncio.get_running_loop()
        samples = resample(sound.samples, sound.rate_hz, RATE_HZ)
        start = max(self._now(), self._waiting[-1].end if self._waiting else 0)
        part = _Part(start, samples, loop.create_future())
        self._parts.append(part)
        self._waiting.append(part)
        loop.call_later((part.end - self._now()) / RATE_HZ, self._finish, part)
        try:
            await part.heard
        except asyncio.CancelledError:
            self._cut(part)
            raise
        heard = len(part.samples) * len(sound.samples) // max(len(samples), 1)
        self._played_samples += heard
        return heard

    def abort(self) -> None:
        """Be silent now: drop the rest and all that waits."""
        for part in self._waiting[:]:
            self._cut(part)
        self.turn_to(1.0)

    def turn_to(self, level: float) -> None:
        """Let what is played be heard at ``level`` from now on, by a ramp; 1 is as it is."""
        self._gain.change(level, self._now())

    def played(self, start_s: float, samples: int) -> NDArray[np.float32]:
        """Return what was heard from ``start_s`` on: float32 of shape (samples,) at 16 kHz."""
        per_sample = RATE_HZ // SAMPLE_RATE_HZ
        first = round((start_s - (self._began_s or 0.0)) * SAMPLE_RATE_HZ) * per_sample
        end = first + samples * per_sample
        self._length = max(self._length, end)
        found = np.zeros(samples * per_sample, np.float32)
        for part in reversed(self._parts):
            if part.end <= first:
                break
            begin, until = max(part.start, first), min(part.end, end)
            if begin < until:
                heard = part.samples[begin - part.start : until - part.start]
                found[begin - first : until - first] = heard
        found *= self._gain.factors(first, len(found))
        # Voices have little above 8 kHz: the mean of three samples is low-pass enough here.
        return np.asarray(found.reshape(-1, per_sample).mean(axis=1), np.float32)

    def _now(self) -> int:
        if self._began_s is None:
            return 0
        return round((asyncio.get_running_loop().time() - self._began_s) * RATE_HZ)

    def _cut(self, part: _Part) -> None:
        """End ``part`` now."""
        if part not in self._waiting:
            return
        part.samples = part.samples[: max(self._now() - part.start, 0)]
        if not len(part.samples):
            self._parts.remove(part)
        self._finish(part)

    def _finish(self, part: _Part) -> None:
        if part in self._waiting:
            self._waiting.remove(part)
            if not part.heard.done():
                part.heard.set_result(None)

    def _write(self, out: soundfile.SoundFile) -> None:
        at = 0
        for part in self._parts:
            _write_silence(out, part.start - at)
            heard = part.samples * self._gain.factors(part.start, len(part.samples))
            out.write(np.clip(heard, -1, 1))
            at = part.end
        _write_silence(out, self._length - at)


def _write_silence(out: soundfile.SoundFile, samples: int) -> None:
    for done in range(0, samples, _SILENCE_SAMPLES):
        out.write(np.zeros(min(_SILENCE_SAMPLES, samples - done), np.float32))


def _unwritable(path: Path, error: Exception) -> RecordingError:
    reason = getattr(error, "strerror", None) or str(error)
    return RecordingError(
        f"{path} cannot be written: {reason.lower()}.",
        mend="Name a file in a folder that exists, is yours and has room.",
        file=path,
    )
