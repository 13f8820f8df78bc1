import resource
import stat
import tomllib
from pathlib import Path

from voice_agent.settings import Settings, load_settings
from voice_agent.settings.commented import commented, write_commented
from voice_agent.settings.editing import write_value
from voice_agent.settings.model import descriptions


def test_the_first_file_changes_nothing_and_names_every_setting(tmp_path: Path) -> None:
    file = tmp_path / "voice-agent" / "config.toml"
    assert write_commented(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load_settings({}, file).settings == Settings()
    for key in descriptions():
        assert f"\n# {key.partition('.')[2]} = " in file.read_text()


def test_without_its_comment_marks_every_line_is_the_default(tmp_path: Path) -> None:
    lines = commented().splitlines()
    bare = [line[2:] if " = " in line and line[2:].split(" ")[1] == "=" else line for line in lines]
    file = tmp_path / "config.toml"
    file.write_text("\n".join(bare))
    assert tomllib.loads(file.read_text())["wake"]["words"] == ["hey_jarvis"]
    assert sum(map(len, tomllib.loads(file.read_text()).values())) == len(descriptions())
    assert load_settings({}, file).settings == Settings()


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("# mine\n")
    assert not write_commented(file)
    assert file.read_text() == "# mine\n"


def test_on_a_full_disk_there_is_none_and_no_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "voice-agent" / "config.toml"
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        written = write_commented(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
    assert not written and not list(file.parent.iterdir())


def test_a_folder_that_cannot_be_made_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "voice-agent").touch()
    assert not write_commented(tmp_path / "voice-agent" / "config.toml")


def test_a_value_is_set_in_its_section_and_the_comments_stay(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    write_commented(file)
    write_value(file, "tts.rate", 1.2)
    text = file.read_text()
    assert text.replace("rate = 1.2\n", "").count("#") == commented().count("#")
    assert text.index("[tts]") < text.index("\nrate = 1.2") < text.index("[audio]")
