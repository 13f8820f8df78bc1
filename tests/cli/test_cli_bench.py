"""The verb ``bench``: what it refuses, and which ways of asking it takes."""

from pathlib import Path

import pytest

from voice_agent.bench.figures import Mode
from voice_agent.cli.bench import modes_of, with_model
from voice_agent.cli.parser import run
from voice_agent.errors import SettingsError
from voice_agent.settings import Settings


@pytest.fixture(autouse=True)
def no_settings_of_mine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.mark.parametrize(
    ("typed", "spoken", "modes"),
    [
        (False, False, ["typed", "spoken"]),
        (True, True, ["typed", "spoken"]),
        (True, False, ["typed"]),
        (False, True, ["spoken"]),
    ],
)
def test_both_ways_are_measured_unless_one_is_named(
    typed: bool, spoken: bool, modes: list[Mode]
) -> None:
    assert modes_of(typed=typed, spoken=spoken) == modes


@pytest.mark.parametrize(
    ("argv", "fault"),
    [
        (["--ids", "q99"], "There is no question 'q99'"),
        (["--limit", "0"], "'0' is not a whole number from 1."),
        (["--questions", "none.toml"], "none.toml cannot be read"),
        (["--ids", "q01", "--typed", "--documents", "none"], "none"),
        (["everything"], "invalid choice"),
    ],
)
def test_wrong_usage_is_one_line(
    argv: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", *argv]) != 0
    shown = capsys.readouterr()
    assert fault in shown.err
    assert len(shown.err.splitlines()) == 1


def test_another_model_takes_the_place_of_the_settings_one() -> None:
    name = "qwen2.5-coder-0.5b-instruct"
    assert with_model(Settings(), name).llm.model == name


def test_on_a_server_the_name_is_the_servers() -> None:
    remote = Settings.model_validate({"llm": {"provider": "openai"}})
    assert with_model(remote, "any/name").llm.model_in_use == "any/name"


def test_a_model_for_something_else_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"llm\.model: 'whisper-base' is not one of qwen2\.5"):
        with_model(Settings(), "whisper-base")
