"""The live session: what it hears becomes turns, and the wake word ends them at once."""

import asyncio
from pathlib import Path

import pytest
from fakes import FakeSpeaker, Script, ScriptedTranscriber, doing, forever
from live_room import QUESTION, WAKE, Room, until

from voice_agent.audio.format import read_recording
from voice_agent.conversation import State
from voice_agent.errors import DeviceError
from voice_agent.events import Answer, Cancelled, Error
from voice_agent.ledger import Ledger
from voice_agent.ledger.recordings import Recordings
from voice_agent.turns.front_end import NothingSaid


async def test_a_spoken_question_is_answered_aloud(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."])
    async with room.running():
        await room.hears(WAKE)
        await room.hears(QUESTION)
        await room.speaks()
        room.speaker.advance(1_000)
        await room.is_in(State.IDLE)
    assert room.names[:3] == ["wake", "utterance", "transcript"]
    assert room.names[-2:] == ["playback_ended", "answer"]


@pytest.mark.parametrize("moment", ["transcription", "prompt processing"])
async def test_the_wake_word_ends_a_turn_while_it_thinks(ledger: Ledger, moment: str) -> None:
    at_work: list[int] = []
    stuck: Script = [doing(lambda: at_work.append(1)), forever, "Red."]
    room = Room(ledger, stuck)
    if moment == "transcription":

        async def transcribing() -> str:
            at_work.append(1)
            await forever()
            return ""

        room.stages.transcriber = ScriptedTranscriber(transcribing)
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await until(lambda: bool(at_work))
        await room.hears(WAKE)
        await until(lambda: "cancelled" in room.names)
        assert room.live.state is State.LISTENING
    assert room.speaker.sounds == []


async def test_the_wake_word_silences_an_answer_and_the_next_question_is_answered(
    ledger: Ledger,
) -> None:
    room = Room(ledger, ["It is red."], ["It is blue."])
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.speaks()
        room.speaker.advance(250)
        await room.hears(WAKE)
        assert room.speaker.aborts == 1
        await room.hears(QUESTION)
        await room.speaks(sounds=2)
        room.speaker.advance(1_000)
        await room.is_in(State.IDLE)
    endings = [e for e in room.events if isinstance(e, Answer | Cancelled)]
    assert [type(e) for e in endings] == [Cancelled, Answer]
    assert isinstance(endings[0], Cancelled)
    assert (endings[0].cause, endings[0].heard_text) == ("wake word", "It is")


async def test_the_next_question_comes_with_what_was_heard_before(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], ["It is blue."])
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.speaks()
        room.speaker.advance(250)
        await room.hears(WAKE, QUESTION)
        await until(lambda: len(room.research.model.requests) == 2)
    said = [message.content for message in room.research.model.requests[1].messages]
    assert said[1:3] == ["Which colour?", "It is"]


async def test_a_second_interruption_before_the_turn_began_leaves_no_turn(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."])
    async with room.running():
        await room.hears(WAKE, QUESTION, WAKE)
        assert room.live.state is State.LISTENING
    assert room.names == ["wake", "utterance", "wake"]


async def test_no_words_mean_no_answer_and_no_apology(ledger: Ledger) -> None:
    room = Room(ledger, transcriber=ScriptedTranscriber(""))
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.is_in(State.IDLE)
    assert (room.names[-1], room.speaker.sounds) == ("cancelled", [])


async def test_after_an_answer_a_follow_up_needs_no_wake_word(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], speaker=FakeSpeaker(instant=True))
    async with room.running(follow_up_s=6.0):
        await room.hears(WAKE, QUESTION)
        await until(lambda: room.ears.listens == [6.0])
        await room.hears(NothingSaid(9.0))
        assert room.live.state is State.IDLE


