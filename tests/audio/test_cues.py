"""The cues as sound: short, soft, and each different from the others."""

import numpy as np
import pytest

from voice_agent.audio.cues import CUES, LOUDEST, RATE_HZ, Cue, cue_sound


@pytest.mark.parametrize("cue", CUES)
def test_a_cue_is_short_and_clicks_nowhere(cue: Cue) -> None:
    sound = cue_sound(cue, 1.0)
    assert (sound.samples.dtype, sound.rate_hz) == (np.float32, RATE_HZ)
    assert 0.05 < sound.seconds < 0.4
    assert abs(sound.samples[0]) < 0.001 and abs(sound.samples[-1]) < 0.01
    assert np.abs(np.diff(sound.samples)).max() < 0.15


@pytest.mark.parametrize("cue", CUES)
def test_the_volume_is_the_most_it_reaches(cue: Cue) -> None:
    loud, soft = (np.abs(cue_sound(cue, volume).samples).max() for volume in (1.0, 0.2))
    assert loud <= LOUDEST
    assert soft == pytest.approx(0.2 * loud)


def test_no_two_cues_are_the_same() -> None:
    assert len({cue_sound(cue, 1.0).samples.tobytes() for cue in CUES}) == len(CUES)


def test_thinking_is_the_softest_cue() -> None:
    peaks = {cue: np.abs(cue_sound(cue, 1.0).samples).max() for cue in CUES}
    assert min(peaks, key=lambda cue: peaks[cue]) == "thinking"
