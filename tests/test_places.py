from pathlib import Path

import pytest

from voice_agent.places import places, private_file, private_folder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_environment_names_the_places() -> None:
    env = {
        "HOME": "/home/ada",
        "XDG_CONFIG_HOME": "/c",
        "XDG_DATA_HOME": "/d",
        "XDG_CACHE_HOME": "/k",
        "XDG_RUNTIME_DIR": "/r",
    }
    here = places(env)
    assert here.config_file == Path("/c/voice-agent/config.toml")
    assert here.ledger == Path("/d/voice-agent/ledger.sqlite3")
    assert here.library.parent == here.ledger.parent
    assert here.cache == Path("/k/voice-agent")
    assert here.control_socket == Path("/r/voice-agent/control.sock")


@pytest.mark.parametrize("value", ["", "relative/path"])
def test_an_empty_or_relative_place_means_the_default(value: str) -> None:
    here = places({"HOME": "/home/ada", "XDG_CONFIG_HOME": value, "XDG_DATA_HOME": value})
    assert here.config_file == Path("/home/ada/.config/voice-agent/config.toml")
    assert here.data == Path("/home/ada/.local/share/voice-agent")


def test_a_checkout_keeps_its_models_beside_the_package() -> None:
    assert places({"HOME": "/home/ada"}).models == Path(__file__).resolve().parents[1] / "models"


def test_folders_are_made_for_the_user_alone(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "a" / "b")
    assert mode(folder) == mode(folder.parent) == 0o700


def test_an_open_folder_is_closed_and_its_parent_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "open").mkdir(mode=0o755)
    private_folder(tmp_path / "open")
    assert (mode(tmp_path / "open"), mode(tmp_path)) == (0o700, 0o755)


def test_a_file_is_private_and_keeps_its_content(tmp_path: Path) -> None:
    file = tmp_path / "x" / "f"
    assert mode(private_file(file)) == 0o600
    file.write_text("kept")
    file.chmod(0o644)
    private_file(file)
    assert (mode(file), file.read_text()) == (0o600, "kept")
