"""A file in place of the loudspeaker: each sound where it would be heard."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from voice_agent.audio.format import Sound, read_recording
from voice_agent.audio.timeline import RATE_HZ, TimelineSpeaker
from voice_agent.errors import RecordingError

TONE = Sound(np.full(4_800, 0.5, np.float32), RATE_HZ)


def loud(file: Path) -> tuple[float, float]:
    """When the file's sound begins and ends, in seconds."""
    at = np.flatnonzero(np.abs(read_recording(file).samples) > 0.2) / 16_000
    return float(at[0]), float(at[-1])


async def test_a_sound_stands_where_it_was_heard_and_silence_around_it(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    with TimelineSpeaker(tmp_path / "out.wav") as speaker:
        speaker.begin(loop.time() - 1.0)
        assert await speaker.play(TONE) == 4_800
        speaker.played(loop.time() + 0.9, 1_600)
    begin, end = loud(tmp_path / "out.wav")
    assert begin >= 1.0
    assert end - begin == pytest.approx(0.1, abs=0.01)
    assert read_recording(tmp_path / "out.wav").seconds >= begin + 1.0


async def test_sounds_follow_each_other_without_a_gap(tmp_path: Path) -> None:
    with TimelineSpeaker(tmp_path / "out.wav") as speaker:
        speaker.begin(asyncio.get_running_loop().time())
        heard = await asyncio.gather(speaker.play(TONE), speaker.play(TONE))
    begin, end = loud(tmp_path / "out.wav")
    assert (heard, speaker.played_samples) == ([4_800, 4_800], 9_600)
    assert end - begin == pytest.approx(0.2, abs=0.01)


async def test_abort_cuts_the_sound_and_drops_what_waits(tmp_path: Path) -> None:
    with TimelineSpeaker(tmp_path / "out.wav") as speaker:
        speaker.begin(asyncio.get_running_loop().time())
        long = Sound(np.full(RATE_HZ * 60, 0.5, np.float32), RATE_HZ)
        playing = [asyncio.create_task(speaker.play(sound)) for sound in (long, TONE)]
        await asyncio.sleep(0.05)
        speaker.abort()
        first, second = await asyncio.gather(*playing)
    assert 0 < first < len(long.samples)
    assert second == 0
    begin, end = loud(tmp_path / "out.wav")
    assert end - begin == pytest.approx(first / RATE_HZ, abs=0.01)


async def test_what_was_played_is_the_reference_at_its_time(tmp_path: Path) -> None:
    with TimelineSpeaker(tmp_path / "out.wav") as speaker:
        began_s = asyncio.get_running_loop().time()
        speaker.begin(began_s)
        await speaker.play(TONE)
        whole = speaker.played(began_s, 16_000)
        late = speaker.played(began_s + 0.5, 8_000)
    begin, _ = loud(tmp_path / "out.wav")
    assert np.flatnonzero(whole)[0] / 16_000 == pytest.approx(begin, abs=0.005)
    assert np.count_nonzero(whole) == pytest.approx(1_600, abs=2)
    assert not late[8_000 - int((0.9 - begin) * 16_000) :].any()


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="missing"), TimelineSpeaker(tmp_path / "missing/out"):
        pass


def test_a_session_that_never_began_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "out.wav").write_text("old")
    with TimelineSpeaker(tmp_path / "out.wav"):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["out.wav"]
    assert (tmp_path / "out.wav").read_text() == "old"


async def test_a_sound_that_nobody_wants_any_more_ends_alone(tmp_path: Path) -> None:
    with TimelineSpeaker(tmp_path / "out.wav") as speaker:
        speaker.begin(asyncio.get_running_loop().time())
        long = Sound(np.full(RATE_HZ * 60, 0.5, np.float32), RATE_HZ)
        unwanted = asyncio.create_task(speaker.play(long))
        await asyncio.sleep(0.05)
        unwanted.cancel()
        await asyncio.sleep(0)
        assert await speaker.play(TONE) == 4_800
    begin, end = loud(tmp_path / "out.wav")
    assert 0.1 < end - begin < 5.0
