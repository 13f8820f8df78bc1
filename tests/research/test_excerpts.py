"""Choosing the statements that bear on a question."""

from voice_agent.events import Source
from voice_agent.research.evidence import Finding
from voice_agent.research.excerpts import Found, choose


def chosen(question: str, *passages: Found, room_chars: int = 1_000) -> list[Finding]:
    return choose(
        question,
        passages,
        statements=lambda text: text.split(". "),
        terms=lambda text: text.casefold().split(),
        weight=lambda term: 1.0,
        room_chars=room_chars,
    )


def passage(path: str, text: str, coverage: float = 0.5) -> Found:
    return Found(Source(path, path), text, coverage)


def test_the_statement_that_holds_the_questions_words_is_taken() -> None:
    found = passage("a.md", "tyres are black. the boiler is blue. cats sleep")
    (finding,) = chosen("boiler colour", found, room_chars=20)
    assert finding == Finding("the boiler is blue", found.source)


def test_together_they_are_no_longer_than_there_is_room() -> None:
    parts = [f"boiler fact number {i}" for i in range(50)]
    (found,) = chosen("boiler", passage("a.md", ". ".join(parts)), room_chars=200)
    assert len(found.text) < 220


def test_statements_keep_the_order_of_their_text() -> None:
    found = passage("a.md", "cats sleep. boiler pressure. boiler")
    assert chosen("boiler pressure", found)[
        0
    ].text == "cats sleep. boiler pressure. boiler".replace(". ", " ")


def test_one_finding_for_each_passage_in_their_order() -> None:
    found = chosen("boiler", passage("a.md", "boiler one"), passage("b.md", "boiler two"))
    assert [(f.text, f.source and f.source.path) for f in found] == [
        ("boiler one", "a.md"),
        ("boiler two", "b.md"),
    ]


def test_a_passage_that_bears_on_the_question_more_wins() -> None:
    weak, strong = passage("a.md", "boiler one", 0.1), passage("b.md", "boiler two", 0.9)
    assert [f.text for f in chosen("boiler", weak, strong, room_chars=10)] == ["boiler two"]


def test_the_neighbour_of_the_topic_is_preferred_to_a_stranger() -> None:
    other = passage("a.md", "dogs bark a lot")
    found = passage("b.md", "cats sleep a lot. boiler pressure. two bar is right")
    texts = [f.text for f in chosen("boiler pressure", other, found, room_chars=33)]
    assert texts == ["cats sleep a lot boiler pressure"]


def test_a_statement_that_is_too_long_is_cut() -> None:
    assert (
        chosen("boiler", passage("a.md", "boiler " * 50), room_chars=20)[0].text
        == ("boiler " * 50)[:20]
    )


def test_no_passages_no_findings() -> None:
    assert chosen("boiler") == []
