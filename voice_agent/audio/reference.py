"""What the loudspeaker plays, by the time when it is sent: the echo canceller's reference."""

from collections import deque
from typing import Protocol

import numpy as np
import soxr  # type: ignore[import-untyped]  # has no types
from numpy.typing import NDArray

from voice_agent.audio import portaudio
from voice_agent.audio.format import SAMPLE_RATE_HZ

_KEPT_SAMPLES = 3 * SAMPLE_RATE_HZ
_LEAD_S = 0.03
"""The reference may lead its echo, but never lag behind it. From a sample's sending until its
echo comes back the two devices take 0.01 to 0.07 s (a sound server), by clocks that err less."""
_LATE_S = 0.03


class Reference(Protocol):
    """Knows what has been played."""

    def played(self, start_s: float, samples: int) -> NDArray[np.float32]:
        """Return what was played from ``start_s`` on: float32 of shape (samples,) at 16 kHz.

        Times are of the event loop's clock; silence where nothing was played. It may lead what
        is heard a little.
        """


class PlayedSound:
    """The reference of a loudspeaker that plays at ``rate_hz``: a tap on it.

    A stream's blocks follow each other without a gap, however they are asked for: in bursts, ahead
    of time. Only one that is asked for too late was late for the loudspeaker, too.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._sent: deque[tuple[NDArray[np.float32], float]] = deque()
        self._samples = np.zeros(0, np.float32)
        self._start = 0
        self._stream_start = 0
        self._fed: int | None = None
        self._resampler = self._new_resampler()

    def begin(self, rate_hz: int) -> None:
        """Note that a new stream begins, of ``rate_hz`` frames a second."""
        self._sent.append((np.zeros(0, np.float32), float(rate_hz)))

    def take(self, block: portaudio.Block, sent_at_s: float) -> None:
        """Note a block, shape (frames, channels), that was sent (on PortAudio's thread)."""
        self._sent.append((block[:, 0].copy(), sent_at_s))

    def played(self, start_s: float, samples: int) -> NDArray[np.float32]:
        """Return what was played from ``start_s`` on: float32 of shape (samples,) at 16 kHz."""
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

    def _join(self, block: NDArray[np.float32], sent_at_s: float) -> None:
        if not len(block):
            self._fed, self._rate_hz = None, round(sent_at_s)  # see `begin`
            return
        at = round((sent_at_s - _LEAD_S) * SAMPLE_RATE_HZ)
        if self._fed is None or at > self._expected(self._fed) + _LATE_S * SAMPLE_RATE_HZ:
            self._begin(at)
        self._fed = (self._fed or 0) + len(block)
        coming = np.asarray(self._resampler.resample_chunk(block), np.float32)
        self._samples = np.concatenate([self._samples, coming])

    def _expected(self, fed: int) -> int:
        return self._stream_start + round(fed * SAMPLE_RATE_HZ / self._rate_hz)

    def _begin(self, at: int) -> None:
        """Go on at sample ``at``; what an old stream had sent beyond is gone."""
        self._resampler = self._new_resampler()
        self._stream_start, self._fed = at, 0
        if not self._start <= at <= self._end + _KEPT_SAMPLES:
            self._samples, self._start = np.zeros(0, np.float32), at
            return
        kept = self._samples[: at - self._start]
        self._samples = np.pad(kept, (0, at - self._start - len(kept)))

    def _new_resampler(self) -> soxr.ResampleStream:
        return soxr.ResampleStream(self._rate_hz, SAMPLE_RATE_HZ, 1, dtype="float32")
