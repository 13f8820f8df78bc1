"""Reading and choosing questions."""

from pathlib import Path

import pytest

from voice_agent.bench.questions import Question, chosen, examples, load_questions
from voice_agent.errors import UsageError

SOME = [Question(id=f"q{n}", text="?") for n in range(1, 5)]


def test_the_shipped_questions_are_of_the_promised_kinds() -> None:
    questions = load_questions(examples() / "questions.toml")
    kinds = [q.kind for q in questions]
    assert len(questions) == 38
    assert kinds.count("unanswerable") == 8
    assert kinds.count("two_places") >= 5
    assert kinds.count("number") + kinds.count("date") >= 10


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("[[question]", "is no TOML file"),
        ("", "has no"),
        ("question = 3", "has no"),
        ('[[question]]\nid = "a"', "question 1 lacks"),
        (
            '[[question]]\nid="a"\ntext="?"\nkind="fact"\naccept=[]\ncontradict=[]',
            "needs `accept`",
        ),
        (
            '[[question]]\nid="a"\ntext="?"\nkind="fact"\naccept=[[1]]\ncontradict=[]',
            "no text",
        ),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path: Path, content: str, fault: str) -> None:
    file = tmp_path / "questions.toml"
    file.write_text(content)
    with pytest.raises(UsageError, match=fault) as caught:
        load_questions(file)
    assert caught.value.file == str(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: no such file"):
        load_questions(tmp_path / "none.toml")


def test_questions_are_chosen_by_name_and_number() -> None:
    assert [q.id for q in chosen(SOME, ids="q3, q1,q3")] == ["q3", "q1"]
    assert [q.id for q in chosen(SOME, limit=2)] == ["q1", "q2"]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UsageError, match="There is no question 'q9'"):
        chosen(SOME, ids="q1,q9")
