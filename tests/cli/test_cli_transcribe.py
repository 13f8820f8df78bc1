"""The verb ``transcribe``."""

import argparse
import json
from pathlib import Path

import pytest

from voice_agent.cli import transcribe
from voice_agent.errors import SettingsError, TranscriptionError

ENGLISH = Path(
    "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"
)
SENTENCE = "He might even have been made amiable himself."


@pytest.fixture(autouse=True)
def no_settings_of_mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    transcribe.add(parser.add_subparsers())
    args = parser.parse_args(["transcribe", *argv])
    code: int = args.run(args)
    return code


def test_one_recording_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(ENGLISH)) == 0
    assert capsys.readouterr().out == f"{SENTENCE}\n"


def test_a_file_that_cannot_be_read_leaves_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.wav"
    empty.touch()
    assert run(str(empty), str(ENGLISH)) == 1
    shown = capsys.readouterr()
    assert shown.out == f"{ENGLISH}: {SENTENCE}\n"
    assert shown.err == f"voice-agent: {empty} is empty (0 bytes). Record it again.\n"


def test_json_is_one_event_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "missing.wav"
    assert run("--json", str(missing), str(ENGLISH)) == 1
    error, transcript = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (error["event"], error["file"]) == ("error", str(missing))
    assert (transcript["event"], transcript["file"]) == ("transcript", str(ENGLISH))
    assert (transcript["text"], transcript["language"]) == (SENTENCE, "en")
    assert transcript["audio_s"] == pytest.approx(3.3, abs=0.1)
    assert transcript["stt_s"] > 0


def test_the_settings_choose_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICE_AGENT_STT__MODEL", "whisper-tiny.en")
    with pytest.raises(TranscriptionError, match=r"whisper-tiny\.en knows English only"):
        run("--language", "de", str(ENGLISH))


def test_the_command_line_outweighs_the_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VOICE_AGENT_STT__LANGUAGE", "de")
    assert run("--model", "whisper-tiny.en", "--language", "en", str(ENGLISH)) == 0
    assert capsys.readouterr().out == f"{SENTENCE}\n"


@pytest.mark.parametrize("name", ["en_US-joe-medium", "whisper-gigantic", ""])
def test_what_is_no_speech_model_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=f"'{name}' is not one of whisper-base, whisper-tiny"):
        run("--model", name, str(ENGLISH))
