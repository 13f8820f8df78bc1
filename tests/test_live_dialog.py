"""The live session's manners: the text so far, words that only tell it to stop, and cues."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from fakes import FakeSpeaker, Script, ScriptedTranscriber, a_while, forever
from live_room import QUESTION, WAKE, Room, until

from voice_agent.audio.cues import cue_sound
from voice_agent.conversation import State
from voice_agent.earcons import Earcons
from voice_agent.errors import ModelError, TranscriptionError
from voice_agent.events import Answer, Cancelled, SpeechEnded, SpeechStarted, Transcript
from voice_agent.ledger import Ledger
from voice_agent.turns.front_end import NothingSaid, OwnSpeech

STARTED = SpeechStarted(start_s=1.2, t_s=1.3)
PAUSED = SpeechEnded(start_s=1.2, end_s=2.0, t_s=2.2)


def hears(*heard: str) -> ScriptedTranscriber:
    return ScriptedTranscriber(*heard)


def stuck() -> ScriptedTranscriber:
    async def never() -> str:
        await forever()
        return ""

    return ScriptedTranscriber(never, "Which colour?")


@pytest.mark.parametrize(
    ("text", "hint"),
    [("Which colour is it?", True), ("Which colour and", False), ("The colour.", None)]
    + [("Never mind.", True), ("My number is four five six", False)],
)
async def test_a_pause_is_transcribed_and_the_text_says_whether_more_will_come(
    ledger: Ledger, text: str, hint: bool | None
) -> None:
    room = Room(ledger, transcriber=hears(text))
    async with room.running():
        await room.hears(WAKE, STARTED, PAUSED)
        await until(lambda: bool(room.ears.hints))
    assert (room.ears.hints, room.ears.hints_expected) == ([hint], 1)
    assert room.names[-1] == "partial"


async def test_the_text_of_the_last_pause_is_the_transcript(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], transcriber=hears("Which colour?"))
    async with room.running():
        await room.hears(WAKE, STARTED, PAUSED)
        await until(lambda: "partial" in room.names)
        await room.hears(QUESTION)
        await room.speaks()
    transcripts = [event.text for event in room.events if isinstance(event, Transcript)]
    assert transcripts == ["Which colour?"]


async def test_a_text_that_comes_after_the_end_is_no_partial(ledger: Ledger) -> None:
    ready = asyncio.Event()

    async def late() -> str:
        await ready.wait()
        return "Which colour?"

    room = Room(ledger, ["It is red."], transcriber=ScriptedTranscriber(late))
    async with room.running():
        await room.hears(WAKE, STARTED, PAUSED, QUESTION)
        await room.is_in(State.THINKING)
        ready.set()
        await room.speaks()
    assert "partial" not in room.names
    assert (room.ears.hints, room.names.count("transcript")) == ([], 1)


async def test_speech_that_goes_on_makes_the_text_useless(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], transcriber=hears("Which", "Which colour?"))
    async with room.running():
        await room.hears(WAKE, STARTED, PAUSED, STARTED)
        await room.hears(QUESTION)
        await room.speaks()
    assert "partial" not in room.names
    assert [e.text for e in room.events if isinstance(e, Transcript)] == ["Which colour?"]


async def test_a_wake_word_drops_the_text_and_waits_for_nothing(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], transcriber=stuck())
    async with room.running():
        await room.hears(WAKE, STARTED, PAUSED)
        await room.hears(WAKE, STARTED, PAUSED, QUESTION)
        await room.speaks()
    assert room.ears.hints_expected == 1  # the model was busy with what nobody wants any more
    assert "partial" not in room.names


async def test_a_question_whose_text_is_still_made_is_cancelled_at_once(ledger: Ledger) -> None:
    room = Room(ledger, transcriber=stuck())
    async with room.running():
        await room.hears(WAKE, STARTED, PAUSED, QUESTION)
        await a_while()
        await room.hears(WAKE)
        await until(lambda: "cancelled" in room.names)
        assert room.live.state is State.LISTENING


async def test_a_transcriber_that_fails_ends_the_turn_only(ledger: Ledger) -> None:
    faulty = ScriptedTranscriber(TranscriptionError("It broke."), "Which colour?")
    room = Room(ledger, ["It is red."], transcriber=faulty, speaker=FakeSpeaker(instant=True))
    async with room.running():
        await room.hears(WAKE, STARTED, PAUSED, QUESTION)
        await room.is_in(State.IDLE)
        await room.hears(WAKE, STARTED, PAUSED, QUESTION)
        await until(lambda: room.names[-1] == "answer")
    assert room.names.count("error") == 1


async def test_never_mind_cancels_instead_of_asking(ledger: Ledger) -> None:
    room = Room(ledger, transcriber=hears("Never mind.")).with_cues()
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.is_in(State.IDLE)
        await until(lambda: room.cues[-1:] == ["cancelled"])
    ending = room.events[-1]
    assert isinstance(ending, Cancelled) and ending.cause == "stop phrase"
    assert (room.research.model.requests, room.speaker.sounds) == ([], [])


async def test_stop_after_the_wake_word_has_silenced_an_answer_ends_it_all(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], transcriber=hears("Which colour?", "Stop."))
    async with room.running(follow_up_s=6.0):
        await room.hears(WAKE, QUESTION)
        await room.speaks()
        await room.hears(WAKE, QUESTION)
        await room.is_in(State.IDLE)
    endings = [event for event in room.events if isinstance(event, Answer | Cancelled)]
    assert [getattr(e, "cause", None) for e in endings] == ["wake word", "stop phrase"]
    assert len(room.speaker.sounds) == 1


async def test_each_step_of_a_question_has_its_cue(ledger: Ledger) -> None:
    slow: Script = [lambda: asyncio.sleep(0.2), "It is red."]
    room = Room(ledger, slow).with_cues()
    async with room.running():
        await room.hears(WAKE)
        await until(lambda: len(room.cues) == 1)
        await room.hears(QUESTION)
        await room.speaks()
        heard = room.cues
        await asyncio.sleep(0.1)
        assert room.cues == heard == ["wake", "end_of_question", "thinking"]


async def test_a_cue_is_dropped_before_the_answer_begins(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."])
    room.desk.earcons = Earcons(room.speaker)
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.speaks(sounds=2)
        assert room.speaker.cancelled == 1
        room.speaker.advance(300)
        await room.is_in(State.IDLE)
    ended = room.events[-2]
    assert getattr(ended, "heard_text", None) == "It is red."


async def test_silence_after_the_wake_word_ends_in_a_soft_cue(ledger: Ledger) -> None:
    room = Room(ledger).with_cues()
    async with room.running():
        await room.hears(WAKE)
        await until(lambda: len(room.cues) == 1)
        await room.hears(NothingSaid(6.0))
        assert room.live.state is State.IDLE
        await until(lambda: len(room.cues) == 2)
    assert (room.cues, room.names) == (["wake", "no_speech"], ["wake"])


async def test_the_end_of_the_follow_up_time_is_silent(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], speaker=FakeSpeaker(instant=True)).with_cues()
    async with room.running(follow_up_s=6.0):
        await room.hears(WAKE, QUESTION)
        await until(lambda: room.ears.listens == [6.0])
        await room.hears(NothingSaid(9.0))
        await a_while()
    assert "no_speech" not in room.cues


async def test_its_own_echo_does_not_end_the_silence_of_a_follow_up(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], speaker=FakeSpeaker(instant=True)).with_cues()
    async with room.running(follow_up_s=6.0):
        await room.hears(WAKE, QUESTION)
        await until(lambda: room.ears.listens == [6.0])
        await room.hears(SpeechStarted(start_s=3.0), SpeechEnded(start_s=3.0, end_s=3.4))
        await room.hears(OwnSpeech(4.0), NothingSaid(9.0))
        await a_while()
    assert "no_speech" not in room.cues and room.live.state is State.IDLE


async def test_a_failure_has_its_cue(ledger: Ledger) -> None:
    room = Room(ledger, [ModelError("It broke.")] * 3, speaker=FakeSpeaker(instant=True))
    room.with_cues()
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.is_in(State.IDLE)
    assert room.cues[-1] == "error"


async def test_who_talks_on_gets_an_answer_but_is_not_listened_to_after_it(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], speaker=FakeSpeaker(instant=True))
    async with room.running(follow_up_s=6.0):
        await room.hears(WAKE, replace(QUESTION, cut=True))
        await room.is_in(State.IDLE)
    assert room.ears.listens == []
    assert room.names[-1] == "answer"


async def test_a_wake_word_takes_the_place_of_the_cue_that_is_heard(ledger: Ledger) -> None:
    room = Room(ledger)
    room.desk.earcons = Earcons(room.speaker, volume=1.0)
    async with room.running():
        await room.hears(WAKE)
        await until(lambda: len(room.speaker.sounds) == 1)
        await room.hears(WAKE)
        await until(lambda: len(room.speaker.sounds) == 2)
        assert room.speaker.cancelled == 1
    assert np.array_equal(room.speaker.sounds[1].samples, cue_sound("wake", 1.0).samples)
