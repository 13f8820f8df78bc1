"""Turns whose ledger fails: each still ends once, one sentence says so, and the next one works."""

import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeSpeaker, FakeVoice, Script, ScriptedTranscriber, doing, forever
from live_room import QUESTION, WAKE, Room, until
from scripted_research import Research, call

from voice_agent.audio.format import Sound
from voice_agent.errors import ModelError
from voice_agent.events import (
    Answer,
    AnswerText,
    Cancelled,
    Error,
    Event,
    PlaybackEnded,
    ToolCall,
    Unrecorded,
    name_of,
)
from voice_agent.ledger import Ledger
from voice_agent.ledger.database import open_database
from voice_agent.phrases import phrase
from voice_agent.session import Session, Stages

SOUND = Sound(np.zeros(16_000, np.float32), 16_000)
FAILED, UNRECORDED, NO_RECORD = (
    phrase("failed", "en"),
    phrase("unrecorded", "en"),
    phrase("no_record", "en"),
)


class Desk:
    """A session that speaks, a ledger that another program can hold, and the events.

    ``when`` says what happens at the first event of a kind, after the ledger has taken it.
    """

    def __init__(self, path: Path) -> None:
        self.ledger = Ledger(open_database(path, busy_timeout_s=0.01), path)
        self.holder = sqlite3.connect(path, isolation_level=None)
        self.research = Research()
        self.voice = FakeVoice()
        self.stages = Stages(
            self.research.loop,
            self.ledger,
            voice=self.voice,
            speaker=FakeSpeaker(instant=True),
            transcriber=ScriptedTranscriber(*["Which colour?"] * 3),
        )
        self.events: list[Event] = []
        self.when: dict[type[Event], Callable[[], object]] = {}
        self.session = Session(self.stages, self._take)

    def answers(self, *replies: Script) -> None:
        self.research.model.replies += replies

    def _take(self, event: Event) -> None:
        self.events.append(event)
        self.when.pop(type(event), int)()

    def lock(self) -> None:
        """Let another program hold the ledger."""
        self.holder.execute("BEGIN IMMEDIATE")

    def unlock(self) -> None:
        self.holder.execute("ROLLBACK")

    @property
    def said(self) -> str:
        return " ".join(self.voice.texts)

    @property
    def names(self) -> list[str]:
        return [name_of(event) for event in self.events]

    @property
    def endings(self) -> list[Event]:
        return [e for e in self.events if isinstance(e, Answer | Cancelled | Error)]

    @property
    def unrecorded(self) -> list[Unrecorded]:
        return [event for event in self.events if isinstance(event, Unrecorded)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "ledger.sqlite3")
    with closing(made.holder), made.ledger:
        yield made


async def test_a_ledger_that_fails_in_mid_turn_costs_the_record_and_not_the_answer(
    desk: Desk,
) -> None:
    desk.answers([call("boiler")], ["It is red."])
    desk.when[ToolCall] = desk.lock
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Answer) and ending.text == "It is red."
    assert desk.endings == [ending]
    (told,) = desk.unrecorded
    assert told.turn == 1
    assert "locked" in told.message and "Another program holds it" in told.mend
    assert desk.said == f"It is red. {UNRECORDED}"


async def test_an_answer_whose_ending_alone_cannot_be_recorded_is_an_answer(desk: Desk) -> None:
    desk.answers(["It is red."])
    desk.when[PlaybackEnded] = desk.lock
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Answer)
    assert desk.names[-5:] == [
        *("unrecorded", "answer", "sentence", "playback_started", "playback_ended"),
    ]
    assert desk.said == f"It is red. {UNRECORDED}"


async def test_after_a_ledger_has_failed_the_next_turn_is_on_record(desk: Desk) -> None:
    desk.answers([call("boiler")], ["It is red."], ["It is blue."])
    desk.when[ToolCall] = desk.lock
    await desk.session.ask("Which colour?")
    desk.unlock()
    assert isinstance(await desk.session.ask("And now?"), Answer)
    last = desk.ledger.turns()[-1]
    assert (last.question, last.state, last.text) == ("And now?", "answered", "It is blue.")
    assert len(desk.unrecorded) == 1


