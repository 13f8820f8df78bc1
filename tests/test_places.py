import errno
import os
from pathlib import Path

import pytest

from voice_agent.places import DATA_VARIABLE, how_to_write, places, private_file, private_folder


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


def test_a_file_in_the_way_of_a_folder_is_to_be_moved(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    said = how_to_write(tmp_path / "data" / "ledger.sqlite3", DATA_VARIABLE)
    assert said == f"Move the file out of the way: mv '{tmp_path}/data' '{tmp_path}/data.aside'"


def test_the_folder_that_cannot_be_written_is_named_with_the_way_round(tmp_path: Path) -> None:
    said = how_to_write(tmp_path / "data" / "ledger.sqlite3", DATA_VARIABLE)
    assert f"chmod u+rwx '{tmp_path}'" in said and "export XDG_DATA_HOME=FOLDER" in said


def test_of_a_file_that_can_be_written_the_folder_is_at_fault(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite3").touch()
    said = how_to_write(tmp_path / "ledger.sqlite3", DATA_VARIABLE)
    assert said.startswith(f"Let yourself write in {tmp_path}: chmod u+rwx")


def test_a_full_disk_needs_room(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    said = how_to_write(tmp_path / "ledger.sqlite3", DATA_VARIABLE, full)
    assert said.startswith(f"Make room on the disk of {tmp_path}, or")


def test_a_place_of_another_user_is_called_so(tmp_path: Path) -> None:
    place = Path("/")
    if os.getuid() == 0:  # all of it is ours, but for what we give away
        place = tmp_path / "theirs"
        place.mkdir()
        os.chown(place, 65534, 65534)
    said = how_to_write(place / "no-such-folder" / "ledger.sqlite3", DATA_VARIABLE)
    assert said.startswith(f"{place} belongs to another user") and "XDG_DATA_HOME" in said


def test_a_link_that_leads_nowhere_is_called_so(tmp_path: Path) -> None:
    link = tmp_path / "ledger.sqlite3"
    link.symlink_to(tmp_path / "gone" / "ledger.sqlite3")
    assert how_to_write(link, DATA_VARIABLE) == f"It is a link that leads nowhere: ls -l '{link}'"
