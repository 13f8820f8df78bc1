"""Asked back by voice: the question is heard, the microphone opens, the answer counts."""

import asyncio
from pathlib import Path

import pytest
from fakes import FakeSpeaker, ScriptedTranscriber
from live_room import QUESTION, WAKE, Room, until
from scripted_research import asking_back

from voice_agent.conversation import State
from voice_agent.errors import TranscriptionError
from voice_agent.events import (
    Answer,
    AskedBack,
    Cancelled,
    PlaybackEnded,
    SpeechEnded,
    SpeechStarted,
    ToolResult,
)
from voice_agent.ledger import Ledger
from voice_agent.llm.model import Call
from voice_agent.research.toolbox.notes import AddNote
from voice_agent.turns.front_end import NothingSaid

ORDER = "Add milk to my shopping list."
WRITE = Call("c1", "add_note", {"text": "milk", "title": "shopping list"}, raw="add_note(milk)")
SILENCE = NothingSaid(9.0)
STARTED = SpeechStarted(start_s=1.2, t_s=1.3)
PAUSED = SpeechEnded(start_s=1.2, end_s=2.0, t_s=2.2)


def ordered(ledger: Ledger, notes: Path, *heard: str | TranscriptionError) -> Room:
    """A room where a note is ordered; ``heard`` are the answers to "May I?"."""
    return Room(
        ledger,
        [WRITE],
        ["It is done."],
        transcriber=ScriptedTranscriber(ORDER, *heard),
        speaker=FakeSpeaker(instant=True),
        tools=(AddNote(notes),),
        confirm_writes=True,
    )


async def is_asked(room: Room) -> None:
    await room.hears(WAKE, QUESTION)
    await until(lambda: bool(room.ears.listens))
    await room.is_in(State.LISTENING)


async def is_answered(room: Room) -> Answer:
    await until(lambda: "answer" in room.names)
    answer = room.events[-1]
    assert isinstance(answer, Answer)
    return answer


def notes(folder: Path) -> str:
    return "".join(note.read_text() for note in folder.glob("*.md"))


def statuses(room: Room) -> list[str]:
    return [event.status for event in room.events if isinstance(event, ToolResult)]


async def test_a_note_is_written_after_a_spoken_yes(ledger: Ledger, tmp_path: Path) -> None:
    room = ordered(ledger, tmp_path, "Yes.")
    async with room.running():
        await is_asked(room)
        assert room.ears.listens == [8.0]
        await room.hears(QUESTION)
        answer = await is_answered(room)
    assert "milk" in notes(tmp_path)
    assert (statuses(room), answer.spoken) == (["ok"], "It is done.")


@pytest.mark.parametrize("said", ["No.", "Never mind.", "Which list?"])
async def test_without_a_yes_it_is_not(ledger: Ledger, tmp_path: Path, said: str) -> None:
    room = ordered(ledger, tmp_path, said)
    async with room.running():
        await is_asked(room)
        await room.hears(QUESTION)
        await is_answered(room)
    assert statuses(room) == ["declined"]
    assert not notes(tmp_path)


@pytest.mark.parametrize(("said", "whole"), [("Yes.", True), ("Nein.", True), ("The old", None)])
async def test_after_a_yes_or_a_no_it_waits_for_nothing_more(
    ledger: Ledger, tmp_path: Path, said: str, whole: bool | None
) -> None:
    room = ordered(ledger, tmp_path, said)
    async with room.running():
        await is_asked(room)
        await room.hears(STARTED, PAUSED)
        await until(lambda: bool(room.ears.hints))
        await room.hears(QUESTION)
        await is_answered(room)
    assert room.ears.hints == [whole]


async def test_silence_is_a_no(ledger: Ledger, tmp_path: Path) -> None:
    room = ordered(ledger, tmp_path)
    room.desk.answer_s = 3.0
    async with room.running():
        await is_asked(room)
        assert room.ears.listens == [3.0]
        await room.hears(SILENCE)
        await is_answered(room)
    assert statuses(room) == ["declined"]


