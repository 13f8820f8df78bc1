"""Questions to passages, over a small library."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent.errors import LibraryError
from voice_agent.library import Library, terms

DOCUMENTS = {
    "boiler.md": "# Boiler manual\n\n## Pressure\n\nThe pressure is 1.5 bar when it is cold.\n\n"
    "## Faults\n\nE14 means that the pump is stuck.\n",
    "party.md": "# Summer party\n\nHarbour Table is the caterer and takes 31.00 euros a guest.\n\n"
    "| Guest | Brings |\n|---|---|\n| Edith | plum cake |\n",
    "copy of party.md": "# Summer party\n\nHarbour Table is the caterer and takes 31.00 euros a "
    "guest.\n\n| Guest | Brings |\n|---|---|\n| Edith | plum cake |\n",
    "office/notes.txt": "Office notes\n\nThe cold buffet was bought in May.\n",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    for name, text in DOCUMENTS.items():
        file = tmp_path / "documents" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    with Library.open(tmp_path / "library.sqlite3") as library:
        library.add(tmp_path / "documents")
        yield library


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("How high should the boiler's pressure be?", "1.5 bar"),
        ("What does error E 14 mean?", "pump is stuck"),
        ("How much does the caterer for the summer party cost?", "31.00 euros"),
        ("when did we buy the cold buffet", "in May"),
        ("What is Edith bringing?", "plum cake"),
    ],
)
def test_question_finds_its_answer(library: Library, question: str, fact: str) -> None:
    assert fact in library.search(question, 1)[0].text


@pytest.mark.parametrize(
    "query",
    ['"', '"boiler', "boiler*", "NEAR(boiler pump", "boiler AND", "title:boiler", "-boiler", "^"],
)
def test_search_syntax_is_only_text(library: Library, query: str) -> None:
    hits = library.search(query)
    assert bool(hits) == ("boiler" in query)


@pytest.mark.parametrize("query", ["", "  ", "?!", "\0", "zyxwvut", "🙂"])
def test_nothing_to_look_for_finds_nothing(library: Library, query: str) -> None:
    assert library.search(query) == []


def test_misheard_word_finds_the_like_one(library: Library) -> None:
    hit = library.search("What does Harbor Table take?")[0]
    assert "Harbour" in hit.text
    assert 0 < hit.coverage < 1


def test_same_passage_is_found_once(library: Library) -> None:
    assert [hit.title for hit in library.search("caterer")] == ["Summer party"]


def test_hit_says_where_it_stands(library: Library) -> None:
    hit = library.search("pressure", 1)[0]
    assert hit.path.endswith("/documents/boiler.md")
    assert (hit.title, hit.heading, hit.line) == ("Boiler manual", "Pressure", 5)


def test_rarer_terms_weigh_more(library: Library) -> None:
    (cold,), (pump,), (unknown,) = terms("cold"), terms("pump"), terms("unheard")
    assert 0 < library.idf(cold) < library.idf(pump) < library.idf(unknown)


@pytest.mark.parametrize(
    "name", ["boiler.md", "Boiler manual", "boiler", "the manual of the boiler", "boilr manual"]
)
def test_document_is_found_by_about_its_name(library: Library, name: str) -> None:
    opened = library.document(name)
    assert opened.title == "Boiler manual"
    assert opened.text.startswith("# Boiler manual\n\n## Pressure\n\nThe pressure")


def test_document_in_a_folder_is_found_by_the_end_of_its_path(library: Library) -> None:
    assert library.document("office/notes.txt").title == "Office notes"


@pytest.mark.parametrize("name", ["", "/etc/passwd", "tax return of 1999"])
def test_unknown_document_is_an_error_with_names(library: Library, name: str) -> None:
    with pytest.raises(LibraryError, match="There are, for example"):
        library.document(name)


def test_passages_of_a_document_come_in_order(library: Library) -> None:
    assert [p.heading for p in library.passages("boiler.md")] == [("Pressure",), ("Faults",)]
