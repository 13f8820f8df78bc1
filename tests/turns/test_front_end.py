"""The front end as a whole, with real detectors, on sound of the project's own voice."""

import math

import numpy as np
import pytest
from spoken import echo_of, noise, say, silence

from voice_agent.audio.cues import CUES, Cue, cue_sound
from voice_agent.events import SpeechEnded, SpeechStarted, Wake
from voice_agent.turns.endpointing import EndpointRules
from voice_agent.turns.front_end import Addressed, FrontEnd, FrontEndEvent, NothingSaid

QUESTION = "When was the boiler serviced?"
ANSWER = "The boiler in the cellar was last serviced on the third of March by the plumber."


def opened(*words: str) -> FrontEnd:
    front = FrontEnd.load(words or ("alexa",), EndpointRules(wait_s=2, max_question_s=4))
    front.feed(noise(1, 0.0003))
    return front


def fed(
    front: FrontEnd, sound: np.ndarray, playback: np.ndarray | None = None, block: int = 320
) -> list[FrontEndEvent]:
    sound = sound + noise(len(sound) / 16_000, 0.0003)
    events: list[FrontEndEvent] = []
    for at in range(0, len(sound), block):
        part = None if playback is None else playback[at : at + block]
        events += front.feed(sound[at : at + block], part)
    return events


