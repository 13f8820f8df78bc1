"""Statements that answer only together."""

from voice_agent.events import Source
from voice_agent.research.evidence import Finding
from voice_agent.research.links import follow_ups, linked, names

QUESTION = "when must we pay for the trip of leo"
TRIPS, NOTES = Source("trips.md", "trip"), Source("notes.md", "notes")
NOTE = Finding("leo goes to class 8a and mia to class 4b", NOTES)
ROWS = [Finding(f"class: {name}; pay by: {day}", TRIPS) for name, day in
        (("4a", "May"), ("4b", "March"), ("8a", "June"), ("8b", "July"))]  # fmt: skip
OTHER = [Finding(f"{word} is no matter of anyone", NOTES) for word in "abcdef"]


def pairs(*, room_chars: int = 500, note: Finding = NOTE) -> list[Finding]:
    return linked(
        QUESTION,
        [note, *ROWS],
        OTHER,
        terms=str.split,
        weight=lambda term: 1.0,
        room_chars=room_chars,
    )


def test_codes_and_names_link_statements() -> None:
    assert names("Leo is in class 8a of Ms Petrov") == ["Leo", "8a", "Ms", "Petrov"]


def test_a_note_and_the_rows_that_it_names_come_together() -> None:
    assert set(pairs()) == {NOTE, ROWS[1], ROWS[2]}


def test_what_shares_no_name_is_no_pair() -> None:
    assert pairs(note=Finding("leo goes to school", NOTES)) == []


def test_a_pair_that_does_not_fit_is_left_out() -> None:
    assert pairs(room_chars=20) == []


def test_the_names_that_were_found_are_searched_with_what_is_missing() -> None:
    queries = follow_ups("what is the phone of our caterer", [
        Finding("our caterer is Harbour Table", NOTES), Finding("the tent is blue", NOTES)
    ], terms=str.split)  # fmt: skip
    assert queries == ["Harbour Table what the phone of"]
