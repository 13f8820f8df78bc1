"""How loud sound is, in dBFS: 0 is the loudest a sample can be."""

import math

import numpy as np
from numpy.typing import NDArray

FLOOR_DBFS = -120.0
"""Said of digital silence, whose level has no number."""


def rms_dbfs(samples: NDArray[np.float32]) -> float:
    """Return the root mean square level of samples in [-1, 1], any shape."""
    power = float(np.mean(np.square(samples, dtype=np.float64))) if samples.size else 0.0
    return max(10 * math.log10(power), FLOOR_DBFS) if power > 0 else FLOOR_DBFS


def peak_dbfs(samples: NDArray[np.float32]) -> float:
    """Return the level of the largest sample in [-1, 1], any shape."""
    peak = float(np.abs(samples).max()) if samples.size else 0.0
    return max(20 * math.log10(peak), FLOOR_DBFS) if peak > 0 else FLOOR_DBFS
