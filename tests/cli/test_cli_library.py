"""The verb ``library``."""

import argparse
import json
from pathlib import Path

import pytest

from voice_agent.cli import library
from voice_agent.errors import LibraryError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "boiler.md").write_text("# Boiler\n\n## Colour\n\nIt is red.\n")
    return tmp_path / "documents"


def run(*argv: str) -> int:
    parser = argparse.ArgumentParser()
    library.add(parser.add_subparsers())
    args = parser.parse_args(["library", *argv])
    code: int = args.run(args)
    return code


def events(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_added_folder_is_listed_and_searched(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("add", str(folder)) == 0
    assert run("list") == 0
    assert run("search", "what", "colour", "is", "the", "boiler") == 0
    out = capsys.readouterr().out
    assert f"{folder}: 1 document added." in out
    assert f"{folder}  1 document" in out
    assert f"1. Boiler > Colour\n   {folder}/boiler.md:5\n   It is red." in out


def test_json_has_one_event_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("add", str(folder), "--json")
    run("list", "--json")
    run("search", "boiler", "--json")
    run("sync", "--json")
    run("remove", str(folder), "--json")
    rows = events(capsys)
    names = ["library_read", "folder_listed", "passage_found", "library_read", "folder_removed"]
    assert [row["event"] for row in rows] == names
    assert (rows[0]["added"], rows[3]["unchanged"], rows[4]["documents"]) == (1, 1, 1)
    assert rows[2]["heading"] == "Colour"


def test_missing_folder_fails_and_the_others_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("add", str(folder / "nowhere"), str(folder), "--json") == 1
    assert [row["event"] for row in events(capsys)] == ["error", "library_read"]


def test_only_the_first_skipped_files_are_listed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(30):
        (folder / f"{n}.txt").touch()
    run("add", str(folder))
    out = capsys.readouterr().out
    assert out.count("skipped /") == 20
    assert "and 10 more files skipped" in out


def test_empty_library_says_how_to_fill_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("search", "boiler") == 0
    assert "voice-agent library add FOLDER" in capsys.readouterr().err


def test_unmounted_folder_is_named_with_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("add", str(folder))
    folder.rename(folder.parent / "elsewhere")
    assert run("sync") == 0
    assert f"library remove {folder}" in capsys.readouterr().out


def test_removing_an_unknown_folder_is_an_error(folder: Path) -> None:
    with pytest.raises(LibraryError, match="not a folder of the library"):
        run("remove", str(folder))


@pytest.mark.parametrize("verb", ["add", "remove"])
def test_an_empty_name_is_not_the_current_folder(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(verb, "")
    assert ended.value.code == 2
    assert "it is empty" in capsys.readouterr().err
