"""Recordings of questions: kept only where wanted, private, and gone in time."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from voice_agent.audio.format import Sound, read_recording
from voice_agent.ledger import Ledger
from voice_agent.ledger.recordings import Recordings

SOUND = Sound(np.full(16_000, 0.25, np.float32), 16_000)
NOW_S = 1_000_000.0


def recordings(folder: Path, *, wanted: bool = True, clock_s: float = NOW_S) -> Recordings:
    return Recordings(folder / "recordings", wanted=wanted, max_age_days=7, clock=lambda: clock_s)


def all_of_them(turns: Sequence[int]) -> Sequence[int]:
    return turns


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
    assert made.tidy(all_of_them) == 1
    assert kept(tmp_path) == ["turn-2.wav"]


def test_what_was_kept_before_goes_in_time_though_nothing_is_kept_any_more(tmp_path: Path) -> None:
    recordings(tmp_path).keep(1, SOUND)
    late_s = (tmp_path / "recordings/turn-1.wav").stat().st_mtime + 8 * 86_400
    assert recordings(tmp_path, wanted=False, clock_s=late_s).tidy(all_of_them) == 1
    assert kept(tmp_path) == []


def test_the_recording_goes_with_its_turn_and_so_does_what_a_killed_program_left(
    tmp_path: Path,
) -> None:
    made = recordings(tmp_path)
    made.keep(1, SOUND)
    made.keep(2, SOUND)
    (tmp_path / "recordings/.turn-3.wav.99.part").touch()
    made.tidy(lambda turns: {2})
    assert kept(tmp_path) == ["turn-2.wav"]


def test_the_ledger_is_asked_once_for_all_of_them(tmp_path: Path) -> None:
    made, asked = recordings(tmp_path), list[list[int]]()

    def existing(turns: Sequence[int]) -> set[int]:
        asked.append(sorted(turns))
        return {1, 2, 3}

    for turn in (1, 2, 3):
        made.keep(turn, SOUND)
    assert made.tidy(existing) == 0
    assert asked == [[1, 2, 3]] and len(kept(tmp_path)) == 3


def test_while_it_runs_it_is_tidied_once_a_day(tmp_path: Path) -> None:
    moments_s = iter([0.0, 86_000.0, 86_400.0, 86_400.0, 87_000.0])
    made = Recordings(tmp_path, wanted=True, max_age_days=7, clock=lambda: next(moments_s))
    made.tidy(all_of_them)
    (tmp_path / "turn-9.wav").touch()
    assert [made.tidy_daily(lambda turns: ()) for _ in range(3)] == [0, 1, 0]


def test_the_ledger_knows_which_turns_are_there(ledger: Ledger) -> None:
    talk = ledger.begin_conversation()
    turn = ledger.begin_turn("Why?", kind="typed", language="en", conversation=talk)
    assert ledger.existing([turn, turn + 1, 10**18]) == {turn}
    assert ledger.existing([]) == set()


def test_a_disk_that_does_not_allow_it_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "recordings").write_text("a file is in the way")
    recordings(tmp_path).keep(1, SOUND)
    assert "The recording of turn 1 could not be kept" in caplog.text
