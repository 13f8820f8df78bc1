"""Folders to the library, and the library in step with the disk."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent.errors import LibraryError
from voice_agent.library import Library, Report


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library.open(tmp_path / "library.sqlite3") as library:
        yield library


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    (folder / "inner").mkdir(parents=True)
    (folder / "boiler.md").write_text("The boiler is red.")
    (folder / "inner" / "roof.txt").write_text("The roof leaks.")
    return folder


def counts(report: Report) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


def test_only_new_and_changed_files_are_read_again(library: Library, folder: Path) -> None:
    assert counts(library.add(folder)) == (2, 0, 0, 0)
    (folder / "boiler.md").write_text("The boiler is green now.")
    (folder / "kettle.md").write_text("The kettle is new.")
    assert counts(library.add(folder)) == (1, 1, 1, 0)
    assert "green" in library.search("boiler")[0].text


def test_touched_file_counts_as_unchanged(library: Library, folder: Path) -> None:
    library.add(folder)
    os.utime(folder / "boiler.md", (1, 1))
    assert counts(library.sync()) == (0, 0, 2, 0)


def test_vanished_file_is_gone_from_search(library: Library, folder: Path) -> None:
    library.add(folder)
    (folder / "boiler.md").unlink()
    assert counts(library.sync()) == (0, 0, 1, 1)
    assert library.search("boiler") == []
    assert library.idf("boiler") == library.idf("unheard")


@pytest.mark.parametrize("name", [".hidden.md", ".git/a.md", "node_modules/a.md", "song.mp3"])
def test_what_is_no_document_is_left_out(library: Library, tmp_path: Path, name: str) -> None:
    file = tmp_path / "documents" / name
    file.parent.mkdir(parents=True)
    file.write_text("text")
    report = library.add(tmp_path / "documents")
    assert (report.added, report.skipped) == (0, [])


def test_what_cannot_be_read_is_skipped_with_the_reason(library: Library, folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"\0")
    (folder / "b.txt").symlink_to(folder / "nowhere")
    (folder / "c.txt").symlink_to("/proc/self/mem")  # reading it fails, for root too
    (folder / "d.pdf").write_bytes(b"%PDF")
    os.mkfifo(folder / "e.txt")
    report = library.add(folder)
    assert report.added == 2
    assert {Path(path).name: reason for path, reason in report.skipped} == {
        "a.txt": "not text (it holds zero bytes)",
        "b.txt": "no such file or directory",
        "c.txt": "input/output error",
        "d.pdf": ".pdf files cannot be read yet",
        "e.txt": "not an ordinary file",
    }


def test_document_that_cannot_be_read_for_now_is_kept(library: Library, folder: Path) -> None:
    library.add(folder)
    (folder / "boiler.md").unlink()
    (folder / "boiler.md").symlink_to("/proc/self/mem")
    assert counts(library.sync()) == (0, 0, 1, 0)
    assert library.search("boiler")


def test_document_that_outgrew_the_bound_is_no_longer_found(tmp_path: Path, folder: Path) -> None:
    with Library.open(tmp_path / "small.sqlite3", max_bytes=100) as library:
        library.add(folder)
        (folder / "boiler.md").write_text("The boiler. " * 100)
        report = library.sync()
        assert (report.removed, len(report.skipped), library.search("boiler")) == (1, 1, [])


def test_links_do_not_lead_in_circles(library: Library, folder: Path) -> None:
    (folder / "inner" / "up").symlink_to(folder)
    assert library.add(folder).added == 2


def test_names_that_are_not_utf8_are_fine(library: Library, folder: Path) -> None:
    Path(os.fsdecode(bytes(folder) + b"/caf\xe9.txt")).write_text("The coffee is strong.")
    library.add(folder)
    hit = library.search("coffee")[0]
    assert hit.path.endswith("caf\\xe9.txt")
    assert library.document(hit.path).text.endswith("The coffee is strong.")
    assert counts(library.sync()) == (0, 0, 3, 0)


def test_folder_in_an_added_folder_does_not_double_documents(
    library: Library, folder: Path
) -> None:
    library.add(folder)
    assert counts(library.add(folder / "inner")) == (0, 0, 1, 0)
    assert counts(library.sync()) == (0, 0, 2, 0)


def test_removing_a_folder_leaves_what_another_holds(library: Library, folder: Path) -> None:
    library.add(folder)
    library.add(folder / "inner")
    assert library.remove(folder) == 1
    assert library.search("boiler") == []
    assert library.search("roof")


def test_single_file_of_any_name_can_be_added(library: Library, folder: Path) -> None:
    (folder / ".notes.org").write_text("The kettle is new.")
    assert library.add(folder / ".notes.org").added == 1
    library.add(folder)
    assert counts(library.sync()) == (0, 0, 3, 0)


@pytest.mark.parametrize("empty_mount_point", [False, True])
def test_folder_that_is_away_keeps_its_documents(
    library: Library, folder: Path, empty_mount_point: bool
) -> None:
    library.add(folder)
    folder.rename(folder.parent / "elsewhere")
    if empty_mount_point:
        folder.mkdir()
    report = library.sync()
    assert report.missing == [str(folder)]
    assert library.search("boiler")
    assert [each.there for each in library.folders()] == [empty_mount_point]
    assert library.remove(folder) == 2


def test_interrupted_add_keeps_what_was_committed_and_goes_on(
    library: Library, folder: Path
) -> None:
    for n in range(500):
        (folder / f"{n:03}.txt").write_text(f"number {n}")

    def interrupt(files: int, _path: str) -> None:
        if files == 450:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add(folder, interrupt)
    assert [each.documents for each in library.folders()] == [400]
    assert counts(library.sync()) == (102, 0, 400, 0)


def test_twenty_thousand_files(library: Library, tmp_path: Path) -> None:
    for n in range(200):
        (tmp_path / "many" / str(n)).mkdir(parents=True)
        for m in range(100):
            (tmp_path / "many" / str(n) / f"{m}.txt").write_text(f"note {n} about x{m}y")
    assert library.add(tmp_path / "many").added == 20_000
    assert library.search("note 123 about x45y", 1)[0].path.endswith("/123/45.txt")
    assert library.sync().unchanged == 20_000


@pytest.mark.parametrize("name", ["nowhere", "loop"])
def test_folder_that_cannot_be_read_is_an_error_that_names_it(
    library: Library, tmp_path: Path, name: str
) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(LibraryError, match=name) as raised:
        library.add(tmp_path / name)
    assert raised.value.mend
    assert library.folders() == []


def test_removing_what_was_never_added_names_the_folders(library: Library, folder: Path) -> None:
    library.add(folder)
    with pytest.raises(LibraryError, match=f"Its folders are: {folder}"):
        library.remove(folder / "inner")