async def test_what_could_not_be_written_at_once_is_written_with_the_ending(desk: Desk) -> None:
    desk.answers([call("boiler")], ["It is red."])
    desk.when[ToolCall], desk.when[AnswerText] = desk.lock, desk.unlock
    await desk.session.ask("Which colour?")
    assert [step.kind for step in desk.ledger.turn(1).steps] == [
        *("round", "tool_call", "tool_result", "round", "sentence", "answer")
    ]
    assert (desk.unrecorded, desk.said) == ([], "It is red.")


async def test_a_turn_that_fails_and_is_not_recorded_is_one_error_and_one_sentence(
    desk: Desk,
) -> None:
    desk.answers([call("boiler")], [ModelError("out of memory")])
    desk.when[ToolCall] = desk.lock
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Error) and desk.endings == [ending]
    assert desk.said == FAILED


async def test_a_turn_that_is_cancelled_and_not_recorded_says_nothing(desk: Desk) -> None:
    desk.answers([call("boiler")], [doing(lambda: desk.session.cancel("wake word")), forever])
    desk.when[ToolCall] = desk.lock
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Cancelled) and desk.endings == [ending]
    assert (len(desk.unrecorded), desk.said) == (1, "")


async def test_what_changes_something_is_not_done_while_it_cannot_be_recorded(desk: Desk) -> None:
    desk.answers([call("milk", "note")])
    desk.when[ToolCall] = desk.lock
    ending = await desk.session.ask("Note the milk, please.")
    assert isinstance(ending, Error) and ending.stage == "ledger"
    assert desk.research.note.asked == []
    assert desk.said == NO_RECORD


async def test_a_question_that_cannot_be_recorded_is_refused_in_one_sentence(desk: Desk) -> None:
    desk.lock()
    ending = await desk.session.hear(SOUND)
    assert isinstance(ending, Error) and (ending.turn, ending.stage) == (None, "ledger")
    assert "locked" in ending.message
    assert desk.endings == [ending] and desk.said == NO_RECORD
    desk.unlock()
    desk.answers(["It is red."])
    assert isinstance(await desk.session.hear(SOUND), Answer)
    assert len(desk.ledger.turns()) == 1


async def test_who_typed_a_question_that_cannot_be_recorded_is_told_before_it_is_said(
    desk: Desk,
) -> None:
    desk.lock()
    told: list[tuple[str, str]] = []
    await desk.session.ask("Which?", began=lambda turn: told.append((str(turn), desk.said)))
    ((fault, said_before),) = told
    assert "locked" in fault and said_before == ""
    assert desk.said == NO_RECORD


async def test_the_wake_word_ends_the_sentence_about_the_record(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    with (
        Ledger(open_database(path, busy_timeout_s=0.01), path) as ledger,
        closing(sqlite3.connect(path, isolation_level=None)) as holder,
    ):
        holder.execute("BEGIN IMMEDIATE")
        room = Room(ledger, ["It is red."])
        async with room.running():
            await room.hears(WAKE, QUESTION)
            await room.speaks()
            await room.hears(WAKE)
            assert room.speaker.aborts == 1
            holder.execute("ROLLBACK")
            await room.hears(QUESTION)
            await room.speaks(sounds=2)
            room.speaker.advance(1_000)
            await until(lambda: room.names[-1] == "answer")
    assert [name for name in room.names if name in ("error", "answer")] == ["error", "answer"]


class Disk:
    """The disk; a full one is played by the kernel, which lets no file grow."""

    def __init__(self) -> None:
        self._free = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, self._free[1]))

    def free(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._free)


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.free()


async def test_a_full_disk_costs_the_record_and_not_the_answer(desk: Desk, disk: Disk) -> None:
    desk.answers([call("boiler")], ["It is red."], ["It is blue."])
    desk.when = {ToolCall: disk.fill, Answer: disk.free}
    ending = await desk.session.ask("Which colour?")
    assert isinstance(ending, Answer)
    (told,) = desk.unrecorded
    assert "Make space on the disk" in told.mend
    assert desk.said == f"It is red. {UNRECORDED}"
    assert isinstance(await desk.session.ask("And now?"), Answer)
    assert desk.ledger.turns()[-1].state == "answered"
    assert desk.holder.execute("PRAGMA integrity_check").fetchone() == ("ok",)
