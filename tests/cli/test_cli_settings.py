import json
from pathlib import Path

import pytest

from voice_agent.catalogue import Catalogue, Role
from voice_agent.cli.parser import run

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "voice-agent" / "config.toml"


def test_the_list_is_one_json_row_a_line(capsys: Output) -> None:
    assert run(["settings", "list", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    threads = next(row for row in rows if row["key"] == "llm.context_tokens")
    assert (threads["min"], threads["max"], threads["unit"]) == (1024, 131_072, "tokens")
    assert (threads["default"], threads["value"], threads["origin"]) == (8192, 8192, "default")


def test_a_value_is_set_kept_and_reset(capsys: Output, file: Path) -> None:
    assert run(["settings", "set", "research.timeout_s", "60"]) == 0
    assert "timeout_s = 60" in file.read_text()
    assert run(["settings", "reset", "research.timeout_s"]) == 0
    assert "timeout_s" not in file.read_text()
    capsys.readouterr()
    assert run(["settings", "get", "research.timeout_s"]) == 0
    assert capsys.readouterr().out == "300\n"


def test_a_value_out_of_bounds_is_refused_and_nothing_written(capsys: Output, file: Path) -> None:
    assert run(["settings", "set", "tts.rate", "-3"]) == 2
    assert "tts.rate: '-3' is not a number from 0.5 to 2" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize("action", [["get"], ["reset"], ["set", "1"]])
def test_an_unknown_key_is_wrong_usage(capsys: Output, action: list[str]) -> None:
    verb, *value = action
    assert run(["settings", verb, "tts.rat", *value]) == 2
    assert "Did you mean tts.rate?" in capsys.readouterr().err


def test_a_retired_key_cannot_be_set(capsys: Output, file: Path) -> None:
    assert run(["settings", "set", "research.max_tool_rounds", "8"]) == 2
    assert "retired" in capsys.readouterr().err
    assert not file.exists()


def test_set_says_when_the_environment_comes_first(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOICE_AGENT_TTS__RATE", "1.5")
    assert run(["settings", "set", "tts.rate", "1.2"]) == 0
    assert "VOICE_AGENT_TTS__RATE is set" in capsys.readouterr().err


def test_reset_all_keeps_retired_keys(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("# mine\n[research]\nmax_tool_rounds = 8\ntimeout_s = 60\n[tts]\nrate = 2\n")
    assert run(["settings", "reset", "--all"]) == 0
    assert file.read_text() == "# mine\n[research]\nmax_tool_rounds = 8\n[tts]\n"


@pytest.mark.parametrize("arguments", [[], ["tts.rate", "--all"]])
def test_reset_takes_a_key_or_all(arguments: list[str]) -> None:
    assert run(["settings", "reset", *arguments]) == 2


def test_one_bad_value_can_be_mended_while_another_is_bad(capsys: Output, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[tts]\nrate = 9\nvolume = 9\n")
    assert run(["settings", "list"]) == 2
    assert run(["settings", "set", "tts.rate", "1"]) == 0
    assert "rate = 1\n" in file.read_text()
    assert "tts.volume: 9 is not" in capsys.readouterr().err


def test_retired_keys_are_noticed_on_stderr(capsys: Output, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("[chat]\nmax_tool_iters = 3\n")
    assert run(["settings", "list", "--json"]) == 0
    assert "chat.max_tool_iters is retired" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "role"), [("llm.model", "llm"), ("stt.model", "stt"), ("tts.voice", "tts")]
)
def test_a_model_must_be_one_of_the_catalogue(
    capsys: Output, file: Path, key: str, role: Role
) -> None:
    catalogue = Catalogue.load()
    other = catalogue.default("llm" if role != "llm" else "stt").name
    for name in ("nonsense", other):
        assert run(["settings", "set", key, name]) == 2
        offered = [model.name for model in catalogue.models if model.role == role]
        assert f"{name!r} is not one of {', '.join(offered)}." in capsys.readouterr().err
    assert not file.exists()
    assert run(["settings", "set", key, catalogue.default(role).name]) == 0
