"""Questions of the SQuAD family and their rule."""

import json
from pathlib import Path

import pytest

from voice_agent.bench.questions import Question
from voice_agent.bench.squad import (
    drawn,
    in_digits,
    judge_gold,
    load_unanswerable,
    load_xquad,
    write_library,
)
from voice_agent.errors import UsageError
from voice_agent.phrases import phrase


def asked(gold: str) -> Question:
    return Question(id="x", text="?", accept=((gold,),))


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        ("The Amazon rainforest", "It is Amazon Rainforest."),
        ("four", "He had 4 interceptions."),
        ("24", "Twenty-four of them."),
        ("415,000", "About 415000 people."),
        ("Miller–Rabin primality test", "The Miller-Rabin primality test, they say"),
        ("two.", "Two, in 2015"),
        ("18%", "It is 18%."),
    ],
)
def test_the_gold_answer_stands_in_the_answer(gold: str, text: str) -> None:
    assert judge_gold(asked(gold), text).right


@pytest.mark.parametrize(
    ("gold", "text"),
    [("24", "124"), ("four", "fourteen"), ("Kurt Coleman", "Coleman"), ("30", "I found nothing.")],
)
def test_a_part_of_a_word_or_of_the_gold_answer_is_wrong(gold: str, text: str) -> None:
    assert not judge_gold(asked(gold), text).right


def test_what_was_looked_for_is_no_answer() -> None:
    text = f"{phrase('nothing_found', 'en')} {phrase('looked_for', 'en', queries='“Kurt Coleman”')}"
    assert judge_gold(asked("Kurt Coleman"), text).why == "not found"


def test_numbers_in_words_become_digits() -> None:
    words = "ninety two of twenty or one hundred".split()
    assert in_digits(words) == ["92", "of", "20", "or", "1", "hundred"]


def test_an_xquad_file_is_paragraphs_and_questions(tmp_path: Path) -> None:
    row = {"id": "a", "question": "How many?", "answers": [{"text": "ten", "answer_start": 0}]}
    article = {"title": "Big_Game", "paragraphs": [{"context": "Ten.", "qas": [row]}]}
    file = tmp_path / "xquad.json"
    file.write_text(json.dumps({"data": [article]}))
    paragraphs, questions = load_xquad(file)
    assert paragraphs == [("Big Game", "Ten.")]
    assert questions == [Question(id="a", text="How many?", accept=(("ten",),))]


def test_unanswerable_questions_share_their_paragraphs(tmp_path: Path) -> None:
    rows = [{"title": "T", "paragraph": "P.", "question": f"{n}?"} for n in range(2)]
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    paragraphs, questions = load_unanswerable(file)
    assert paragraphs == [("T", "P.")]
    assert [q.answerable for q in questions] == [False, False]


@pytest.mark.parametrize("load", [load_xquad, load_unanswerable])
@pytest.mark.parametrize("content", ["{", "[1]", '{"data": [{}]}'])
def test_another_form_is_refused_by_name(load, content: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # two loaders
    file = tmp_path / "data.json"
    file.write_text(content)
    with pytest.raises(UsageError, match="is not in the expected form"):
        load(file)


def test_the_same_seed_draws_the_same_questions() -> None:
    many = [Question(id=str(n), text="?") for n in range(50)]
    assert drawn(many, 5, 1) == drawn(many, 5, 1) != drawn(many, 5, 2)
    assert len(drawn(many, 100, 1)) == 50


def test_each_paragraph_is_a_file_of_the_library(tmp_path: Path) -> None:
    write_library([("A", "one"), ("B", "two")], tmp_path)
    assert [f.read_text() for f in sorted(tmp_path.iterdir())] == ["# A\n\none\n", "# B\n\ntwo\n"]
