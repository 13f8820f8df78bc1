"""Passages to the pieces that say something alone."""

import pytest

from voice_agent.library.statements import sentences, statements


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It is red. It is old.", 2),
        ("Dr. Lang called at 3.30 p.m. today.", 1),
        ("See No. 4 of 12 Jan. 2024.", 1),
        ('"Really?" he asked. Yes!', 2),
        ("Costs 2.50 euros... or not? Who knows.", 2),
        ("", 0),
    ],
)
def test_sentences_end_where_they_end(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_row_of_a_table_names_its_columns() -> None:
    table = "| Room | Colour |\n|---|---|\n| Kitchen | white |\n| Bath | |"
    assert statements(table) == ["Room: Kitchen; Colour: white", "Room: Bath"]


def test_item_goes_with_its_introduction() -> None:
    text = "We are many. Please bring:\n\n- bread\n- **two** [plates](http://x.example)"
    assert statements(text) == [
        "We are many.",
        "Please bring: bread",
        "Please bring: two plates",
    ]


def test_wrapped_lines_are_joined_and_deliberate_breaks_are_not() -> None:
    text = (
        "This line is wrapped only because the next word has no more room on\n"
        "it.\nE1  No water\nE2  Door open"
    )
    assert statements(text)[1:] == ["E1 No water", "E2 Door open"]
    assert statements(text)[0].endswith("room on it.")


def test_introduction_without_items_is_kept() -> None:
    assert statements("Prices:") == ["Prices:"]
