"""Cues: the short sounds that say without words what the assistant is doing.

Each is a few soft sine tones: rising where the assistant begins to listen, falling where it stops.
They are far shorter than speech and lie above a voice's pitch: lower ones were taken for speech by
the voice detector.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import Sound

Cue = Literal["wake", "end_of_question", "thinking", "cancelled", "error", "no_speech"]
CUES: tuple[Cue, ...] = get_args(Cue)
RATE_HZ = 48_000
LOUDEST = 0.5
"""The peak of the loudest cue at volume 1: that of speech, about."""

_EDGE_S = 0.012


@dataclass(frozen=True)
class _Tone:
    hz: float
    seconds: float
    level: float = 1.0


_TONES: dict[Cue, tuple[_Tone, ...]] = {
    "wake": (_Tone(660, 0.06), _Tone(880, 0.08)),
    "end_of_question": (_Tone(880, 0.05, 0.6), _Tone(660, 0.06, 0.6)),
    "thinking": (_Tone(587, 0.09, 0.35),),
    "cancelled": (_Tone(587, 0.07, 0.6), _Tone(392, 0.1, 0.6)),
    "error": (_Tone(784, 0.08, 0.6), _Tone(659, 0.08, 0.6), _Tone(523, 0.1, 0.6)),
    "no_speech": (_Tone(523, 0.08, 0.4), _Tone(440, 0.1, 0.4)),
}


def cue_sound(cue: Cue, volume: float) -> Sound:
    """Return a cue: float32 of shape (n,) at `RATE_HZ`, its peak at most ``volume * LOUDEST``.

    ``volume`` is from 0 to 1. It begins and ends with silence, so that nothing clicks.
    """
    tones = [_samples(tone) for tone in _TONES[cue]]
    return Sound(np.concatenate(tones) * np.float32(volume * LOUDEST), RATE_HZ)


def _samples(tone: _Tone) -> NDArray[np.float32]:
    """Return a tone under raised-cosine edges; float32 of shape (n,)."""
    at_s = np.arange(round(tone.seconds * RATE_HZ)) / RATE_HZ
    phase = 2 * np.pi * tone.hz * at_s
    wave = np.sin(phase)
    to_edge_s = np.minimum(at_s, at_s[::-1])
    rise = 0.5 - 0.5 * np.cos(np.pi * np.minimum(to_edge_s / _EDGE_S, 1))
    return np.asarray(tone.level * wave * rise, np.float32)