def names(events: list[FrontEndEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


def test_a_wake_word_and_a_question_are_one_utterance() -> None:
    events = fed(opened(), np.concatenate([say("Alexa"), silence(0.5), say(QUESTION), silence(2)]))
    assert names(events) == ["Wake", "SpeechStarted", "SpeechEnded", "Addressed"]


@pytest.mark.parametrize("pause_s", [0.3, 0.7])
def test_the_question_is_whole_and_without_the_wake_word(pause_s: float) -> None:
    front = opened()
    word, question = say("Alexa"), say(QUESTION)
    events = fed(front, np.concatenate([word, silence(pause_s), question, silence(2)]))
    utterance = next(event for event in events if isinstance(event, Addressed))
    begun = 16_000 + len(word) + int(pause_s * 16_000)
    assert begun / 16_000 - 0.35 < utterance.start_s < begun / 16_000 + 0.15
    assert utterance.end_s == pytest.approx((begun + len(question)) / 16_000, abs=0.3)
    assert utterance.start_s > 1 + len(word) / 16_000 - 0.3
    assert len(utterance.samples) > 0.95 * len(question)


def test_wake_word_and_question_in_one_breath_are_taken_apart() -> None:
    breath = say("Alexa, when was the boiler serviced?")
    events = fed(opened(), np.concatenate([breath, silence(2)]))
    utterance = next(event for event in events if isinstance(event, Addressed))
    assert 1.3 < utterance.start_s < 2
    assert utterance.end_s == pytest.approx(1 + len(breath) / 16_000, abs=0.3)


def test_speech_without_a_wake_word_is_not_for_us() -> None:
    assert fed(opened(), np.concatenate([say(QUESTION), silence(2)])) == []


def test_only_the_first_utterance_counts() -> None:
    sound = [say("Alexa"), silence(0.4), say(QUESTION), silence(2), say(QUESTION), silence(2)]
    assert names(fed(opened(), np.concatenate(sound))).count("Addressed") == 1


def test_a_wake_word_alone_waits_and_gives_up() -> None:
    events = fed(opened(), np.concatenate([say("Alexa"), silence(4)]))
    assert names(events) == ["Wake", "NothingSaid"]
    wake, nothing = events
    assert isinstance(wake, Wake) and isinstance(nothing, NothingSaid)
    assert nothing.t_s - (wake.t_s or 0) == pytest.approx(2, abs=0.3)


def test_the_wake_word_in_the_middle_of_a_question_begins_anew() -> None:
    sound = [say("Alexa"), silence(0.4), say(QUESTION), silence(0.2), say("Alexa")]
    events = fed(opened(), np.concatenate([*sound, silence(0.4), say(QUESTION), silence(2)]))
    assert names(events).count("Wake") == 2
    assert names(events).count("Addressed") == 1


def test_a_question_that_never_ends_is_cut() -> None:
    sound = [say("Alexa"), silence(0.4), say(ANSWER), say(ANSWER), say(ANSWER)]
    events = fed(opened(), np.concatenate(sound))
    utterance = next(event for event in events if isinstance(event, Addressed))
    assert utterance.t_s - utterance.start_s == pytest.approx(4, abs=0.05)
    assert utterance.cut


def test_a_key_works_like_the_wake_word() -> None:
    front = opened()
    front.listen()
    events = fed(front, np.concatenate([silence(0.5), say(QUESTION), silence(2)]))
    assert names(events) == ["SpeechStarted", "SpeechEnded", "Addressed"]
    assert not front.listening


def test_who_speaks_while_pressing_the_key_is_heard_from_the_beginning() -> None:
    front = opened()
    question = say(QUESTION)
    fed(front, question[:3_200])
    front.listen()
    events = fed(front, np.concatenate([question[3_200:], silence(2)]))
    utterance = next(event for event in events if isinstance(event, Addressed))
    assert len(utterance.samples) > len(question)


def test_listening_can_be_ended() -> None:
    front = opened()
    front.listen()
    front.stop_listening()
    assert fed(front, np.concatenate([say(QUESTION), silence(2)])) == []


def test_a_hint_keeps_the_question_open() -> None:
    front = opened()
    front.listen()
    paused = fed(front, np.concatenate([say(QUESTION), silence(0.35)]))
    assert names(paused) == ["SpeechStarted", "SpeechEnded"]
    assert len(front.so_far()) == pytest.approx(len(say(QUESTION)), abs=11_000)
    front.hint(False)
    assert fed(front, silence(0.6)) == []
    assert names(fed(front, silence(1.0))) == ["Addressed"]


def test_speech_that_goes_on_is_told_with_its_positions() -> None:
    front = opened()
    front.listen(wait_s=math.inf)
    events = fed(front, np.concatenate([say(QUESTION), silence(0.4), say(QUESTION), silence(2)]))
    started = [event.start_s for event in events if isinstance(event, SpeechStarted)]
    ended = [event.end_s for event in events if isinstance(event, SpeechEnded)]
    assert len(started) == len(ended) >= 2
    assert all(begin < end for begin, end in zip(started, ended, strict=True))


@pytest.mark.parametrize("block", [1, 100, 4_000, 10**6])
def test_block_sizes_make_no_difference(block: int) -> None:
    sound = np.concatenate([say("Alexa"), silence(0.4), say(QUESTION), silence(1)])
    positions = [
        [(type(event), event.t_s) for event in fed(opened(), sound, block=size)]
        for size in (160, block)
    ]
    assert positions[0] == positions[1]


@pytest.mark.parametrize("cue", CUES)
def test_a_cue_in_the_room_is_no_speech(cue: Cue) -> None:
    sound = cue_sound(cue, 1.0).at(16_000).samples
    played = np.concatenate([silence(0.2), sound, silence(3)])
    front = opened()
    front.listen()
    assert names(fed(front, echo_of(played, level=1.0), played)) == ["NothingSaid"]


def test_a_question_under_the_wake_cue_is_whole() -> None:
    front = opened()
    fed(front, say("Alexa"))
    spoken = np.concatenate([silence(0.1), say(QUESTION), silence(2)])
    played = np.zeros_like(spoken)
    cue = cue_sound("wake", 0.3).at(16_000).samples
    played[1_600 : 1_600 + len(cue)] = cue
    events = fed(front, 0.3 * spoken + echo_of(played), played)
    utterance = next(event for event in events if isinstance(event, Addressed))
    assert len(utterance.samples) > 0.95 * len(say(QUESTION))


def test_a_wake_word_is_heard_under_our_own_voice() -> None:
    played = np.concatenate([say(ANSWER), silence(0.3), say(ANSWER), silence(1)])
    person = np.zeros_like(played)
    at = len(say(ANSWER)) + 24_000
    person[at : at + len(say("Alexa"))] = say("Alexa")
    heard = 0.3 * person + echo_of(played)
    assert names(fed(opened(), heard, played))[:1] == ["Wake"]


@pytest.mark.parametrize("times", [1, 3])
def test_the_wake_word_from_our_own_loudspeaker_is_none(times: int) -> None:
    played = np.concatenate([say("Alexa"), silence(1.6)] * times)
    assert fed(opened(), echo_of(played, level=1.0), played) == []


def test_without_the_playback_it_would_be_one() -> None:
    played = np.concatenate([say("Alexa"), silence(1.6)])
    assert names(fed(opened(), echo_of(played, level=1.0)))[:1] == ["Wake"]


def test_a_lower_threshold_counts_while_it_speaks_and_not_otherwise() -> None:
    word, played = np.concatenate([say("Alexa"), silence(3)]), say(ANSWER)
    rules = EndpointRules(wait_s=2, max_question_s=4)
    front = FrontEnd.load(["alexa"], rules, threshold=1.0, own_voice_threshold=0.7)
    assert fed(front, word) == []
    fed(front, echo_of(played), played)
    said = np.concatenate([silence(1), say("Alexa"), silence(1)])
    assert names(fed(front, said, 0.01 * noise(len(said) / 16_000, 0.1)))[:1] == ["Wake"]


def after_its_question(person: np.ndarray, slip_s: float = 0.06) -> list[str]:
    """What is heard of ``person`` behind a question of ours whose echo slips before its end."""
    asked = say("May I do this: add note: milk, shopping list?")
    played = np.concatenate([asked, np.zeros_like(person)])
    echo = 0.8 * np.concatenate([silence(0.06), played])[: len(played)]
    slip, now = len(asked) - 9_600, len(asked)
    heard = np.concatenate([echo[:slip], silence(slip_s), echo[slip:]])[: len(played)]
    heard[now:] += person
    front = opened()
    fed(front, heard[:now], played[:now])
    front.listen(wait_s=2)
    return names(fed(front, heard[now:], played[now:]))


@pytest.mark.parametrize("slip_s", [0.04, 0.1, 0.15])
def test_what_is_left_of_its_own_question_is_no_answer(slip_s: float) -> None:
    events = after_its_question(silence(4), slip_s)
    assert "Addressed" not in events
    assert events[-1] == "NothingSaid"
    assert ("OwnSpeech" in events) == ("SpeechStarted" in events)


@pytest.mark.parametrize("pause_s", [0.05, 0.2, 0.5])
def test_a_quick_yes_right_after_its_question_is_an_answer(pause_s: float) -> None:
    yes = np.concatenate([silence(pause_s), 0.3 * say("Yes, please."), silence(2)])
    assert after_its_question(yes)[-1] == "Addressed"
