"""Turns from question to ending: one ending each, and nothing after it."""

import asyncio
from collections.abc import Callable

import numpy as np
import pytest
from fakes import (
    WORD_SAMPLES,
    FakeSpeaker,
    FakeVoice,
    Script,
    ScriptedTranscriber,
    a_while,
    doing,
    forever,
)
from scripted_research import Research, call

from voice_agent.audio.format import Sound
from voice_agent.errors import DeviceError, ModelError, TranscriptionError
from voice_agent.events import Answer, Cancelled, Error, Event, PlaybackEnded, Transcript, name_of
from voice_agent.ledger import Ledger
from voice_agent.phrases import phrase
from voice_agent.session import Session, Stages

SOUND = Sound(np.zeros(16_000, np.float32), 16_000)
ENDINGS = (Answer, Cancelled, Error)


class Desk:
    """A session with all its stages, and the events that it gave."""

    def __init__(self, ledger: Ledger, *replies: Script, **stages: object) -> None:
        self.research = Research(*replies)
        self.speaker = FakeSpeaker(instant=True)
        self.stages = Stages(self.research.loop, ledger, voice=FakeVoice(), speaker=self.speaker)
        for name, stage in stages.items():
            setattr(self.stages, name, stage)
        if isinstance(self.stages.speaker, FakeSpeaker):
            self.speaker = self.stages.speaker
        self.events: list[Event] = []
        self.session = Session(self.stages, self.events.append)

    @property
    def names(self) -> list[str]:
        return [name_of(event) for event in self.events]

    @property
    def endings(self) -> list[Event]:
        return [event for event in self.events if isinstance(event, ENDINGS)]

    async def cancelled_at(
        self, moment: Callable[[], bool], asking: str = "Which colour?"
    ) -> list[Event]:
        """Ask, cancel when ``moment`` has come, and return the events after that."""
        asked = asyncio.create_task(self.session.ask(asking))
        for _ in range(1_000):
            if moment():
                break
            await asyncio.sleep(0)
        before = len(self.events)
        self.session.cancel("wake")
        await asked
        return self.events[before:]


async def test_a_typed_question_is_answered_and_spoken(ledger: Ledger) -> None:
    desk = Desk(ledger, ["It is ", "red."])
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Answer)
    assert (ending.text, ending.spoken, ending.turn) == ("It is red.", "It is red.", 1)
    assert desk.endings == [ending] == desk.events[-1:]


async def test_a_sentence_is_spoken_before_the_answer_is_complete(ledger: Ledger) -> None:
    spoken: list[int] = []
    desk = Desk(ledger)
    desk.research.model.replies.append(
        ["It is red. And", a_while, doing(lambda: spoken.append(1)), " big."]
    )
    desk.stages.voice = FakeVoice(lambda text: spoken.append(0))
    await desk.session.ask("Which colour?")
    assert spoken == [0, 1, 0]


async def test_a_spoken_question_is_transcribed_first(ledger: Ledger) -> None:
    desk = Desk(ledger, ["Red."], transcriber=ScriptedTranscriber("Which colour?"))
    ending = await desk.session.hear(SOUND, source="question.wav")
    assert isinstance(ending, Answer)
    assert isinstance(desk.events[0], Transcript)
    assert (desk.events[0].text, desk.events[0].file) == ("Which colour?", "question.wav")
    assert desk.research.model.requests[0].messages[-1].content == "Which colour?"


async def test_silence_is_an_error_that_names_the_recording(ledger: Ledger) -> None:
    desk = Desk(ledger, transcriber=ScriptedTranscriber(" "))
    desk.stages.transcriber = ScriptedTranscriber("")
    ending = await desk.session.hear(SOUND, source="question.wav")
    assert isinstance(ending, Error)
    assert (ending.stage, ending.file) == ("stt", "question.wav")
    assert "question.wav" in ending.message
    assert desk.research.model.requests == []


