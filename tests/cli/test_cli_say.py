"""``say`` and ``devices`` as a user runs them, with and without a sound server."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from voice_agent.audio.format import read_recording
from voice_agent.bench.sound_server import RATE_HZ, SoundServer, read, sound_server


def run(env: dict[str, str], *args: str, text: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "voice_agent", *args]
    return subprocess.run(command, env=env, input=text, capture_output=True, text=True, check=False)


@pytest.fixture
def silent(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose loudspeaker is not there."""
    return os.environ | {
        "PULSE_SERVER": "unix:/nonexistent",
        "VOICE_AGENT_AUDIO__OUTPUT_DEVICE": "not connected",
        "XDG_CONFIG_HOME": str(tmp_path),
    }


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    with sound_server(tmp_path) as server:
        yield server


def test_a_text_is_spoken_aloud_to_its_end(server: SoundServer, tmp_path: Path) -> None:
    with server.recording(tmp_path / "heard"):
        done = run(server.env, "say", "--json", "It costs **$3.20**. Thank you [1].")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    assert [e["text"] for e in events if e["event"] == "sentence"] == [
        "It costs three dollars twenty cents.",
        "Thank you.",
    ]
    assert events[-1]["heard_text"] == "It costs three dollars twenty cents. Thank you."
    assert np.count_nonzero(np.abs(read(tmp_path / "heard")) > 0.01) > 0.5 * RATE_HZ


def test_an_interrupt_ends_it_without_a_word(server: SoundServer) -> None:
    command = [sys.executable, "-m", "voice_agent", "say", "--json", "One two three four. " * 20]
    with subprocess.Popen(
        command, env=server.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        while "playback_started" not in child.stdout.readline():
            pass
        child.send_signal(signal.SIGINT)
        assert child.communicate()[1] == ""
    assert child.returncode == 130


def test_the_text_may_come_from_a_pipe_and_go_into_a_file(
    silent: dict[str, str], tmp_path: Path
) -> None:
    done = run(silent, "say", "--out", str(tmp_path / "said.wav"), text="Good morning.\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert 0.4 < read_recording(tmp_path / "said.wav").seconds < 3


def test_without_a_loudspeaker_it_says_what_to_do(silent: dict[str, str]) -> None:
    done = run(silent, "say", "Good morning.")
    assert (done.returncode, done.stdout) == (3, "")
    assert "no loudspeaker" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["", "...", "**<br>**"])
def test_nothing_to_say_is_said_and_nothing_written(
    silent: dict[str, str], tmp_path: Path, text: str
) -> None:
    done = run(silent, "say", text, "--out", str(tmp_path / "said.wav"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing to say" in done.stderr
    assert not (tmp_path / "said.wav").exists()


def test_an_unknown_loudspeaker_is_answered_with_those_there_are(server: SoundServer) -> None:
    env = server.env | {"VOICE_AGENT_AUDIO__OUTPUT_DEVICE": "radio"}
    done = run(env, "say", "Good morning.")
    assert done.returncode == 3
    assert "'radio'" in done.stderr
    assert "'pulse'" in done.stderr
