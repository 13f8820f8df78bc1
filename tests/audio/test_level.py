"""Levels in dBFS."""

import numpy as np
import pytest

from voice_agent.audio.level import FLOOR_DBFS, peak_dbfs, rms_dbfs


def test_a_full_sine_peaks_at_zero_and_its_rms_is_three_db_less() -> None:
    sine = np.sin(2 * np.pi * np.arange(16_000) / 16).astype(np.float32)
    assert peak_dbfs(sine) == pytest.approx(0.0, abs=0.01)
    assert rms_dbfs(sine) == pytest.approx(-3.01, abs=0.01)


def test_digital_silence_has_the_lowest_level_and_no_sound_has_none() -> None:
    for samples in (np.zeros(100, np.float32), np.zeros(0, np.float32)):
        assert rms_dbfs(samples) == peak_dbfs(samples) == FLOOR_DBFS
