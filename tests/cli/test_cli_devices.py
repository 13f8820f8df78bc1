"""``devices``: the list, the level and the test, on a real sound server."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from voice_agent.bench.loudness import frame_levels, sounds
from voice_agent.bench.sound_server import RATE_HZ, SoundServer, read, sound_server
from voice_agent.cli.devices import bar, notes


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    with sound_server(tmp_path, echo=True) as server:
        yield server


def devices(env: dict[str, str], *args: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "voice_agent", "devices", *args]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def rows_of(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_devices_are_listed(server: SoundServer) -> None:
    done = devices(server.env, "--json")
    assert done.stderr == ""
    assert [row["name"] for row in rows_of(done) if row["default_output"]] == ["default"]


def test_the_level_is_that_of_what_the_microphone_hears(
    server: SoundServer, tmp_path: Path
) -> None:
    tone = 0.1 * np.sin(2 * np.pi * 440 * np.arange(20 * RATE_HZ) / RATE_HZ)
    soundfile.write(tmp_path / "tone.wav", tone, RATE_HZ)
    with server.playing(tmp_path / "tone.wav"):
        *levels, lost = rows_of(devices(server.env, "--level", "2", "--json"))
    assert levels[-1]["t_s"] == pytest.approx(2.0, abs=0.05)
    loudest = max(levels, key=lambda row: float(row["rms_dbfs"]))  # a busy machine loses some
    assert loudest["rms_dbfs"] == pytest.approx(-23, abs=1)
    assert loudest["peak_dbfs"] == pytest.approx(-20, abs=1)
    assert set(lost) == {"overruns", "dropped_blocks"}


def test_the_test_plays_records_and_plays_the_recording(
    server: SoundServer, tmp_path: Path
) -> None:
    soundfile.write(tmp_path / "hum.wav", 0.1 * np.sin(np.arange(30 * RATE_HZ) / 20), RATE_HZ)
    with server.playing(tmp_path / "hum.wav"), server.recording(tmp_path / "heard"):
        done = devices(server.env, "--test")
    heard = sounds(frame_levels(read(tmp_path / "heard"), RATE_HZ), gap_s=0.5)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The microphone works" in done.stdout
    assert heard[0].end_s - heard[0].start_s == pytest.approx(0.75, abs=0.1)
    assert heard[-1].end_s - heard[-1].start_s == pytest.approx(3.0, abs=0.2)


def test_a_silent_microphone_fails_the_test(tmp_path: Path) -> None:
    with sound_server(tmp_path) as server:
        done = devices(server.env, "--test", "--json")
    (row,) = rows_of(done)
    assert (done.returncode, row["heard_something"]) == (1, False)


def test_a_bar_is_longer_the_louder_it_is_and_says_when_it_is_too_loud() -> None:
    quiet, loud = bar(-40.0, -30.0), bar(-20.0, 0.0)
    assert quiet.count("#") < loud.count("#")
    assert ("too loud" in quiet, "too loud" in loud) == (False, True)
    assert "#" not in bar(-120.0, -120.0)


def test_the_test_sound_is_three_notes_without_a_click() -> None:
    sound = notes()
    assert sound.seconds == pytest.approx(0.75)
    assert abs(sound.samples[[0, -1]]).max() < 0.001
