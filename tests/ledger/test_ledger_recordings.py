"""Recordings of questions: kept only where wanted, private, and gone in time."""

import os
from pathlib import Path

import numpy as np
import pytest

from voice_agent.audio.format import Sound, read_recording
from voice_agent.ledger.recordings import Recordings

SOUND = Sound(np.full(16_000, 0.25, np.float32), 16_000)
NOW_S = 1_000_000.0


def recordings(folder: Path, *, wanted: bool = True, clock_s: float = NOW_S) -> Recordings:
    return Recordings(folder / "recordings", wanted=wanted, max_age_days=7, clock=lambda: clock_s)


def kept(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / "recordings").glob("*"))


def test_nothing_is_kept_that_nobody_asked_for(tmp_path: Path) -> None:
    recordings(tmp_path, wanted=False).keep(1, SOUND)
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_is_the_sound_and_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        recordings(tmp_path).keep(3, SOUND)
    finally:
        os.umask(old)
    (file,) = (tmp_path / "recordings").iterdir()
    assert (file.name, read_recording(file).seconds) == ("turn-3.wav", 1.0)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_is_too_old_is_deleted(tmp_path: Path) -> None:
    made = recordings(tmp_path)
    for turn, age_days in ((1, 8), (2, 6)):
        made.keep(turn, SOUND)
        moment_s = NOW_S - age_days * 86_400
        os.utime(tmp_path / "recordings" / f"turn-{turn}.wav", (moment_s, moment_s))
    assert made.tidy(lambda turn: True) == 1
    assert kept(tmp_path) == ["turn-2.wav"]


def test_what_was_kept_before_goes_in_time_though_nothing_is_kept_any_more(tmp_path: Path) -> None:
    recordings(tmp_path).keep(1, SOUND)
    late_s = (tmp_path / "recordings/turn-1.wav").stat().st_mtime + 8 * 86_400
    assert recordings(tmp_path, wanted=False, clock_s=late_s).tidy(lambda turn: True) == 1
    assert kept(tmp_path) == []


def test_the_recording_goes_with_its_turn_and_so_does_what_a_killed_program_left(
    tmp_path: Path,
) -> None:
    made = recordings(tmp_path)
    made.keep(1, SOUND)
    made.keep(2, SOUND)
    (tmp_path / "recordings/.turn-3.wav.99.part").touch()
    made.tidy(lambda turn: turn == 2)
    assert kept(tmp_path) == ["turn-2.wav"]


def test_a_disk_that_does_not_allow_it_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "recordings").write_text("a file is in the way")
    recordings(tmp_path).keep(1, SOUND)
    assert "The recording of turn 1 could not be kept" in caplog.text
