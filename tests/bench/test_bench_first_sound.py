"""The wait for an answer, and the picture of it."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from numpy.typing import NDArray

from voice_agent.bench.first_sound import AnsweredAloud, latency, picture, word_to_sound_s
from voice_agent.events import Timings, to_json

RATE_HZ = 16_000


def tone(*spans: tuple[float, float], seconds: float) -> NDArray[np.float32]:
    samples = np.zeros(round(seconds * RATE_HZ), np.float32)
    for start_s, end_s in spans:
        at = np.arange(round(start_s * RATE_HZ), round(end_s * RATE_HZ))
        samples[at] = 0.5 * np.sin(at / 3)
    return samples


def answered(wait_s: float | None, *, right: bool = True) -> AnsweredAloud:
    return AnsweredAloud(
        id="q01",
        kind="fact",
        question="Which?",
        understood="Which?",
        right=right,
        why="",
        heard_answer="Red & blue.",
        written_answer="Red & blue.",
        word_to_sound_s=wait_s,
        timings=Timings(endpoint=0.5, transcript=1.0, first_token=2.0),
    )


def test_a_cue_before_the_answer_is_not_its_first_sound() -> None:
    question = tone((0.5, 2.0), seconds=2.5)
    heard = tone((2.1, 2.2), (3.5, 4.0), (5.0, 8.0), seconds=9.0)
    assert word_to_sound_s(question, heard, RATE_HZ, 4.9) == (pytest.approx(3.0), 5.0)


def test_without_an_answer_there_is_no_wait() -> None:
    question = tone((0.5, 2.0), seconds=2.5)
    assert word_to_sound_s(question, tone(seconds=9.0), RATE_HZ, 4.9) is None


def test_figures_hold_each_stage_and_what_was_right() -> None:
    found = latency(
        [answered(2.5), answered(3.5), answered(None, right=False)], model="m", ready_s=4
    )
    assert (found.right, found.questions, found.word_to_sound_s.median) == (2, 3, 3.0)
    stages = {each.stage: each.done_s for each in found.stages}
    assert (stages["endpoint"].median, stages["first_sentence"].count) == (0.5, 0)
    assert list(stages)[-1] == "loudspeaker"


def test_the_figures_can_be_printed_as_json() -> None:
    printed = json.loads(json.dumps(to_json(latency([answered(2.5)], model="m", ready_s=4))))
    assert printed["stages"][-1]["done_s"] == {"count": 1, "median": 2.5, "p95": 2.5}


def test_the_picture_is_an_svg_with_a_bar_for_each_stage_that_there_was() -> None:
    root = ET.fromstring(picture(latency([answered(2.5)], model="a<b", ready_s=4)))
    bars = root.findall("{http://www.w3.org/2000/svg}rect")
    texts = [text.text for text in root.findall("{http://www.w3.org/2000/svg}text")]
    assert len(bars) == 1 + 4
    assert "first token" in texts
    assert texts[0] is not None and texts[0].endswith("(a<b)")
