"""Pipelines side by side: what is still to be asked, who is asked first, figures and table."""

from typing import Any

from voice_agent.bench.first_sound import AnsweredAloud
from voice_agent.bench.questions import Question
from voice_agent.bench.side_by_side import figures, merged, order, row, table, unasked
from voice_agent.events import Timings

QUESTIONS = [Question("q1", "Which colour?"), Question("q2", "How many?")]
BOTH = {"model": "m", "pipelines": ["ours", "stock"]}


def answered(pipeline: str, id: str, wait_s: float | None, **other: Any) -> dict[str, Any]:
    timings = {
        "endpoint": 0.5,
        "transcript": 0.7,
        "first_token": 1.2,
        "first_sentence": None,
        "first_sound": 1.9,
    }
    answer = {"model": "m", "pipeline": pipeline, "id": id, "right": True, "timings": timings}
    return answer | {"word_to_sound_s": wait_s} | other


def test_a_question_that_one_pipeline_has_still_to_answer_is_asked_of_all_again() -> None:
    rows = [answered("ours", "q1", 2.0), answered("stock", "q1", 8.0), answered("ours", "q2", 2.0)]
    assert unasked(QUESTIONS, rows, **BOTH) == [QUESTIONS[1]]
    assert unasked(QUESTIONS, rows, model="m", pipelines=["ours"]) == []
    assert unasked(QUESTIONS, rows, model="another", pipelines=["ours"]) == QUESTIONS


def test_of_two_answers_to_a_question_the_later_one_counts() -> None:
    rows = [answered("ours", "q1", 9.0), answered("stock", "q1", 8.0), answered("ours", "q1", 2.0)]
    assert [each["word_to_sound_s"] for each in merged(rows)] == [2.0, 8.0]


def test_another_pipeline_begins_with_each_question() -> None:
    names = ["ours", "stock", "pipecat"]
    assert [order(names, n)[0] for n in range(4)] == ["ours", "stock", "pipecat", "ours"]
    assert all(sorted(order(names, n)) == sorted(names) for n in range(4))


def test_the_ratio_is_that_of_the_medians_over_the_questions_that_all_were_asked() -> None:
    rows = [
        answered("ours", "q1", 2.0),
        answered("ours", "q2", 100.0),
        answered("stock", "q1", 8.0, right=False),
    ]
    ours, stock = figures(rows, **BOTH)
    assert (ours.word_to_sound_s.median, stock.word_to_sound_s.median) == (2.0, 8.0)
    assert (ours.of_it, stock.of_it, ours.right, stock.right) == (1.0, 0.25, 1, 0)


def test_an_answer_that_was_never_heard_has_no_wait_and_is_counted() -> None:
    (stock,) = figures([answered("stock", "q1", None, right=False)], model="m", pipelines=["stock"])
    assert (stock.questions, stock.word_to_sound_s.count, stock.of_it) == (1, 0, None)


def test_a_stage_lasts_from_the_end_of_the_one_before() -> None:
    (ours,) = figures([answered("ours", "q1", 2.0)], model="m", pipelines=["ours"])
    lasted = {name: each.median for name, each in ours.stages.items()}
    known = {"endpoint": 0.5, "stt": 0.2, "prompt": 0.5, "loudspeaker": 0.1}
    assert lasted == known | {"generation": None, "tts": None}


def test_the_table_has_a_line_for_each_pipeline_and_one_for_its_stages() -> None:
    lines = table(figures([answered("ours", "q1", 2.0), answered("stock", "q1", 8.0)], **BOTH))
    _head, ours, stock, _, _stages, *shares = lines.splitlines()
    assert ours.split() == "ours 1 of 1 2.00 / 2.00 (1) 100%".split()
    assert stock.split() == "stock 1 of 1 8.00 / 8.00 (1) 25%".split()
    assert shares[1].split() == "stock 0.50 0.20 0.50 - - 6.10".split()


def test_what_is_kept_of_an_answer_can_be_read_back_as_figures() -> None:
    result = AnsweredAloud(
        id="q1",
        kind="fact",
        question="Which?",
        understood="Which?",
        right=True,
        why="",
        heard_answer="Red.",
        written_answer="Red.",
        word_to_sound_s=3.0,
        timings=Timings(endpoint=0.8),
    )
    (ours,) = figures([row("m", "ours", result)], model="m", pipelines=["ours"])
    assert (ours.word_to_sound_s.median, ours.stages["endpoint"].median) == (3.0, 0.8)