async def test_without_a_voice_nothing_is_spoken(ledger: Ledger) -> None:
    ending = await Desk(ledger, ["Red."], voice=None, speaker=None).session.ask("Which colour?")
    assert isinstance(ending, Answer)
    assert (ending.text, ending.spoken, ending.timings.first_sound) == ("Red.", "", None)


async def test_timings_are_there_for_every_stage_that_took_part(ledger: Ledger) -> None:
    desk = Desk(ledger, ["Red."], transcriber=ScriptedTranscriber("Which colour?"))
    ending = await desk.session.hear(SOUND)
    assert isinstance(ending, Answer)
    marks = ending.timings
    order = [marks.transcript, marks.first_token, marks.first_sentence, marks.first_sound]
    assert marks.endpoint is None
    assert [t for t in order if t is not None] == sorted(t for t in order if t is not None)
    assert marks.first_sound is not None and marks.answer_end is not None


FAULTS = {
    "model": ([ModelError("out of memory")], "llm"),
    "crash": ([doing(lambda: 1 // 0)], "turn"),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_failed_turn_ends_once_and_the_next_one_works(ledger: Ledger, fault: str) -> None:
    script, stage = FAULTS[fault]
    desk = Desk(ledger, script, ["Red."])
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Error) and ending.stage == stage
    assert isinstance(await desk.session.ask("Which colour?"), Answer)
    assert desk.names.count("error") == 1 and len(desk.endings) == 2


async def test_a_failure_is_said_and_the_words_are_told(ledger: Ledger) -> None:
    desk = Desk(ledger, [ModelError("out of memory")])
    await desk.session.ask("Which colour?")
    said = phrase("failed", "en")
    assert isinstance(desk.stages.voice, FakeVoice)
    assert " ".join(desk.stages.voice.texts) == said
    assert desk.names == ["error", "sentence", "playback_started", "sentence", "playback_ended"]
    assert desk.events[-1] == PlaybackEnded(turn=None, heard_text=said)


async def test_nothing_of_a_turn_comes_after_its_ending(ledger: Ledger) -> None:
    desk = Desk(ledger, [ModelError("out of memory")])
    await desk.session.ask("Which colour?")
    assert {event.turn for event in desk.events[1:]} == {None}


async def test_what_was_written_before_a_failure_is_heard_out(ledger: Ledger) -> None:
    desk = Desk(ledger, ["It is red. ", ModelError("out of memory")], speaker=FakeSpeaker())
    asked = asyncio.create_task(desk.session.ask("Which colour?"))
    for _ in range(100):
        desk.speaker.advance(WORD_SAMPLES // 4 if desk.speaker.sounds else 0)
        await asyncio.wait([asked], timeout=0.001)
    assert PlaybackEnded(turn=1, heard_text="It is red.") in desk.events
    assert ledger.turn(1).heard_text == "It is red."


async def test_a_transcriber_that_fails_ends_the_turn(ledger: Ledger) -> None:
    broken = ScriptedTranscriber(TranscriptionError("It cannot be heard."))
    ending = await Desk(ledger, transcriber=broken).session.hear(SOUND)
    assert isinstance(ending, Error) and ending.message == "It cannot be heard."


async def test_a_loudspeaker_that_fails_costs_only_the_sound(ledger: Ledger) -> None:
    desk = Desk(ledger, ["It is red. ", "And big."], speaker=FakeSpeaker(fault=DeviceError("Gone")))
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Answer) and ending.text == "It is red. And big."


async def test_a_model_and_a_loudspeaker_that_fail_are_one_ending(ledger: Ledger) -> None:
    desk = Desk(ledger, speaker=FakeSpeaker(fault=DeviceError("Gone")))
    desk.research.model.replies.append(["It is red. And", a_while, ModelError("out of memory")])
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Error) and ending.stage == "llm"
    assert len(desk.endings) == 1


async def test_a_cancel_while_thinking_ends_it_and_nothing_follows(ledger: Ledger) -> None:
    desk = Desk(ledger, [forever, "It is red."])
    after = await desk.cancelled_at(lambda: bool(desk.research.model.requests))
    assert [name_of(event) for event in after] == ["cancelled"]
    assert desk.research.model.requests[0].stop.is_set()


async def test_a_cancel_while_listening_ends_it(ledger: Ledger) -> None:
    desk = Desk(ledger, transcriber=ScriptedTranscriber(forever))
    asked = asyncio.create_task(desk.session.hear(SOUND))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    desk.session.cancel("wake")
    assert isinstance(await asked, Cancelled) and desk.names == ["cancelled"]


@pytest.mark.parametrize("rest", [[], [forever]], ids=["written", "still written"])
async def test_a_cancel_while_speaking_tells_what_was_heard(ledger: Ledger, rest: Script) -> None:
    desk = Desk(ledger, ["It is red. And it is big. ", *rest], speaker=FakeSpeaker())

    def two_words_were_heard() -> bool:
        if desk.speaker.sounds:
            desk.speaker.advance(2 * WORD_SAMPLES)
        return bool(desk.speaker.sounds)

    after = await desk.cancelled_at(two_words_were_heard)
    assert [name_of(event) for event in after] == ["playback_ended", "cancelled"]
    assert isinstance(after[-1], Cancelled) and after[-1].heard_text == "It is"
    assert after[0] == PlaybackEnded(turn=1, heard_text="It is")
    assert ledger.turn(1).heard_text == "It is"


async def test_the_speaker_is_silent_before_the_turn_is_stopped(ledger: Ledger) -> None:
    desk = Desk(ledger, ["It is red. ", forever], speaker=FakeSpeaker())
    stopped: list[bool] = []
    desk.speaker.on_abort = lambda: stopped.append(desk.research.model.requests[0].stop.is_set())
    await desk.cancelled_at(lambda: bool(desk.speaker.sounds))
    assert stopped == [False]


async def test_after_a_cancel_no_sound_is_made(ledger: Ledger) -> None:
    desk = Desk(ledger, ["One. Two. Three. Four. Five. Six. Seven. "], speaker=FakeSpeaker())
    await desk.cancelled_at(lambda: bool(desk.speaker.sounds))
    sounds = len(desk.speaker.sounds)
    await a_while()
    assert len(desk.speaker.sounds) == sounds < 7


async def test_after_a_cancel_the_next_question_is_answered(ledger: Ledger) -> None:
    desk = Desk(ledger, [forever], ["Red."])
    await desk.cancelled_at(lambda: bool(desk.research.model.requests))
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Answer) and ending.text == "Red."


async def test_a_cancel_between_turns_does_nothing(ledger: Ledger) -> None:
    desk = Desk(ledger, ["Red."])
    desk.session.cancel("wake")
    assert isinstance(await desk.session.ask("Which colour?"), Answer)


async def test_every_turn_is_in_the_ledger_with_its_steps(ledger: Ledger) -> None:
    desk = Desk(ledger, [call("boiler")], ["It is 1.5 bar."])
    await desk.session.ask("How high is the pressure?")
    turn = ledger.turn(1)
    assert (turn.state, turn.question, turn.text) == (
        "answered",
        "How high is the pressure?",
        "It is 1.5 bar.",
    )
    assert [step.kind for step in turn.steps] == [
        *("round", "tool_call", "tool_result", "round", "sentence", "answer")
    ]


async def test_turns_of_a_session_are_one_conversation(ledger: Ledger) -> None:
    desk = Desk(ledger, ["Red."], ["Big."])
    await desk.session.ask("Which colour?")
    await desk.session.ask("Which size?")
    assert len({turn.conversation for turn in ledger.turns()}) == 1


async def test_what_came_of_a_write_is_kept_although_its_turn_was_cancelled(ledger: Ledger) -> None:
    desk = Desk(ledger, [call("milk", "note")])
    desk.research.note.meanwhile = a_while
    after = await desk.cancelled_at(lambda: bool(desk.research.note.asked), "Note milk.")
    assert [step.kind for step in ledger.turn(1).steps][-2:] == ["tool_result", "cancelled"]
    assert [name_of(event) for event in after] == ["cancelled"]
    assert not ledger.in_doubt("note")
