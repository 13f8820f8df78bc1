"""What has just been heard, so that a question is whole that began before it was noticed."""

import numpy as np
from numpy.typing import NDArray


class PreRoll:
    """A ring of the last samples of a stream, float32, which are asked for by their positions."""

    def __init__(self, capacity_samples: int) -> None:
        self._ring = np.zeros(capacity_samples, np.float32)
        self._end = 0

    @property
    def end(self) -> int:
        """The position after the last sample."""
        return self._end

    @property
    def start(self) -> int:
        """The position of the oldest sample that is still there."""
        return max(0, self._end - len(self._ring))

    def append(self, samples: NDArray[np.float32]) -> None:
        """Add ``samples``, shape (n,), no more than the ring holds."""
        at = self._end % len(self._ring)
        first = samples[: len(self._ring) - at]
        self._ring[at : at + len(first)] = first
        rest = samples[len(first) :]
        self._ring[: len(rest)] = rest
        self._end += len(samples)

    def between(self, start: int, end: int) -> NDArray[np.float32]:
        """Return a copy of the samples from ``start`` to before ``end``, as far as they are here.

        Float32 of shape (n,), at the stream's rate.
        """
        start, end = max(start, self.start), min(end, self._end)
        if end <= start:
            return np.zeros(0, np.float32)
        places = np.arange(start, end) % len(self._ring)
        return self._ring[places]
