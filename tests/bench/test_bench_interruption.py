"""What an interruption came to."""

import numpy as np
import pytest
from numpy.typing import NDArray

from voice_agent.bench.figures import Spread
from voice_agent.bench.interruption import Interrupted, State, Take, barge_in, silence, state_at

RATE_HZ = 16_000
TURN = [
    ("wake", 0.0),
    ("utterance", 2.0),
    ("transcript", 3.0),
    ("answer_text", 5.0),
    ("playback_started", 6.0),
    ("answer_text", 6.5),
    ("playback_ended", 8.0),
    ("answer", 8.1),
]


def tone(*spans: tuple[float, float], seconds: float = 6.0) -> NDArray[np.float32]:
    samples = np.zeros(round(seconds * RATE_HZ), np.float32)
    for start_s, end_s in spans:
        at = np.arange(round(start_s * RATE_HZ), round(end_s * RATE_HZ))
        samples[at] = 0.5 * np.sin(at / 3)
    return samples


def take(*heard: tuple[float, float], detected_s: float | None = 1.85) -> Take:
    return Take(tone((1.0, 1.7), seconds=2.5), tone(*heard), RATE_HZ, detected_s)


def run(state: State, silence_s: float | None = None, *, detected: bool = True) -> Interrupted:
    return Interrupted(
        n=1,
        aim=state,
        state=state,
        detected=detected,
        word_to_detection_s=0.15,
        word_to_silence_s=silence_s,
        detection_to_silence_s=None,
        stopped_s=0.1,
        stale_s=0.0,
    )


def test_silence_counts_from_the_words_end_and_from_the_detection() -> None:
    found = silence(take((0.0, 1.9)))
    assert (found.word_to_silence_s, found.detection_to_silence_s) == (
        pytest.approx(0.2),
        pytest.approx(0.05),
    )
    assert (found.word_to_detection_s, found.stale_s) == (pytest.approx(0.15), 0)


def test_what_sounds_a_second_later_is_stale_and_no_longer_silence() -> None:
    found = silence(take((0.0, 1.9), (4.0, 4.5)))
    assert found.word_to_silence_s == pytest.approx(0.2)
    assert found.stale_s == pytest.approx(0.5)


def test_where_nothing_sounded_there_is_no_silence_to_wait_for() -> None:
    found = silence(take())
    assert (found.word_to_detection_s, found.word_to_silence_s) == (pytest.approx(0.15), None)


def test_a_missed_wake_word_has_no_times() -> None:
    assert silence(take((0.0, 5.0), detected_s=None)).word_to_silence_s is None


@pytest.mark.parametrize(
    ("moment_s", "state"),
    [
        (1.0, None),
        (2.5, "transcribing"),
        (4.0, "processing a prompt"),
        (5.5, "generating"),
        (7.0, "speaking"),
        (9.0, "follow-up"),
    ],
)
def test_a_turns_events_say_in_which_state_it_was(moment_s: float, state: State | None) -> None:
    assert state_at(TURN, moment_s) == state


def test_an_answer_that_research_was_ended_for_is_the_final_one() -> None:
    forced = [*TURN[:3], ("finishing", 4.0), *TURN[3:]]
    assert state_at(forced, 4.5) == state_at(forced, 5.5) == "final answer"
    assert state_at(forced, 7.0) == "speaking"


def test_there_is_a_row_for_each_state_and_one_for_all() -> None:
    runs = [run("speaking", 0.2), run("speaking", 0.3), run("generating")]
    found = barge_in([*runs, run("speaking", detected=False)], 8.0)
    by_state = {row.state: row for row in found.rows}
    assert (found.runs, found.missed) == (4, 1)
    assert by_state["speaking"].word_to_silence_s == Spread(2, 0.25, 0.295)
    assert by_state["generating"].word_to_silence_s.count == 0
    assert by_state[None].runs == 3
