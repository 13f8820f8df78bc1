"""What the loudspeaker plays, by the time when it is heard: the echo canceller's reference."""

from collections import deque
from typing import Protocol

import numpy as np
import soxr  # type: ignore[import-untyped]  # has no types
from numpy.typing import NDArray

from voice_agent.audio import portaudio
from voice_agent.audio.format import SAMPLE_RATE_HZ

_KEPT_SAMPLES = 3 * SAMPLE_RATE_HZ
_LEAD_S = 0.03
"""The reference may lead its echo, but never lag behind it; a device's clock errs by less."""
_OUT_OF_STEP_SAMPLES = int(0.03 * SAMPLE_RATE_HZ)


class Reference(Protocol):
    """Knows what has been played."""

    def played(self, start_s: float, samples: int) -> NDArray[np.float32]:
        """Return what was heard from ``start_s`` on: float32 of shape (samples,) at 16 kHz.

        Times are of the event loop's clock; silence where nothing was played.
        """


class PlayedSound:
    """The reference of a loudspeaker that plays at ``rate_hz``.

    A stream's blocks are joined without jitter; only a new stream, or one that has lost its step,
    begins at its own time.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._sent: deque[tuple[portaudio.Block, float]] = deque()
        self._samples = np.zeros(0, np.float32)
        self._start = 0
        self._fed = 0
        self._stream_start = 0
        self._resampler: soxr.ResampleStream | None = None

    def take(self, block: portaudio.Block, heard_at_s: float) -> None:
        """Note a block, shape (frames, channels), that was sent (on PortAudio's thread)."""
        self._sent.append((block[:, 0].copy(), heard_at_s))

    def played(self, start_s: float, samples: int) -> NDArray[np.float32]:
        """Return what was heard from ``start_s`` on: float32 of shape (samples,) at 16 kHz."""
        while self._sent:
            self._join(*self._sent.popleft())
        surplus = len(self._samples) - _KEPT_SAMPLES
        if surplus > 0:
            self._samples = self._samples[surplus:]
            self._start += surplus
        first = round(start_s * SAMPLE_RATE_HZ)
        found = np.zeros(samples, np.float32)
        begin, end = max(first, self._start), min(first + samples, self._end)
        if begin < end:
            found[begin - first : end - first] = self._samples[
                begin - self._start : end - self._start
            ]
        return found

    @property
    def _end(self) -> int:
        return self._start + len(self._samples)

    def _join(self, block: NDArray[np.float32], heard_at_s: float) -> None:
        at = round((heard_at_s - _LEAD_S) * SAMPLE_RATE_HZ)
        expected = self._stream_start + round(self._fed * SAMPLE_RATE_HZ / self._rate_hz)
        if self._resampler is None or abs(at - expected) > _OUT_OF_STEP_SAMPLES:
            self._begin(at)
        assert self._resampler is not None
        self._fed += len(block)
        coming = np.asarray(self._resampler.resample_chunk(block), np.float32)
        self._samples = np.concatenate([self._samples, coming])

    def _begin(self, at: int) -> None:
        """Begin a new stream at sample ``at``; what an old one had sent beyond is gone."""
        self._resampler = soxr.ResampleStream(self._rate_hz, SAMPLE_RATE_HZ, 1, dtype="float32")
        self._stream_start, self._fed = at, 0
        if not self._start <= at <= self._end + _KEPT_SAMPLES:
            self._samples, self._start = np.zeros(0, np.float32), at
            return
        kept = self._samples[: at - self._start]
        self._samples = np.pad(kept, (0, at - self._start - len(kept)))
