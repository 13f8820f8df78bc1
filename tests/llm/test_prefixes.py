import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent.llm.prefixes import Prefixes


@pytest.fixture
def open_to_all() -> Iterator[None]:
    """New files and folders are open to all, unless the program closes them."""
    old = os.umask(0)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def written(file: Path) -> None:
    file.write_bytes(b"processed")


def test_what_is_kept_is_private(tmp_path: Path, open_to_all: None) -> None:
    folder = tmp_path / "cache" / "prefixes"
    prefixes = Prefixes(folder)
    file = prefixes.file("model", [1, 2])
    prefixes.keep(file, written)
    assert prefixes.whole(file)
    assert {mode(each) for each in folder.iterdir()} == {0o600}
    assert mode(folder) == mode(folder.parent) == 0o700


def test_a_folder_that_was_open_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "prefixes"
    folder.mkdir(mode=0o755)
    Prefixes(folder).keep(Prefixes(folder).file("model", [1]), written)
    assert mode(folder) == 0o700


def test_each_model_and_each_beginning_has_its_file(tmp_path: Path) -> None:
    made = [Prefixes(tmp_path).file(*key) for key in (("a", [1]), ("b", [1]), ("a", [2]))]
    assert len(set(made)) == 3


def test_what_is_damaged_or_missing_is_not_whole(tmp_path: Path) -> None:
    prefixes = Prefixes(tmp_path)
    file = prefixes.file("model", [1])
    assert not prefixes.whole(file)
    prefixes.keep(file, written)
    file.write_bytes(b"process")
    assert not prefixes.whole(file)


def test_the_newest_eight_stay_each_with_its_digest(tmp_path: Path) -> None:
    prefixes = Prefixes(tmp_path)
    files = [prefixes.file("model", [number]) for number in range(10)]
    for moment_s, file in enumerate(files):
        prefixes.keep(file, written)
        os.utime(file, (moment_s, moment_s))
    assert [prefixes.whole(file) for file in files] == [False, False, *[True] * 8]
    assert len(list(tmp_path.iterdir())) == 16


def test_a_save_that_fails_is_logged_and_leaves_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(file: Path) -> None:
        raise OSError(f"{file.name} could not be written")

    Prefixes(tmp_path).keep(Prefixes(tmp_path).file("model", [1]), fails)
    assert "could not be kept" in caplog.text and not list(tmp_path.iterdir())
