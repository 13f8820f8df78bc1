"""Where speech is in a sound, and how it is cut into pieces that fit one window.

Positions are sample numbers at 16 kHz; a span is (start, end), end exclusive.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ

Span = tuple[int, int]

LONGEST_PIECE_S = 25
"""Speech in one piece; with its padding it stays under the 30 s that Whisper can see."""

_STRETCH_SAMPLES = 300 * SAMPLE_RATE_HZ
_QUIET_PEAK = 0.1
_MOST_GAIN = 20.0


def speech_spans(
    samples: NDArray[np.float32], find: Callable[[NDArray[np.float32]], list[Span]]
) -> Iterator[Span]:
    """Yield the spans of speech in ``samples``, float32 of shape (n,), in order.

    ``find`` looks at five minutes at a time, so that two hours take no more memory than that.
    Speech that goes on past a stretch's end is looked at again from its start.
    """
    start = 0
    while start < len(samples):
        end = min(start + _STRETCH_SAMPLES, len(samples))
        spans = [(start + first, start + last) for first, last in find(samples[start:end])]
        if end < len(samples) and spans and spans[-1][1] == end and spans[-1][0] > start:
            end = spans.pop()[0]
        yield from spans
        start = end


def pieces(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Yield neighbouring spans together, as many as `LONGEST_PIECE_S` holds.

    A longer span comes alone.
    """
    piece: list[Span] = []
    room = LONGEST_PIECE_S * SAMPLE_RATE_HZ
    for start, end in spans:
        if piece and end - start > room:
            yield piece
            piece, room = [], LONGEST_PIECE_S * SAMPLE_RATE_HZ
        piece.append((start, end))
        room -= end - start
    if piece:
        yield piece


def cut(samples: NDArray[np.float32], piece: list[Span]) -> NDArray[np.float32]:
    """Return the sound of one piece, without what lies between its spans."""
    return np.concatenate([samples[start:end] for start, end in piece])


def audible(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``samples`` raised if they are very quiet.

    Silero VAD finds nothing in speech whose peak is under 0.01 of full scale, as from a microphone
    that is set too low; Whisper hears it well.
    """
    peak = float(np.abs(samples).max(initial=0))
    if not 0 < peak < _QUIET_PEAK:
        return samples
    return samples * np.float32(min(_QUIET_PEAK / peak, _MOST_GAIN))
