"""Figures over results, and how they are shown."""

from dataclasses import replace

import pytest

from voice_agent.bench.figures import (
    Benchmark,
    QuestionAnswered,
    figures,
    percentile,
    word_errors,
)
from voice_agent.bench.report import line, table
from voice_agent.events import Timings, to_json

RIGHT = QuestionAnswered(
    id="q01",
    kind="number",
    mode="typed",
    question="How many?",
    heard=None,
    right=True,
    why="",
    text="Three.",
    basis="complete",
    reason="none",
    rounds=1,
    charged_tokens=400,
    answer_tokens=0,
    sources=(),
    timings=Timings(first_token=1.0, answer_end=2.0),
)
FAILED = replace(
    RIGHT, id="q02", right=False, why="the model failed", text="", basis=None, timings=Timings()
)
HEARD = replace(RIGHT, mode="spoken", heard="How many, please?")


def test_percentiles_lie_between_values() -> None:
    assert percentile([1, 2, 3, 4], 0.5) == 2.5
    assert percentile([1, 2], 0.95) == 1.95
    assert percentile([7], 0.95) == 7
    assert percentile([], 0.5) is None


@pytest.mark.parametrize(
    ("said", "heard", "errors"),
    [
        ("What is it?", "what is it", 0),
        ("What is it?", "", 3),
        ("What is it?", "What was it now?", 2),
        ("The pump filter", "Pump filter", 1),
    ],
)
def test_word_errors_are_the_words_to_change(said: str, heard: str, errors: int) -> None:
    assert word_errors(said, heard) == errors


def test_figures_count_what_was_right_answered_and_how() -> None:
    found = figures([RIGHT, FAILED])
    assert (found.questions, found.right, found.answered) == (2, 1, 1)
    assert found.by_kind == {"number": {"right": 1, "of": 2}}
    assert found.basis == {"complete": 1, "failed": 1}
    assert found.timings["answer_end"] == {"count": 1, "median": 2.0, "p95": 2.0}
    assert found.timings["endpoint"] is None
    assert found.word_errors is None


def test_spoken_questions_count_misheard_words() -> None:
    found = figures([HEARD])
    assert (found.word_errors, found.words) == (1, 2)


def test_a_line_tells_the_verdict_and_why() -> None:
    assert line(RIGHT) == "q01    typed   right  complete     2.0 s  Three."
    assert line(FAILED).endswith("WRONG  failed         - s  (the model failed)")


def test_the_table_shows_both_modes_side_by_side() -> None:
    shown = table(
        Benchmark(
            model="tiny",
            questions=2,
            typed=figures([RIGHT]),
            spoken=figures([HEARD]),
            interrupted=True,
        )
    )
    rows = {row.split("  ")[0]: row.split() for row in shown.splitlines()}
    assert rows["tiny"] == ["tiny", "typed", "spoken"]
    assert rows["right answers"][2:] == ["1", "of", "1", "(100%)"] * 2
    assert rows["word errors heard"][3:] == ["-", "1", "of", "2", "(50%)"]
    assert rows["answer end, s"][3:] == ["2.00", "/", "2.00"] * 2
    assert "Interrupted" in shown


def test_the_figures_of_no_question_are_shown_as_none() -> None:
    nothing = Benchmark(model="t", questions=0, typed=figures([]), spoken=None, interrupted=True)
    assert table(nothing).splitlines()[1].split() == ["right", "answers", "-"]


def test_json_holds_the_figures() -> None:
    summary = to_json(
        Benchmark(model="t", questions=1, typed=figures([RIGHT]), spoken=None, interrupted=False)
    )
    assert summary["event"] == "benchmark"
    assert summary["typed"]["rounds"] == {"count": 1, "median": 1, "p95": 1}
    assert summary["spoken"] is None
