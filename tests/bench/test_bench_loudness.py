"""Where sound begins and ends."""

import numpy as np
import pytest
from numpy.typing import NDArray

from voice_agent.bench.loudness import (
    Span,
    first_sound_s,
    frame_levels,
    last_sound_s,
    sounding_s,
    sounds,
    word_end_s,
)

RATE_HZ = 16_000


def levels(*parts: tuple[float, float]) -> NDArray[np.float64]:
    """Frame levels of tones: (seconds, amplitude) one after the other."""
    tones = [
        amplitude * np.sin(np.arange(round(seconds * RATE_HZ)) / 3) for seconds, amplitude in parts
    ]
    return frame_levels(np.concatenate(tones).astype(np.float32), RATE_HZ)


def test_a_frame_is_ten_milliseconds_and_its_level_in_dbfs() -> None:
    found = levels((0.1, 1.0), (0.1, 0.0))
    assert len(found) == 20
    assert found[3] == pytest.approx(-3.0, abs=0.2)
    assert found[15] == -120


def test_a_word_ends_with_its_last_frame_above_26_db_under_the_loudest() -> None:
    assert word_end_s(levels((0.2, 0.0), (0.3, 0.5), (0.1, 0.03), (0.2, 0.02))) == 0.6


def test_silence_holds_no_word() -> None:
    assert word_end_s(levels((0.5, 0.0))) is None


def test_short_pauses_do_not_part_a_sound() -> None:
    found = sounds(levels((0.1, 0.0), (0.1, 0.5), (0.02, 0.0), (0.1, 0.5), (0.2, 0.0), (0.1, 0.5)))
    assert found == [Span(0.1, 0.32), Span(0.52, 0.62)]


def test_the_last_sound_is_looked_for_up_to_a_moment_only() -> None:
    found = levels((0.3, 0.5), (0.3, 0.0), (0.3, 0.5))
    assert last_sound_s(found, 0.5) == 0.3
    assert last_sound_s(found, 2.0) == 0.9
    assert last_sound_s(levels((0.5, 0.0)), 0.5) is None


def test_what_sounds_later_is_counted() -> None:
    assert sounding_s(levels((0.3, 0.5), (0.3, 0.0), (0.2, 0.5)), 0.4) == 0.2


def test_a_sound_that_began_earlier_is_not_the_first_one() -> None:
    cue_and_answer = [Span(0.5, 1.1), Span(1.2, 3.0)]
    assert first_sound_s(cue_and_answer, 1.0) == 1.2
    assert first_sound_s(cue_and_answer, 2.0) is None
