"""The library's file: private, versioned, and clear about what is wrong with it."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from voice_agent.errors import LibraryError
from voice_agent.library import Library


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "voice-agent" / "library.sqlite3"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "boiler.md").write_text("The boiler is red.")
    return tmp_path / "documents"


def test_library_is_the_users_alone(file: Path, folder: Path) -> None:
    with Library.open(file) as library:
        library.add(folder)
        modes = {path.stat().st_mode & 0o777 for path in file.parent.iterdir()}
    assert (modes, file.parent.stat().st_mode & 0o777) == ({0o600}, 0o700)


def test_a_library_that_was_open_to_others_is_closed(file: Path) -> None:
    file.parent.mkdir(mode=0o755)
    file.touch(mode=0o644)
    with Library.open(file):
        assert [each.stat().st_mode & 0o777 for each in (file, file.parent)] == [0o600, 0o700]


def test_library_stays_on_the_disk(file: Path, folder: Path) -> None:
    with Library.open(file) as library:
        library.add(folder)
    with Library.open(file) as library:
        assert library.search("boiler")


def test_second_library_on_the_file_sees_what_the_first_adds(file: Path, folder: Path) -> None:
    with Library.open(file) as one, Library.open(file) as other:
        rare = other.idf("boiler")
        one.add(folder)
        assert other.search("boiler")
        assert other.idf("boiler") < rare


def test_methods_may_be_called_from_another_thread(file: Path, folder: Path) -> None:
    with Library.open(file) as library, ThreadPoolExecutor(1) as worker:
        assert worker.submit(library.add, folder).result().added == 1
        assert library.search("boiler")


@pytest.mark.parametrize("content", [b"not a database " * 100, b"SQLite format 3\0" + b"x" * 9000])
def test_damaged_file_is_named_with_the_way_out(file: Path, content: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(LibraryError, match="library add FOLDER") as raised:
        Library.open(file)
    assert raised.value.file == str(file)
    assert file.read_bytes() == content


def test_damage_inside_is_named_too(file: Path, folder: Path) -> None:
    for n in range(200):
        (folder / f"{n}.md").write_text(f"number {n} " * 50)
    with Library.open(file) as library:
        library.add(folder)
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xaa" * (len(data) - 4096)
    file.write_bytes(data)
    with Library.open(file) as library, pytest.raises(LibraryError, match="is damaged"):
        library.search("number")


def test_database_of_another_program_is_left_alone(file: Path) -> None:
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE turns (id)")
    with pytest.raises(LibraryError, match="another program"):
        Library.open(file)


def test_newer_library_is_refused(file: Path) -> None:
    Library.open(file).close()
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(LibraryError, match="newer version"):
        Library.open(file)


def test_folder_in_the_files_place_is_an_error(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(LibraryError, match="cannot be"):
        Library.open(file)
