"""The verbs that talk to the assistant that runs: on a real one, with models and sound server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from voice_agent.bench.sound_server import sound_server
from voice_agent.control.client import connected

VERBS = ("status", "listen", "cancel", "mute", "unmute", "stop", "repeat", "follow")


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "voice_agent", *args]


def say(env: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*args), env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user with nothing but the small model."""
    homes = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "CACHE")}
    small = {
        "VOICE_AGENT_LLM__MODEL": "qwen2.5-coder-0.5b-instruct",
        "VOICE_AGENT_RESEARCH__MAX_STEPS": "2",
        "VOICE_AGENT_RESEARCH__TIMEOUT_S": "10",
    }
    return os.environ | homes | small | {"XDG_RUNTIME_DIR": str(tmp_path)}


@contextmanager
def running(env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(command("run"), env=env, stdout=pipe, stderr=pipe, text=True) as child:
        try:
            assert child.stderr is not None
            while "listening for" not in (line := child.stderr.readline()):
                assert line, "it ended"
            yield child
        finally:
            child.kill()


def status(env: dict[str, str]) -> dict[str, Any]:
    shown = say(env, "status", "--json")
    told: dict[str, Any] = json.loads(shown.stdout)
    return told


@pytest.mark.parametrize("verb", VERBS)
def test_without_an_assistant_one_line_says_so(home: dict[str, str], verb: str) -> None:
    done = say(home, verb)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("voice-agent: No voice-agent is running. Start it with ")
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def env(home: dict[str, str], tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a user who has a microphone and a loudspeaker, too."""
    with sound_server(tmp_path) as server:
        yield home | server.devices


def events_of_a_question(socket: Path, text: str) -> list[str]:
    with connected(socket) as asking:
        asking.request("ask", text=text)
        names = [event["event"] for event in until_ending(asking.events())]
    return names


def until_ending(events: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for event in events:
        yield event
        if event["event"] in ("answer", "cancelled", "error"):
            return


def test_an_assistant_at_work_obeys(env: dict[str, str]) -> None:
    with running(env) as child:
        assert status(env)["state"] == "idle"
        assert status(env)["devices"]["input"]
        assert say(env, "listen").returncode == 0
        assert status(env)["state"] == "listening"
        assert say(env, "cancel").returncode == 0
        assert say(env, "mute").returncode == 0
        assert "microphone is muted" in say(env, "listen").stderr
        second = say(env, "run")
        assert (second.returncode, len(second.stderr.splitlines())) == (1, 1)
        assert "running already" in second.stderr
        assert say(env, "stop").returncode == 0
        assert child.wait(30) == 0


def test_a_question_over_the_socket_is_answered_and_can_be_followed(
    env: dict[str, str], tmp_path: Path
) -> None:
    with running(env), (tmp_path / "seen").open("w") as seen:
        following = subprocess.Popen(command("follow"), env=env, stdout=seen)
        while status(env)["clients"] < 2:
            assert following.poll() is None
        socket = tmp_path / "voice-agent" / "control.sock"
        names = events_of_a_question(socket, "What is the colour of the car?")
        assert (names[0], names[-1]) == ("asked", "answer")
        assert say(env, "stop").returncode == 0
        assert following.wait(30) == 0
    assert (tmp_path / "seen").read_text().startswith("You: What is the colour of the car?\n")


def test_a_stop_ends_it_while_it_starts(env: dict[str, str]) -> None:
    with subprocess.Popen(command("run"), env=env) as child:
        while say(env, "stop").returncode:
            assert child.poll() is None
        assert child.wait(30) == 0


def test_a_setting_is_taken_up_or_needs_a_restart(env: dict[str, str]) -> None:
    with running(env):
        taken_up = say(env, "settings", "set", "tts.rate", "1.2")
        restart = say(env, "settings", "set", "wake.threshold", "0.5")
        assert say(env, "stop").returncode == 0
    assert (taken_up.returncode, restart.returncode) == (0, 0)
    assert "taken up already: tts.rate." in taken_up.stderr
    assert "needs a restart for wake.threshold." in restart.stderr
