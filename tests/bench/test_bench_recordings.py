"""Recordings to measure on: where their texts come from, and which are taken."""

from pathlib import Path

import pytest

from voice_agent.bench.recordings import Recorded, evenly, of_files, of_folder
from voice_agent.errors import UsageError


def test_a_folders_table_says_what_is_said(tmp_path: Path) -> None:
    (tmp_path / "transcripts.tsv").write_text("speaker\ttext\tfile\nx\tGOOD DAY\ta.flac\n")
    assert of_folder(tmp_path) == [Recorded(tmp_path / "a.flac", "GOOD DAY")]


@pytest.mark.parametrize("table", ["", "name\twords\n", "file\ttext\n", "file\ttext\nlonely.wav\n"])
def test_a_table_that_is_none_is_named(tmp_path: Path, table: str) -> None:
    (tmp_path / "transcripts.tsv").write_text(table)
    with pytest.raises(UsageError, match=r"transcripts\.tsv"):
        of_folder(tmp_path)


def test_the_text_of_a_file_stands_beside_it(tmp_path: Path) -> None:
    said, unknown = tmp_path / "a.wav", tmp_path / "b.wav"
    said.with_suffix(".txt").write_text("Good day.\n")
    assert of_files([said, unknown]) == [Recorded(said, "Good day."), Recorded(unknown, None)]


def test_fewer_recordings_are_spread_over_all() -> None:
    ten = [Recorded(Path(f"{n}.wav"), None) for n in range(10)]
    assert [each.file.stem for each in evenly(ten, 3)] == ["0", "3", "6"]
    assert evenly(ten, None) == evenly(ten, 20) == ten
