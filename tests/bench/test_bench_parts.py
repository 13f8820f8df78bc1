"""`voice-agent bench stt`, `tts`, `llm`, `library`: each part measured alone, on real models."""

import json
from pathlib import Path
from typing import Any

import pytest

from voice_agent.cli.parser import run

SAID = "The assembly point is the bus shelter."


@pytest.fixture(autouse=True)
def no_settings_of_mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run(["say", SAID, "--out", str(tmp_path / "said.wav")]) == 0
    capsys.readouterr()
    (tmp_path / "transcripts.tsv").write_text(f"file\tspeaker\ttext\nsaid.wav\tjoe\t{SAID}\n")
    return tmp_path


def measured(argv: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert run(["bench", *argv, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_speech_to_text_is_compared_with_the_librarys_own_way(
    recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heard, figures = measured(
        ["stt", "--data", str(recordings), "--model", "whisper-tiny.en", "--no-curve"], capsys
    )
    assert [each["way"] for each in heard["heard"]] == ["ours", "stock, 5 beams", "stock, 1 beam"]
    assert all("bus shelter" in each["text"] for each in heard["heard"])
    assert figures["event"] == "stt_figures"
    assert {row["recordings"] for row in figures["rows"]} == {"all", "under 5 s"}
    ours, stock = figures["rows"][:2]
    assert ours["words"] == stock["words"] == len(SAID.split())
    assert stock["of_stock"] == 1
    assert ours["total_s"] > 0


def test_a_recording_without_a_text_is_timed_alone(
    recordings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(recordings / "said.wav")
    assert run(["bench", "stt", file, "--model", "whisper-tiny.en", "--no-curve"]) == 0
    table = capsys.readouterr().out
    assert "1 recordings" in table
    assert "stock, 5 beams" in table
    assert "word errors" in table


def test_the_voice_is_timed_by_clause_and_by_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    *sentences, figures = measured(["tts", "--sentences", "3", "--clause-chars", "12"], capsys)
    assert len(sentences) == figures["sentences"] == 3
    assert all(sentence["sound_s"] > 0 for sentence in sentences)
    divided = [sentence for sentence in sentences if sentence["rest"]]
    assert len(divided) == figures["clause_s"]["count"] == figures["divided"] >= 1
    assert all(sentence["clause"].endswith((",", ":", ";", "–")) for sentence in divided)


def test_the_language_model_restores_a_beginning_and_stops_within_a_prompt(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = "qwen2.5-coder-0.5b-instruct"
    *values, figures = measured(["llm", "--model", model, "--runs", "1", "--tokens", "150"], capsys)
    rows = {row["what"]: row for row in figures["rows"]}
    assert set(rows) == {
        "prompt",
        "generation",
        "prefix processed",
        "prefix restored",
        "cancel",
    }
    assert (
        rows["prefix restored"]["values"]["median"] < rows["prefix processed"]["values"]["median"]
    )
    assert len(values) == sum(row["values"]["count"] for row in rows.values())


def test_the_library_is_measured_as_it_grows(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = measured(["library", "--passages", "40,120"], capsys)
    assert [size["documents"] for size in sizes] == [1, 2]
    assert sizes[0]["passages"] < sizes[1]["passages"]
    assert all(size["note"] for size in sizes)
    assert all(size["search_s"]["count"] == 38 for size in sizes)


@pytest.mark.parametrize(
    ("argv", "fault"),
    [
        (["stt"], "Either recordings or a folder"),
        (["stt", "none.wav"], "none.wav"),
        (["stt", "--data", "nowhere"], "nowhere/transcripts.tsv is no table"),
        (["stt", "--data", ".", "--model", "whisper-huge"], "transcripts.tsv"),
        (["library", "--passages", "0"], "'0' is not a whole number"),
        (["llm", "--model", "no-such"], "no-such"),
    ],
)
def test_wrong_input_is_one_line(
    argv: list[str],
    fault: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["bench", *argv]) != 0
    shown = capsys.readouterr()
    assert fault in shown.err
    assert len(shown.err.splitlines()) == 1
