"""Documents to passages."""

from pathlib import Path

import pytest

from voice_agent.library.passages import MAX_WORDS, Passage, passages
from voice_agent.library.readers import document

ROWS = [f"| Room {n} | white with a narrow blue line | {n} litres |" for n in range(40)]
TABLE = "\n".join(["# Paint", "", "| Room | Colour | Amount |", "|---|---|---|", *ROWS])


def divided(text: str, name: str = "a.md") -> list[Passage]:
    return passages(document(Path(name), text.encode()))


def test_passage_knows_its_headings_and_lines() -> None:
    text = "# House\n\n## Heating\n\n### Boiler\n\nIt is red.\nAnd old.\n\n## Roof\n\nIt leaks.\n"
    boiler, roof = divided(text)
    assert (boiler.heading, boiler.line, boiler.last_line) == (("Heating", "Boiler"), 7, 8)
    assert (roof.heading, roof.text, roof.ordinal) == (("Roof",), "It leaks.", 1)


def test_short_paragraphs_share_a_passage() -> None:
    assert [p.text for p in divided("# T\n\nOne.\n\nTwo.\n")] == ["One.\n\nTwo."]


def test_heading_with_nothing_below_it_is_found_too() -> None:
    assert [p.text for p in divided("# Milk\n")] == ["Milk"]
    found = divided("# Shopping\n\n## Milk\n\n## Bread\n\nRye.\n\n## Tea\n")
    assert [(p.heading, p.text) for p in found] == [((), "Milk"), (("Bread",), "Rye."), ((), "Tea")]


def test_long_paragraph_is_divided_between_sentences() -> None:
    sentence = "The boiler in the cellar was made in the year before we came. "
    found = divided("# T\n\n" + sentence * 40)
    assert len(found) > 2
    assert all(p.text.startswith("The") and p.text.endswith("came.") for p in found)


def test_parts_of_a_long_paragraph_know_their_lines() -> None:
    found = divided("# T\n\n" + "The boiler was made before we came.\n" * 100)
    assert [p.line for p in found] == [3, *(p.last_line + 1 for p in found[:-1])]
    assert found[-1].last_line == 102


def test_text_without_any_full_stop_is_divided_too() -> None:
    assert all(len(p.text.split()) <= MAX_WORDS for p in divided("# T\n\n" + "word " * 5000))


def test_rows_of_a_divided_table_keep_its_header() -> None:
    found = divided(TABLE)
    assert len(found) > 1
    assert all(p.full_text.startswith("| Room | Colour | Amount |\n|---|") for p in found)
    assert sum(p.text.count("| Room ") for p in found) == 1 + len(ROWS)


def test_items_of_a_divided_list_keep_the_sentence_that_introduces_them() -> None:
    items = "\n".join(f"- the item with the number {n} and some words more" for n in range(60))
    found = divided(f"# T\n\nFor the party we need:\n\n{items}\n")
    assert len(found) > 1
    assert all(p.full_text.startswith("For the party we need:") for p in found)


def test_nested_items_stay_with_theirs() -> None:
    (passage,) = divided("# T\n\n- Bread\n  - rye\n  - spelt\n- Soup\n")
    assert passage.text == "- Bread\n  - rye\n  - spelt\n- Soup"


@pytest.mark.parametrize(
    "text",
    ["QUIET HOURS\n\nFrom ten.", "Quiet hours\nFrom ten.", "§ 3 Quiet hours\n\nFrom ten."],
)
def test_plain_text_has_headings_too(text: str) -> None:
    (passage,) = divided(f"House rules\n\n{text}\n", "a.txt")[1:]
    assert (passage.heading[-1].lower()[-11:], passage.text) == ("quiet hours", "From ten.")


def test_heading_in_a_code_block_is_none() -> None:
    (passage,) = divided("# T\n\n```\n# not a heading\n```\n")
    assert "# not a heading" in passage.text


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "[" * 1_000_000,
        "A. B. " * 50_000,
        "# " + " " * 1_000_000 + "x",
        "a line that was wrapped at the same width as all of the others are\n" * 20_000,
        "| a |\n|---|\n" + "| |\n" * 20_000,
        "| " + "a" * 100_000 + " |\n|---|\n" + "| b |\n" * 20_000,
        "Intro:\n\n" + "- \n- a\n" * 20_000,
    ],
)
def test_text_that_no_person_wrote_is_divided_too(text: str) -> None:
    assert max(len(p.full_text) for p in divided(text)) <= 4_000


def test_nothing_of_a_document_is_lost() -> None:
    notes = "Intro:\n\n1. one\n2. two\n\n> quoted\n\n```\ncode\n\nmore\n```\nEnd."
    text = f"{TABLE}\n\n## Notes\n\n{notes}"
    kept = " ".join(" ".join((*p.heading, p.text)) for p in divided(text)).split()
    assert [w for w in text.split() if w not in kept and w not in ("#", "##", "Paint")] == []