@pytest.mark.parametrize("cough", ["", TranscriptionError("broken")])
async def test_after_a_sound_without_words_the_answer_is_waited_for_on(
    ledger: Ledger, tmp_path: Path, cough: str | TranscriptionError
) -> None:
    room = ordered(ledger, tmp_path, cough, cough, "Yes.")
    async with room.running():
        await is_asked(room)
        for listens in (2, 3):
            await room.hears(QUESTION)
            await until(lambda: len(room.ears.listens) == listens)  # noqa: B023  # awaited here
            await room.is_in(State.LISTENING)
        await room.hears(QUESTION)
        await is_answered(room)
    first, second, third = [wait_s or 0 for wait_s in room.ears.listens]
    assert first > second > third > 0
    assert statuses(room) == ["ok"]


async def test_silence_after_a_sound_without_words_is_a_no(ledger: Ledger, tmp_path: Path) -> None:
    room = ordered(ledger, tmp_path, "")
    async with room.running():
        await is_asked(room)
        await room.hears(QUESTION)
        await until(lambda: len(room.ears.listens) == 2)
        await room.hears(SILENCE)
        await is_answered(room)
    assert statuses(room) == ["declined"]


async def test_sounds_without_words_do_not_lengthen_the_time(
    ledger: Ledger, tmp_path: Path
) -> None:
    room = ordered(ledger, tmp_path, "")
    room.desk.answer_s = 0.05
    async with room.running():
        await is_asked(room)
        await asyncio.sleep(0.06)
        await room.hears(QUESTION)
        await is_answered(room)
    assert (statuses(room), len(room.ears.listens)) == (["declined"], 1)


async def test_the_wake_word_instead_of_an_answer_ends_the_turn(
    ledger: Ledger, tmp_path: Path
) -> None:
    room = ordered(ledger, tmp_path, "Yes.")
    async with room.running():
        await is_asked(room)
        await room.hears(WAKE)
        await until(lambda: isinstance(room.events[-1], Cancelled))
        assert room.live.state is State.LISTENING
    assert not notes(tmp_path)


async def test_the_wake_word_over_the_question_ends_the_turn(
    ledger: Ledger, tmp_path: Path
) -> None:
    room = ordered(ledger, tmp_path, "Yes.")
    room.stages.speaker = room.speaker
    async with room.running():
        await room.hears(WAKE, QUESTION)
        await room.speaks()
        room.speaker.advance(200)
        await room.hears(WAKE)
        await until(lambda: isinstance(room.events[-1], Cancelled))
    assert room.events[-2] == PlaybackEnded(turn=1, heard_text="May I")
    assert room.ears.listens == []


async def test_nobody_is_asked_while_the_microphone_is_muted(
    ledger: Ledger, tmp_path: Path
) -> None:
    room = ordered(ledger, tmp_path)
    async with room.running():
        room.live.mute()
        await room.hears()
        room.live.ask(ORDER, lambda turn: None)
        await is_answered(room)
    assert (statuses(room), "asked_back" in room.names) == (["declined"], False)


async def test_what_the_model_asks_is_answered_by_voice(ledger: Ledger) -> None:
    room = Room(
        ledger,
        [asking_back("Which boiler?")],
        ["It is red."],
        transcriber=ScriptedTranscriber("What colour is it?", "The old one."),
        speaker=FakeSpeaker(instant=True),
    )
    async with room.running():
        await is_asked(room)
        await room.hears(QUESTION)
        await is_answered(room)
    assert AskedBack(turn=1, text="Which boiler?") in room.events
    assert room.research.model.requests[-1].messages[-1].content == "The old one."


async def test_the_answer_is_not_taken_for_the_question_of_the_turn(
    ledger: Ledger, tmp_path: Path
) -> None:
    room = ordered(ledger, tmp_path, "Yes.")
    async with room.running():
        await is_asked(room)
        await room.hears(QUESTION)
        await is_answered(room)
    turn = ledger.turn(1)
    assert turn.question == ORDER
    assert turn.heard_text.startswith("May I do this") and turn.heard_text.endswith("It is done.")
    kinds = [step.kind for step in turn.steps]
    assert kinds.index("asked_back") < kinds.index("write_begun")


async def test_a_typed_order_is_asked_about_aloud(ledger: Ledger, tmp_path: Path) -> None:
    room = ordered(ledger, tmp_path)
    room.stages.transcriber = ScriptedTranscriber("Yes, please.")
    async with room.running():
        await room.hears()
        room.live.ask(ORDER, lambda turn: None)
        await until(lambda: bool(room.ears.listens))
        await room.hears(QUESTION)
        await is_answered(room)
    assert statuses(room) == ["ok"]
    assert ledger.turn(1).question == ORDER
