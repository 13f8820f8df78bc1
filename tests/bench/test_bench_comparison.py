"""Which questions are asked side by side, how their answers are judged, and the table."""

import json
from pathlib import Path

import pytest

from voice_agent.bench.comparison import NO_ANSWER, SHIPPED, TWO_HOP, judged, posed, table
from voice_agent.bench.hotpot import load_hotpot
from voice_agent.bench.questions import UNANSWERABLE, Question, examples, load_questions
from voice_agent.errors import UsageError

HOTPOT = [
    Question(f"h{n}", f"Which {n}?", "two_places", accept=(("yes" if n == 2 else f"thing {n}",),))
    for n in range(10)
]
ROW = {
    "model": "small",
    "system": "local",
    "origin": SHIPPED,
    "text": "It is 3.",
    "error": "",
    "right": True,
    "seconds": 4.0,
    "requests": 2,
    "processed_tokens": 300,
    "output_tokens": 9,
}


def test_questions_come_in_turn_from_three_origins() -> None:
    found = posed(load_questions(examples() / "questions.toml"), HOTPOT)
    assert [origin for origin, _ in found] == [SHIPPED, TWO_HOP, NO_ANSWER] * 8
    assert len({question.id for _, question in found}) == 24
    assert "h2" not in {question.id for _, question in found}
    assert all(question.answerable == (origin != NO_ANSWER) for origin, question in found)


@pytest.mark.parametrize(
    ("origin", "text", "right"),
    [
        (TWO_HOP, "It is the Thing 1.", True),
        (TWO_HOP, "It is thing 12.", False),
        (NO_ANSWER, "That is not stated in the documents.", True),
        (NO_ANSWER, "It is blue.", False),
        (SHIPPED, "", False),
    ],
)
def test_an_answer_is_judged_by_the_rule_of_its_origin(origin: str, text: str, right: bool) -> None:
    asked = HOTPOT[1] if origin == TWO_HOP else Question("u", "What colour?", UNANSWERABLE)
    assert judged(origin, asked, text).right == right


def test_the_table_has_a_line_for_each_system() -> None:
    wrong = ROW | {"origin": TWO_HOP, "text": " ", "error": "late", "right": False, "seconds": 9.0}
    other = ROW | {"system": "another", "origin": NO_ANSWER}
    _head, first, second = table([ROW, wrong, other]).splitlines()
    expected = "small local 2 50% 1 1 of 1 0 of 1 0 of 0 4 600 600 18 6.5 9.0 1"
    assert first.split() == expected.split()
    assert second.split()[:5] == ["small", "another", "1", "100%", "1"]


def test_hotpot_gives_paragraphs_once_and_the_questions_over_a_bridge(tmp_path: Path) -> None:
    row = {
        "id": "1",
        "type": "bridge",
        "question": "Who? ",
        "answer": "Ada",
        "context": {"title": ["A", "B"], "sentences": [["One.", " Two."], ["Three."]]},
    }
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, (row, row | {"id": "2", "type": "comparison"}))))
    paragraphs, questions = load_hotpot(file)
    assert paragraphs == [("A", "One. Two."), ("B", "Three.")]
    assert [(q.id, q.text, q.accept) for q in questions] == [("1", "Who?", (("Ada",),))]
    file.write_text('{"id": "1"}')
    with pytest.raises(UsageError):
        load_hotpot(file)
