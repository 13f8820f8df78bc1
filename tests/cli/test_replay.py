"""The verb ``replay``."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spoken import echo_of, say, silence

from voice_agent.audio.format import Sound, write_wav
from voice_agent.cli import replay
from voice_agent.errors import RecordingError

QUESTION = "What is the capital of France?"


@pytest.fixture(autouse=True)
def no_settings_of_mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("VOICE_AGENT_WAKE__WORDS", "alexa")
    monkeypatch.setenv("VOICE_AGENT_STT__MODEL", "whisper-tiny.en")


def recording(file: Path, *sounds: np.ndarray) -> str:
    write_wav(file, Sound(np.concatenate(sounds), 16_000))
    return str(file)


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    replay.add(parser.add_subparsers())
    args = parser.parse_args(["replay", *argv])
    code: int = args.run(args)
    return code


def events(capsys: pytest.CaptureFixture[str], *argv: str) -> list[dict[str, Any]]:
    assert run("--json", *argv) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_wake_word_and_its_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recording(tmp_path / "a.wav", silence(1), say("Alexa"), silence(0.5), say(QUESTION))
    shown = events(capsys, file)
    assert [event["event"] for event in shown] == [
        "wake",
        "speech_started",
        "speech_ended",
        "utterance",
    ]
    wake, *_, utterance = shown
    assert (wake["word"], wake["file"], wake["turn"]) == ("alexa", file, None)
    assert wake["t_s"] == pytest.approx(1 + len(say("Alexa")) / 16_000, abs=0.3)
    end_s = 1.5 + (len(say("Alexa")) + len(say(QUESTION))) / 16_000
    assert utterance["end_s"] == pytest.approx(end_s, abs=0.25)
    assert utterance["t_s"] > utterance["end_s"]


def test_every_file_has_its_own_positions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [recording(tmp_path / f"{n}.wav", say("Alexa")) for n in (1, 2, 3)]
    shown = events(capsys, *files)
    assert [(event["event"], event["file"]) for event in shown] == [("wake", f) for f in files]
    assert max(event["t_s"] for event in shown) < 1.5


def test_without_a_wake_word_all_speech_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recording(tmp_path / "a.wav", say(QUESTION), silence(2), say(QUESTION))
    names = [event["event"] for event in events(capsys, "--no-wake", file)]
    assert names.count("utterance") == 2


def test_the_text_is_written_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recording(tmp_path / "a.wav", silence(0.5), say(QUESTION))
    shown = events(capsys, "--no-wake", "--transcribe", file)
    texts = {event["event"]: event["text"] for event in shown if "text" in event}
    assert texts["transcript"] == texts["partial"] == QUESTION


def test_an_unfinished_text_keeps_the_question_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun, rest = say("How many rooms are there in my house and my"), say("garden shed?")
    file = recording(tmp_path / "a.wav", silence(0.5), begun, silence(0.9), rest)
    with_text = events(capsys, "--no-wake", "--transcribe", file)
    without = events(capsys, "--no-wake", file)
    counts = [[e["event"] for e in shown].count("utterance") for shown in (with_text, without)]
    assert counts == [1, 2]


def test_the_wake_word_from_the_loudspeaker_does_not_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = np.concatenate([say("Alexa"), silence(1)])
    microphone = recording(tmp_path / "mic.wav", echo_of(played))
    playback = recording(tmp_path / "played.wav", played)
    assert [event["event"] for event in events(capsys, microphone)] == ["wake"]
    assert events(capsys, "--playback", playback, microphone) == []


def test_a_file_that_cannot_be_read_leaves_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.wav"
    file = recording(tmp_path / "a.wav", say("Alexa"))
    assert run("--json", str(missing), file) == 1
    shown = capsys.readouterr()
    fault, wake = [json.loads(line) for line in shown.out.splitlines()]
    assert (fault["event"], fault["file"], wake["event"]) == ("error", str(missing), "wake")
    assert shown.err == f"voice-agent: {missing} does not exist. Check the name.\n"


def test_a_playback_that_cannot_be_read_is_the_end(tmp_path: Path) -> None:
    file = recording(tmp_path / "a.wav", say("Alexa"))
    with pytest.raises(RecordingError, match="none.wav does not exist"):
        run("--playback", str(tmp_path / "none.wav"), file)


def test_people_read_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(recording(tmp_path / "a.wav", silence(1), say("Alexa"))) == 0
    time, name, word, score = capsys.readouterr().out.split()
    assert (name, word) == ("wake", "alexa")
    assert 1 < float(time) < 2.5 and 0.9 < float(score) <= 1
