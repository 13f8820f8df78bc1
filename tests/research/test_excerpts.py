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
    assert (finding.text, finding.source) == ("the boiler is blue", found.source)


def test_together_they_are_no_longer_than_there_is_room() -> None:
    found = passage("a.md", ". ".join(f"boiler fact number {i}" for i in range(50)))
    assert 150 < sum(len(f.text) for f in chosen("boiler", found, room_chars=200)) <= 200


def test_each_statement_keeps_its_own_source() -> None:
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
    found = passage("b.md", "cats sleep a lot. boiler pressure")
    texts = {f.text for f in chosen("boiler pressure", other, found, room_chars=33)}
    assert texts == {"cats sleep a lot", "boiler pressure"}


def test_a_statement_that_is_too_long_is_cut_and_keeps_its_source() -> None:
    long = passage("b.md", "boiler " * 50)
    (cut,) = chosen("boiler", passage("a.md", "cats sleep a lot. " * 3, 0), long, room_chars=15)
    assert (cut.text, cut.source) == ("boiler boiler b", long.source)


def test_no_passages_no_findings() -> None:
    assert chosen("boiler") == []
