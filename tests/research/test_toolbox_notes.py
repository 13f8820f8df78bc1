"""The tool that writes notes: research-loop.md, "Tools"."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError
from voice_agent.research.toolbox.notes import AddNote, file_name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is not there yet."""
    return tmp_path / "home" / "Notes"


@pytest.fixture
def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def text_of(note: Path) -> str:
    return note.read_text()


def modes(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o777 for file in folder.iterdir()}


async def add(folder: Path, text: str, **more: str) -> str:
    tool = AddNote(folder, lambda: datetime(2026, 11, 30, 20, 5))
    return (await tool.run({"text": text, **more}, question="", stop=StopFlag())).text


async def test_a_note_is_a_dated_line(folder: Path) -> None:
    assert await add(folder, "buy milk") == "Written to Notes.md: buy milk"
    assert (folder / "Notes.md").read_text() == "- 2026-11-30 20:05 buy milk\n"


async def test_a_note_is_private_and_nothing_else_is_left(folder: Path) -> None:
    await add(folder, "buy milk")
    assert modes(folder) == {"Notes.md": 0o600}


@pytest.fixture
def shopping(made: Path) -> Path:
    note = made / "Shopping.md"
    note.write_text("# Shopping\neggs")
    note.chmod(0o644)
    return note


async def test_what_the_note_had_stays(shopping: Path) -> None:
    await add(shopping.parent, "milk", title="Shopping")
    assert text_of(shopping) == "# Shopping\neggs\n- 2026-11-30 20:05 milk\n"
    assert modes(shopping.parent) == {"Shopping.md": 0o644}


async def test_a_note_of_many_lines_is_one_line(folder: Path) -> None:
    await add(folder, "milk\n# Title\n\n- eggs")
    assert (folder / "Notes.md").read_text() == "- 2026-11-30 20:05 milk # Title - eggs\n"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("", "Notes.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("/etc/passwd", "etc passwd.md"),
        ("..", "Notes.md"),
        (".bashrc", "bashrc.md"),
        ("a\0b\n", "a b.md"),
        ("Einkäufe - Mai", "Einkäufe - Mai.md"),
        ("x" * 300, "x" * 60 + ".md"),
    ],
)
def test_a_title_never_leads_out_of_the_folder(title: str, name: str) -> None:
    assert file_name(title) == name


async def test_a_link_is_not_followed(made: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (made / "Notes.md").symlink_to(tmp_path / "secret")
    with pytest.raises(ToolError):
        await add(made, "milk")
    assert (tmp_path / "secret").read_text() == "secret"


async def test_a_folder_that_cannot_be_written_is_an_error(folder: Path) -> None:
    folder.parent.write_text("a file")
    with pytest.raises(ToolError, match="Notes.md cannot be written"):
        await add(folder, "milk")


def test_notes_at_the_same_time_all_stay(folder: Path) -> None:
    tool = AddNote(folder)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: tool._append("Notes.md", f"- {n}\n"), range(40)))
    lines = (folder / "Notes.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"- {n}" for n in range(40))
