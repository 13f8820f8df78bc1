import tomllib
from pathlib import Path

import pytest

from voice_agent.errors import SettingsError, SettingsFileError
from voice_agent.settings.editing import remove_values, write_value

WRITTEN = """\
# mine
[tts]  # the voice
rate = 1.1  # a bit faster
# volume is fine

[research]
max_tool_rounds = 8
timeout_s = 60
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "voice-agent" / "config.toml"
    file.parent.mkdir()
    file.write_text(WRITTEN)
    return file


def test_the_first_value_makes_a_private_file_with_a_comment(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.toml"
    write_value(file, "tts.rate", 1.2)
    assert file.read_text().startswith("# ")
    assert tomllib.loads(file.read_text()) == {"tts": {"rate": 1.2}}
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_change_keeps_comments_order_and_retired_keys(file: Path) -> None:
    write_value(file, "tts.rate", 1.5)
    assert file.read_text() == WRITTEN.replace("1.1", "1.5")


def test_a_new_key_joins_its_section(file: Path) -> None:
    write_value(file, "tts.volume", 0.5)
    assert tomllib.loads(file.read_text())["tts"] == {"rate": 1.1, "volume": 0.5}
    assert "# volume is fine" in file.read_text()


@pytest.mark.parametrize(
    "text",
    [
        "tts.rate = 1.0\n",
        "tts = { rate = 1.0 }\n",
        "[tts]\nrate = 1.0",
        "[tts]\r\nrate = 1.0\r\n",
        "[tts]\nvoice = 'x'\n[llm]\nthreads = 1\n",
        "",
    ],
)
def test_every_way_of_writing_toml_can_be_changed(file: Path, text: str) -> None:
    file.write_text(text)
    write_value(file, "tts.rate", 2)
    write_value(file, "wake.words", ["alexa"])
    after = tomllib.loads(file.read_text())
    assert after["tts"]["rate"] == 2 and after["wake"]["words"] == ["alexa"]


def test_removed_keys_leave_the_rest_as_it_was(file: Path) -> None:
    assert remove_values(file, ["research.timeout_s", "llm.model"]) == ["research.timeout_s"]
    assert file.read_text() == WRITTEN.replace("timeout_s = 60\n", "")


def test_removing_what_is_not_there_writes_nothing(tmp_path: Path) -> None:
    assert remove_values(tmp_path / "config.toml", ["tts.rate"]) == []
    assert not list(tmp_path.glob("*.toml"))


def test_a_broken_file_is_left_as_it_is(file: Path) -> None:
    file.write_text("[tts\n")
    with pytest.raises(SettingsError, match="line 1"):
        write_value(file, "tts.rate", 1)
    assert file.read_text() == "[tts\n"


def test_a_value_in_the_place_of_a_section_is_named(file: Path) -> None:
    file.write_text("tts = 5\n")
    with pytest.raises(SettingsError, match=r"must be a section: \[tts\]"):
        write_value(file, "tts.rate", 1)
    assert file.read_text() == "tts = 5\n"


def test_a_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    file.replace(target)
    file.symlink_to(target)
    write_value(file, "tts.rate", 1.5)
    assert file.is_symlink() and "1.5" in target.read_text()


def test_no_half_written_file_is_left_beside_it(file: Path) -> None:
    write_value(file, "tts.rate", 1.5)
    assert [entry.name for entry in file.parent.iterdir()] == ["config.toml"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with pytest.raises(SettingsFileError, match=r"config\.toml cannot be written"):
        write_value(tmp_path / "plain" / "config.toml", "tts.rate", 1)
