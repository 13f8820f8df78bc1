"""Text to its normal forms."""

import re
import sqlite3
from pathlib import Path

import pytest

from voice_agent.library import readers
from voice_agent.library.porter import stem
from voice_agent.library.terms import content_terms, terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe"),
        ("kettles", "kettle"),
        ("children's", "child s"),
        ("bought", "buying"),
        ("1,200", "1200"),
        ("10.50", "10,5"),
        ("07:30", "7:30"),
        ("2024-03-02", "2024 03 02"),
        ("12.03.2024", "12 03 2024"),
        ("E14", "e 14"),
        ("twelve", "12"),
        ("Straße", "STRASSE"),
        ("ﬁlter", "filter"),
    ],
)
def test_forms_of_one_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("How much does the caterer cost per person?", ["cater", "cost", "per", "person"]),
        ("Wie viel kostet der Caterer?", ["kostet", "cater"]),
        ("¿Cuánto cuesta la calefacción?", ["cuesta", "calefaccion"]),
        ("Combien coûte le chauffage ?", ["cout", "chauffag"]),
        ("Who was it?", ["who", "wa", "it"]),
        ("?!", []),
    ],
)
def test_stop_words_of_the_questions_language_are_left_out(question: str, left: list[str]) -> None:
    assert content_terms(question) == left


def test_stems_are_those_of_sqlites_porter() -> None:
    """SQLite differs only where a word is nothing but a suffix."""
    text = "".join(p.read_text() for p in Path(readers.__file__).parent.parent.rglob("*.py"))
    words = sorted(set(re.findall("[a-z]+", text.lower())) - {"ies", "eed", "sses"})
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE text USING fts5(word, tokenize='porter ascii')")
    db.execute("CREATE VIRTUAL TABLE seen USING fts5vocab(text, instance)")
    db.executemany("INSERT INTO text (rowid, word) VALUES (?, ?)", enumerate(words))
    theirs = {words[row]: term for term, row in db.execute("SELECT term, doc FROM seen")}
    db.close()
    assert len(theirs) > 1000
    assert {word: stem(word) for word in words} == theirs