async def test_a_cancel_from_outside_silences_it(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."])
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.speaks()
        room.live.cancel("cancel")
        assert (room.live.state, room.speaker.aborts) == (State.IDLE, 1)
        await until(lambda: room.names[-1] == "cancelled")


async def test_it_ends_with_the_recording_and_the_last_turn(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."])
    task = asyncio.create_task(room.live.run())
    await room.hears(WAKE, QUESTION)
    await room.speaks()
    room.microphone.ended = True
    await room.hears()
    assert not task.done()
    room.speaker.advance(1_000)
    await room.is_in(State.IDLE)
    await room.hears()
    await asyncio.wait_for(task, 10)
    assert room.names[-1] == "answer"


async def test_a_lost_microphone_is_said_once_and_tried_again(ledger: Ledger) -> None:
    room = Room(ledger)
    async with room.running():
        room.microphone.fail(DeviceError("The microphone is gone."))
        room.microphone.fail(DeviceError("The microphone is gone."))
        await until(lambda: room.microphone.opened == 2)
        await until(lambda: bool(room.events))
    assert [type(event) for event in room.events] == [Error]


async def test_a_stop_cancels_the_turn(ledger: Ledger) -> None:
    room = Room(ledger, [forever, "Red."])
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await until(lambda: bool(room.research.model.requests))
    assert isinstance(room.events[-1], Cancelled)
    assert room.events[-1].cause == "test"


async def test_a_typed_question_takes_the_place_of_what_goes_on(ledger: Ledger) -> None:
    room = Room(ledger, [forever, "Red."], ["It is blue."])
    turns: list[int | None] = []
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await until(lambda: bool(room.research.model.requests))
        room.live.ask("Which colour?", turns.append)
        await room.speaks()
        room.speaker.advance(1_000)
        await room.is_in(State.IDLE)
    assert [n for n in room.names if n in ("cancelled", "asked", "answer")] == [
        "cancelled",
        "asked",
        "answer",
    ]
    assert turns == [room.events[-1].turn]


async def test_a_typed_question_that_never_begins_says_so(ledger: Ledger) -> None:
    room = Room(ledger, [forever, "Red."])
    turns: list[int | None] = []
    async with room.running():
        room.live.ask("Which colour?", turns.append)
        room.live.cancel("test")
        await until(lambda: turns == [None])
    assert "asked" not in room.names


async def test_the_last_answer_is_said_again_without_the_model(ledger: Ledger) -> None:
    room = Room(ledger, ["It is red."], speaker=FakeSpeaker(instant=True))
    room.stages.transcriber = ScriptedTranscriber("Which colour?", "Please repeat that.")
    async with room.running():
        assert not room.live.repeat(lambda _: None)
        await room.hears(WAKE, QUESTION)
        await until(lambda: room.names.count("answer") == 1)
        await room.hears(WAKE, QUESTION)
        await until(lambda: room.names.count("answer") == 2)
        assert room.live.repeat(lambda _: None)
        await until(lambda: room.names.count("answer") == 3)
    answers = [e for e in room.events if isinstance(e, Answer)]
    assert [(e.text, e.spoken) for e in answers] == [("It is red.", "It is red.")] * 3
    assert len(room.research.model.requests) == 1


async def test_muted_it_hears_silence(ledger: Ledger) -> None:
    room = Room(ledger)
    heard: list[int] = []
    room.desk.on_heard = lambda: heard.append(1)
    async with room.running():
        await room.hears(WAKE)
        room.live.mute()
        assert (room.live.state, room.ears.stops) == (State.IDLE, 1)
        await room.hears(NothingSaid(1.0))
        room.live.unmute()
        await room.hears(NothingSaid(1.0))
    assert room.ears.loud[:3] == [True, False, True]
    assert len(heard) >= 3


async def test_the_sound_of_a_question_is_kept_where_that_is_wanted(
    ledger: Ledger, tmp_path: Path
) -> None:
    keeping = Recordings(tmp_path / "recordings", wanted=True, max_age_days=7)
    room = Room(ledger, ["It is red."], recordings=keeping)
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.speaks()
        room.speaker.advance(1_000)
        await room.is_in(State.IDLE)
    (answer,) = [event for event in room.events if isinstance(event, Answer)]
    (file,) = (tmp_path / "recordings").iterdir()
    assert file.name == f"turn-{answer.turn}.wav"
    assert read_recording(file).seconds == len(QUESTION.samples) / 16_000
