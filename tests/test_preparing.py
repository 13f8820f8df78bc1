"""A question that comes before the language model is ready: it waits, and can be cancelled."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fakes import a_while
from live_room import QUESTION, WAKE, Room, until
from scripted_research import Research

from voice_agent.control.operations import Control
from voice_agent.conversation import State
from voice_agent.errors import ModelError, VoiceAgentError
from voice_agent.events import Answer, Cancelled, Error
from voice_agent.ledger import Ledger
from voice_agent.preparing import Answers, Preparing, prepared


class Opening:
    """A model that is opened when the test lets it, and notes that it was closed."""

    def __init__(self) -> None:
        self.let = asyncio.Event()
        self.answers: Answers = Research().loop
        self.fault: VoiceAgentError | None = None
        self.steps: list[str] = []

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Answers]:
        self.steps.append("opening")
        await self.let.wait()
        if self.fault is not None:
            raise self.fault
        yield self.answers
        self.steps.append("closed")


@asynccontextmanager
async def waiting(room: Room, opening: Opening) -> AsyncIterator[Preparing]:
    """Let the room's research be one that is opened when the test lets it."""
    opening.answers = room.research.loop
    async with prepared(opening()) as preparing:
        room.stages.research = preparing
        preparing.begin()
        yield preparing


async def test_nothing_is_opened_before_it_is_told_to_begin() -> None:
    opening = Opening()
    async with prepared(opening()) as preparing:
        await a_while()
        assert (opening.steps, preparing.goes_on) == ([], True)
        preparing.begin()
        await a_while()
        assert opening.steps == ["opening"]


async def test_what_was_opened_is_closed_at_the_end() -> None:
    opening = Opening()
    told: list[VoiceAgentError | None] = []
    async with prepared(opening()) as preparing:
        preparing.ended = told.append
        preparing.begin()
        opening.let.set()
        await a_while()
        assert (preparing.goes_on, told, opening.steps) == (False, [None], ["opening"])
    assert opening.steps == ["opening", "closed"]


async def test_a_question_waits_for_the_model_and_is_answered(ledger: Ledger) -> None:
    room, opening = Room(ledger, ["It is red."]).with_cues(), Opening()
    async with waiting(room, opening), room.running():
        await room.hears(WAKE, QUESTION)
        await until(lambda: "thinking" in room.cues)
        assert room.live.state is State.THINKING
        opening.let.set()
        await room.speaks()
        room.speaker.advance(1_000)
        await room.is_in(State.IDLE)
    assert isinstance(room.events[-1], Answer)


async def test_the_wake_word_cancels_a_question_that_waits(ledger: Ledger) -> None:
    room, opening = Room(ledger, ["It is blue."]), Opening()
    async with waiting(room, opening), room.running():
        await room.hears(WAKE, QUESTION)
        await until(lambda: "transcript" in room.names)
        await room.hears(WAKE)
        await until(lambda: "cancelled" in room.names)
        assert room.live.state is State.LISTENING
        opening.let.set()
        await room.hears(QUESTION)
        await room.speaks()
        room.speaker.advance(1_000)
        await room.is_in(State.IDLE)
    endings = [type(e) for e in room.events if isinstance(e, Answer | Cancelled)]
    assert endings == [Cancelled, Answer]


async def test_a_model_that_fails_is_told_and_ends_a_question_that_waits(ledger: Ledger) -> None:
    room, opening = Room(ledger), Opening()
    told: list[VoiceAgentError | None] = []
    async with waiting(room, opening) as preparing, room.running():
        preparing.ended = told.append
        await room.hears(WAKE, QUESTION)
        await until(lambda: "transcript" in room.names)
        opening.fault = ModelError("There is not enough memory.", mend="Take a smaller one.")
        opening.let.set()
        await until(lambda: "error" in room.names)
    assert told == [opening.fault]
    (error,) = [event for event in room.events if isinstance(event, Error)]
    assert (error.stage, error.message) == ("llm", "There is not enough memory.")


async def test_the_status_tells_that_the_model_is_being_prepared(ledger: Ledger) -> None:
    room, opening = Room(ledger), Opening()
    async with waiting(room, opening), room.running():
        control = Control(lambda _: None)
        control.uses(room.live)
        assert control.status()["state"] == "preparing"
        control.perform("listen")
        assert control.status()["state"] == "listening"
        control.perform("cancel")
        opening.let.set()
        await a_while()
        assert control.status()["state"] == "idle"


async def test_an_end_while_it_is_being_opened_waits_for_nothing() -> None:
    opening = Opening()
    async with prepared(opening()) as preparing:
        preparing.begin()
        await a_while()
    assert opening.steps == ["opening"]
