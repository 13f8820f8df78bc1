"""Dividing a long source: research-loop.md, "Long sources"."""

from voice_agent.events import Source
from voice_agent.research.evidence import Finding
from voice_agent.research.sections import divide


def statement(text: str, heading: str | None = None) -> Finding:
    return Finding(text, Source("a.md", "A", heading))


def test_a_source_is_divided_at_its_headings() -> None:
    sections = divide([statement("a", "One"), statement("b", "One"), statement("c", "Two")])
    assert [(s.name, s.text) for s in sections] == [("One", "a b"), ("Two", "c")]


def test_a_section_that_is_too_long_is_divided_between_statements() -> None:
    sections = divide([statement(f"{n} 45678", "One") for n in range(5)], limit_chars=15)
    assert [(s.name, len(s.statements)) for s in sections] == [
        ("One (1)", 2),
        ("One (2)", 2),
        ("One (3)", 1),
    ]


def test_a_source_without_headings_is_in_parts() -> None:
    assert [s.name for s in divide([statement("aaaa"), statement("bbbb")], limit_chars=5)] == [
        "part 1",
        "part 2",
    ]


def test_nothing_of_a_source_is_lost() -> None:
    texts = [f"{n} " + "x" * (n * 37 % 50) for n in range(60)]
    sections = divide([statement(t, t[1]) for t in texts], limit_chars=80)
    assert [f.text for s in sections for f in s.statements] == texts


def test_one_statement_longer_than_a_section_stays_whole() -> None:
    assert [s.text for s in divide([statement("x" * 99)], limit_chars=10)] == ["x" * 99]
