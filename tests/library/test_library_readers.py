"""Files to documents."""

import codecs
from pathlib import Path

import pytest

from voice_agent.library.readers import Unsuitable, decode, document, read, shown

SENTENCE = "Käse für 3 €"


@pytest.mark.parametrize(
    "data",
    [
        SENTENCE.encode(),
        codecs.BOM_UTF8 + SENTENCE.encode(),
        codecs.BOM_UTF16_LE + SENTENCE.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + SENTENCE.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + SENTENCE.encode("utf-32-le"),
        SENTENCE.encode("cp1252"),
    ],
)
def test_every_common_encoding_is_read(data: bytes) -> None:
    assert decode(data) == SENTENCE


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("intro\n\n# The *Boiler*\n\n## Faults\n", "The Boiler"),
        ("The boiler\n==========\n\ntext", "The boiler"),
        ("---\ntitle: 'Boiler'\ndate: 2024-03-02\n---\n# Faults\n", "Boiler"),
        ("---\ndate: 2024-03-02\n---\n# Faults\n", "Faults"),
        ("The boiler:\n\ntext", "The boiler"),
        ("A first line that goes on and on " * 5, "my boiler 2"),
    ],
)
def test_title_is_what_the_author_called_it(text: str, title: str) -> None:
    assert document(Path("my-boiler_2.md"), text.encode()).title == title


def test_front_matter_stays_searchable_on_its_lines() -> None:
    text = document(Path("a.md"), b"---\ndate: 2024-03-02\n---\nText\n").text
    assert text.split("\n")[1] == "date: 2024-03-02"
    assert text.split("\n")[3] == "Text"


def test_line_ends_become_newlines() -> None:
    assert document(Path("a.txt"), b"one\r\ntwo\rthree").text == "one\ntwo\nthree"


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "empty"), (b" \n\t\n", "empty"), (b"RIFF\0\0\0\0", "not text")]
)
def test_what_holds_no_text_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(Unsuitable, match=reason):
        read(tmp_path / "a.txt")


def test_zero_bytes_far_inside_are_found_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"text " * 5000 + b"\0")
    with pytest.raises(Unsuitable, match="not text"):
        read(tmp_path / "a.txt")


def test_file_of_two_gigabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    with (tmp_path / "a.txt").open("wb") as file:
        file.truncate(2_000_000_000)  # sparse: takes no room
    with pytest.raises(Unsuitable, match="larger than 20 MB \\(2,000 MB\\)"):
        read(tmp_path / "a.txt")


def test_odd_bytes_of_a_name_can_be_printed() -> None:
    assert shown(Path("caf\udce9.txt")) == "caf\\xe9.txt"
