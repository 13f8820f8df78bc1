"""``run`` as a user starts it: without a microphone, on recordings, and on a real sound server."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from voice_agent.audio.format import read_recording
from voice_agent.bench.sound_server import sound_server
from voice_agent.tts import PiperVoice

RATE_HZ = 16_000
WAKE, QUESTION = "Hey Jarvis.", "What is the colour of the car?"
Say = Callable[..., NDArray[np.float32]]


@pytest.fixture(scope="module")
def say(models_dir: Path) -> Iterator[Say]:
    """Sound at 16 kHz of texts and, between them, of pauses in seconds."""
    voice = PiperVoice.load(models_dir / "en_US-joe-medium" / "en_US-joe-medium.onnx")

    def say(*parts: str | float) -> NDArray[np.float32]:
        return np.concatenate([spoken(part) for part in parts])

    def spoken(part: str | float) -> NDArray[np.float32]:
        if isinstance(part, str):
            return asyncio.run(voice.synthesize(part)).sound.at(RATE_HZ).samples
        return np.zeros(int(part * RATE_HZ), np.float32)

    yield say
    voice.close()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has the small model, no documents and no sound device."""
    (tmp_path / "none.conf").write_text("</usr/share/alsa/alsa.conf>\npcm.!hw { type none }\n")
    homes = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "CACHE")}
    return (
        os.environ
        | homes
        | {
            "ALSA_CONFIG_PATH": str(tmp_path / "none.conf"),
            "PULSE_SERVER": "unix:/nonexistent",
            "XDG_RUNTIME_DIR": str(tmp_path),
            "VOICE_AGENT_LLM__MODEL": "qwen2.5-coder-0.5b-instruct",
            "VOICE_AGENT_RESEARCH__MAX_STEPS": "2",
            "VOICE_AGENT_RESEARCH__TIMEOUT_S": "10",
        }
    )


def start(env: dict[str, str], *args: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "voice_agent", "run", *map(str, args)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)


