"""Where sound begins and ends in a recording: plain functions on the levels of 10 ms frames."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.level import FLOOR_DBFS

FRAME_S = 0.01
SOUND_DBFS = -60.0
"""A frame that is louder is sound; a virtual loudspeaker's silence is digital."""
WORD_END_DB = 26.0
"""A word ends with its last frame that is less than this below its loudest one."""


@dataclass(frozen=True)
class Span:
    """A stretch of sound, in seconds from the recording's first sample."""

    start_s: float
    end_s: float


def frame_levels(samples: NDArray[np.float32], rate_hz: int) -> NDArray[np.float64]:
    """Return the root mean square level of each whole frame in dBFS, shape (frames,)."""
    size = round(FRAME_S * rate_hz)
    frames = samples[: len(samples) // size * size].reshape(-1, size).astype(np.float64)
    power = np.square(frames).mean(axis=1)
    return np.asarray(10 * np.log10(np.maximum(power, 10 ** (FLOOR_DBFS / 10))), np.float64)


def word_end_s(levels: NDArray[np.float64]) -> float | None:
    """Return where a word in otherwise silent frames ends; None if there is no sound."""
    if not len(levels) or levels.max() <= SOUND_DBFS:
        return None
    last = int(np.flatnonzero(levels > levels.max() - WORD_END_DB)[-1])
    return round((last + 1) * FRAME_S, 4)


def sounds(levels: NDArray[np.float64], *, gap_s: float = 0.03) -> list[Span]:
    """Return the stretches of sound; shorter pauses than ``gap_s`` do not part them."""
    loud = np.flatnonzero(levels > SOUND_DBFS)
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) > round(gap_s / FRAME_S))
    starts = loud[np.concatenate([[0], breaks + 1])]
    ends = loud[np.concatenate([breaks, [len(loud) - 1]])]
    return [
        Span(round(int(start) * FRAME_S, 4), round((int(end) + 1) * FRAME_S, 4))
        for start, end in zip(starts, ends, strict=True)
    ]


def last_sound_s(levels: NDArray[np.float64], until_s: float) -> float | None:
    """Return where the last sound ends that began before ``until_s``, looking no further."""
    loud = np.flatnonzero(levels[: max(round(until_s / FRAME_S), 0)] > SOUND_DBFS)
    return round((int(loud[-1]) + 1) * FRAME_S, 4) if len(loud) else None


def sounding_s(levels: NDArray[np.float64], from_s: float) -> float:
    """Return how many seconds of sound there are from ``from_s`` on."""
    return round(int((levels[max(round(from_s / FRAME_S), 0) :] > SOUND_DBFS).sum()) * FRAME_S, 4)


def first_sound_s(spans: Sequence[Span], from_s: float) -> float | None:
    """Return where the first stretch begins that does so at ``from_s`` or later."""
    return next((span.start_s for span in spans if span.start_s >= from_s), None)
