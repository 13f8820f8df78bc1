"""How loud what is played is heard: a level that changes in ramps, so that nothing clicks."""

import numpy as np
from numpy.typing import NDArray

RAMP_S = 0.05
"""How long a change between silence and full level takes; a smaller one is as steep."""


class Gain:
    """The level of a stream of ``rate_hz`` frames a second: 1 is full, positions are in frames."""

    def __init__(self, rate_hz: int, level: float = 1.0) -> None:
        self._ramp = RAMP_S * rate_hz
        self._at = [0.0]
        self._levels = [level]

    @property
    def level(self) -> float:
        """What it comes to at last."""
        return self._levels[-1]

    def change(self, level: float, at: int) -> None:
        """Go to ``level`` from frame ``at`` on, which is not before that of an earlier change."""
        if level == self.level:
            return
        now = float(np.interp(at, self._at, self._levels))
        while self._at and self._at[-1] >= at:
            self._at.pop()
            self._levels.pop()
        self._at += [at, at + self._ramp * abs(level - now)]
        self._levels += [now, level]

    def factors(self, first: int, frames: int) -> NDArray[np.float32]:
        """Return the factors of frames from ``first`` on: float32 of shape (frames,)."""
        at = np.arange(first, first + frames)
        return np.interp(at, self._at, self._levels).astype(np.float32)

    def is_full(self, first: int) -> bool:
        """Whether from frame ``first`` on all is heard as it is."""
        return self.level == 1 and first >= self._at[-1]