def events_of(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def until(child: subprocess.Popen[str], *names: str) -> dict[str, Any]:
    """Read the child's events up to the first with one of ``names``."""
    assert child.stdout is not None
    for line in child.stdout:
        event: dict[str, Any] = json.loads(line)
        if event["event"] in names:
            return event
    raise AssertionError(f"it ended before {names}")


def test_without_a_microphone_a_recording_asks(env: dict[str, str], tmp_path: Path) -> None:
    with start(env) as child:
        output, errors = child.communicate()
    assert child.returncode == 0
    first, second, third, last = errors.splitlines()
    assert "no microphone" in first
    assert "library add FOLDER" in second
    assert "library remove" in second
    assert "no loudspeaker" in third
    assert last.endswith(f"in {tmp_path / 'CACHE' / 'voice-agent' / 'answer.wav'}")
    assert output.startswith("You: How often must I clean the pump filter")
    answer = Path(last.rsplit(" ", 1)[1])
    assert read_recording(answer).seconds > 0.5
    assert [each.stat().st_mode & 0o777 for each in (answer, answer.parent)] == [0o600, 0o700]


def test_the_recorded_question_leaves_a_library_of_ones_own_alone(
    env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "bike.md").write_text("# Bicycle\n\nThe chain is oiled in May.\n")
    command = [sys.executable, "-m", "voice_agent", "library"]
    subprocess.run([*command, "add", str(tmp_path / "mine")], env=env, check=True)
    with start(env) as child:
        _, errors = child.communicate()
    held = subprocess.run([*command, "list"], env=env, check=True, capture_output=True, text=True)
    assert "to the example documents alone" in errors
    assert child.returncode == 0
    assert str(tmp_path / "mine") in held.stdout
    assert "examples" not in held.stdout


def test_no_library_that_we_use_sends_usage_data(env: dict[str, str], tmp_path: Path) -> None:
    with start(env | {"HOME": str(tmp_path)}) as child:
        child.communicate()
    assert not [*tmp_path.rglob("Microsoft")]


def test_a_microphone_that_was_chosen_and_is_missing_is_named(env: dict[str, str]) -> None:
    with start(env | {"VOICE_AGENT_AUDIO__INPUT_DEVICE": "headset"}) as child:
        output, errors = child.communicate()
    assert (child.returncode, output, len(errors.splitlines())) == (3, "", 1)


def test_a_missing_recording_is_named(env: dict[str, str], tmp_path: Path) -> None:
    with start(env, "--input-wav", tmp_path / "missing.wav") as child:
        output, errors = child.communicate()
    assert (child.returncode, output) == (1, "")
    assert "missing.wav does not exist" in errors


def test_files_take_the_place_of_the_devices(env: dict[str, str], tmp_path: Path, say: Say) -> None:
    asked = say(1.5, WAKE, 0.2, QUESTION, 1.0)
    soundfile.write(tmp_path / "asked.wav", asked, RATE_HZ)
    files = ("--input-wav", tmp_path / "asked.wav", "--output-wav", tmp_path / "out.wav")
    with start(env | {"VOICE_AGENT_CUES__VOLUME": "0"}, *files, "--json") as child:
        events = events_of(child.communicate()[0])
    names = [event["event"] for event in events]
    assert child.returncode == 0
    assert names[0] == "wake"
    assert 1.5 < events[0]["t_s"] < 3.5
    assert [n for n in names if n in ("utterance", "transcript", "answer")] == [
        "utterance",
        "transcript",
        "answer",
    ]
    began_s = next(e["t_s"] for e in events if e["event"] == "playback_started")
    written = soundfile.info(tmp_path / "out.wav")
    heard = read_recording(tmp_path / "out.wav").samples
    assert (written.samplerate, written.channels) == (48_000, 1)
    assert written.duration >= len(asked) / RATE_HZ
    assert not heard[: int((began_s - 0.05) * RATE_HZ)].any()
    assert np.abs(heard[int(began_s * RATE_HZ) : int((began_s + 1.0) * RATE_HZ)]).max() > 0.1


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_and_the_file_is_written(
    env: dict[str, str], tmp_path: Path, say: Say, *, sent: signal.Signals, code: int
) -> None:
    soundfile.write(tmp_path / "asked.wav", say(1.5, WAKE, 60.0), RATE_HZ)
    files = ("--input-wav", tmp_path / "asked.wav", "--output-wav", tmp_path / "out.wav")
    with start(env, *files, "--json") as child:
        until(child, "wake")
        child.send_signal(sent)
        child.communicate()
    assert child.returncode == code
    assert 1.5 < soundfile.info(tmp_path / "out.wav").duration < 60


def test_a_reader_that_leaves_ends_it(env: dict[str, str], tmp_path: Path, say: Say) -> None:
    soundfile.write(tmp_path / "asked.wav", say(1.5, WAKE, 1.5, WAKE, 120.0), RATE_HZ)
    files = ("--input-wav", tmp_path / "asked.wav", "--output-wav", tmp_path / "out.wav")
    with start(env, *files, "--json") as child:
        until(child, "wake")
        assert child.stdout is not None and child.stderr is not None
        child.stdout.close()
        errors = child.stderr.read()
    assert child.returncode == 0
    assert "unexpected" not in errors and "Traceback" not in errors
    assert soundfile.info(tmp_path / "out.wav").duration < 60


def test_at_the_desk_the_wake_word_silences_an_answer(
    env: dict[str, str], tmp_path: Path, say: Say
) -> None:
    """The microphone hears the loudspeaker, too."""
    soundfile.write(tmp_path / "asked.wav", say(1.5, WAKE, 0.2, QUESTION, 1.0), RATE_HZ)
    soundfile.write(tmp_path / "wake.wav", say(WAKE, 0.5), RATE_HZ)
    with sound_server(tmp_path, echo=True) as server:
        with start(env | server.devices | {"VOICE_AGENT_TTS__RATE": "0.5"}, "--json") as child:
            assert child.stderr is not None
            assert "listening for 'hey jarvis'" in child.stderr.readline() + child.stderr.readline()
            feed = threading.Thread(target=server.feed, args=[tmp_path / "asked.wav"])
            feed.start()
            until(child, "playback_started")
            feed.join()
            time.sleep(2)  # the echo canceller learns the room
            server.feed(tmp_path / "wake.wav")
            ending = until(child, "answer", "cancelled")
            child.send_signal(signal.SIGTERM)
            child.communicate()
    assert (ending["event"], ending["cause"]) == ("cancelled", "wake word")
    assert ending["heard_text"].startswith("I found nothing")
    assert child.returncode == 0
