"""One yes or no a hop in, a question's beginning and end out."""

import math
from dataclasses import replace

import pytest

from voice_agent.turns.endpointing import Endpointing, EndpointRules, Outcome

RULES = EndpointRules(
    silence_s=0.6,
    complete_silence_s=0.4,
    incomplete_silence_s=1.2,
    short_speech_s=0.5,
    hint_wait_s=9,
    wait_s=5,
    max_question_s=20,
)


def hops(endpointing: Endpointing, pattern: str) -> list[tuple[int, Outcome]]:
    """Play ``pattern``, such as "speech 1.0, silence 0.3"; return the outcomes by their hop."""
    found = []
    at = 0
    for part in pattern.split(", "):
        kind, seconds = part.split()
        for _ in range(round(float(seconds) * 100)):
            outcome = endpointing.step(kind == "speech")
            at += 1
            if outcome is not None:
                found.append((at, outcome))
            if outcome in (Outcome.ENDED, Outcome.NOTHING_SAID):
                return found
    return found


def ended_at(pattern: str, rules: EndpointRules = RULES) -> int:
    at, outcome = hops(Endpointing(rules), pattern)[-1]
    assert outcome is Outcome.ENDED
    return at


def test_a_question_starts_pauses_and_ends() -> None:
    assert hops(Endpointing(RULES), "silence 1, speech 2, silence 3") == [
        (110, Outcome.STARTED),
        (320, Outcome.PAUSED),
        (360, Outcome.ENDED),
    ]


def test_a_question_knows_where_it_began_and_ended() -> None:
    endpointing = Endpointing(RULES)
    hops(endpointing, "silence 1, speech 2, silence 3")
    assert (endpointing.start_hop, endpointing.end_hop) == (100, 300)


def test_speech_after_a_pause_goes_on_with_the_question() -> None:
    outcomes = hops(Endpointing(RULES), "speech 1, silence 0.4, speech 1, silence 3")
    assert [outcome for _, outcome in outcomes] == [
        Outcome.STARTED,
        Outcome.PAUSED,
        Outcome.RESUMED,
        Outcome.PAUSED,
        Outcome.ENDED,
    ]
    assert outcomes[-1][0] == 240 + 60


def test_a_click_is_no_speech() -> None:
    assert not hops(Endpointing(RULES), "silence 1, speech 0.08, silence 1")


def test_a_blip_does_not_prolong_a_pause() -> None:
    assert ended_at("speech 1, silence 0.5, speech 0.03, silence 2") == 160


def test_a_short_word_is_given_more_time() -> None:
    assert ended_at("speech 0.3, silence 3") == 30 + 120


def test_nobody_speaks() -> None:
    assert hops(Endpointing(RULES), "silence 9") == [(500, Outcome.NOTHING_SAID)]


def test_a_word_in_the_last_moment_is_heard_to_its_end() -> None:
    assert ended_at("silence 4.95, speech 1, silence 3") == 595 + 60


def test_the_wait_can_be_for_ever() -> None:
    assert not hops(Endpointing(RULES, wait_s=math.inf), "silence 60")


def test_a_talk_show_is_cut() -> None:
    assert ended_at("silence 1, speech 60") == 100 + 2_000


def test_the_tail_of_the_wake_word_is_no_question() -> None:
    tail = Endpointing(RULES, not_before_hop=30)
    assert hops(tail, "speech 0.2, silence 9") == [(500, Outcome.NOTHING_SAID)]


def test_a_question_without_a_pause_begins_at_the_wake_words_end() -> None:
    endpointing = Endpointing(RULES, not_before_hop=30)
    assert hops(endpointing, "speech 2, silence 3")[-1] == (260, Outcome.ENDED)
    assert endpointing.start_hop == 0


@pytest.mark.parametrize(("complete", "silence_hops"), [(True, 40), (None, 60), (False, 120)])
def test_the_text_decides_how_long_the_silence_is(complete: bool | None, silence_hops: int) -> None:
    endpointing = Endpointing(RULES)
    hops(endpointing, "speech 1, silence 0.3")
    endpointing.hint(complete)
    assert hops(endpointing, "silence 3")[-1] == (silence_hops - 30, Outcome.ENDED)


def test_a_hint_is_forgotten_when_speech_goes_on() -> None:
    endpointing = Endpointing(RULES)
    hops(endpointing, "speech 1, silence 0.3")
    endpointing.hint(False)
    assert hops(endpointing, "speech 1, silence 3")[-1] == (160, Outcome.ENDED)


def test_a_late_hint_is_not_taken_for_what_is_said_now() -> None:
    endpointing = Endpointing(RULES)
    hops(endpointing, "speech 1, silence 0.3, speech 0.2")
    endpointing.hint(True)
    assert hops(endpointing, "silence 3")[-1] == (60, Outcome.ENDED)


def test_the_end_waits_for_a_hint_that_was_announced() -> None:
    endpointing = Endpointing(RULES)
    hops(endpointing, "speech 1, silence 0.3")
    endpointing.await_hint()
    assert not hops(endpointing, "silence 0.6")
    endpointing.hint(True)
    assert hops(endpointing, "silence 3") == [(1, Outcome.ENDED)]


def test_the_end_waits_for_a_hint_no_longer_than_for_a_word() -> None:
    endpointing = Endpointing(RULES)
    hops(endpointing, "speech 1, silence 0.3")
    endpointing.await_hint()
    assert hops(endpointing, "silence 3") == [(90, Outcome.ENDED)]


def test_a_late_hint_costs_no_more_than_the_time_set_for_it() -> None:
    endpointing = Endpointing(replace(RULES, hint_wait_s=0.2))
    hops(endpointing, "speech 1, silence 0.3")
    endpointing.await_hint()
    assert hops(endpointing, "silence 3") == [(50, Outcome.ENDED)]


@pytest.mark.parametrize(("pattern", "cut"), [("speech 60", True), ("speech 2, silence 3", False)])
def test_it_knows_whether_someone_speaks_on(pattern: str, cut: bool) -> None:
    endpointing = Endpointing(RULES)
    hops(endpointing, pattern)
    assert endpointing.cut is cut
