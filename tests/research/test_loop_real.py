"""The research loop with a real model, a real library and real prompts."""

import asyncio
from collections.abc import Callable

import pytest

from voice_agent.engine import Engine, StopFlag
from voice_agent.errors import Cancelled
from voice_agent.events import AnswerText, Event, Round, ToolResult
from voice_agent.library import Library, content_terms
from voice_agent.llm.llama import Llama
from voice_agent.llm.local import LocalModel
from voice_agent.research.answer import AnswerLimits
from voice_agent.research.budget import Limits
from voice_agent.research.loop import Inquiry, Reply, ResearchLoop
from voice_agent.research.toolbox.library import SEARCH, ReadDocument, SearchDocuments
from voice_agent.research.tools import Toolbox

QUESTION = "Which colour is the guest room painted?"


class Desk:
    """A loop on the small model, and the events of its replies."""

    def __init__(self, llama: Llama, engine: Engine, library: Library) -> None:
        self.events: list[Event] = []
        self.on_event: Callable[[Event], object] = type
        self._loop = ResearchLoop(
            LocalModel(llama, engine, context_tokens=2048, answer_tokens=1024),
            Toolbox([SearchDocuments(library), ReadDocument(library)]),
            limits=Limits(max_steps=3, output_tokens=64),
            answer_limits=AnswerLimits(max_tokens=64),
            terms=content_terms,
            weight=library.idf,
            prefetch=SEARCH,
        )

    async def reply(self, stop: StopFlag | None = None) -> Reply:
        return await self._loop.reply(Inquiry(QUESTION, 1, stop or StopFlag(), self._emit))

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    async def cancelled_in_the_prompt(self, stop: StopFlag, cancel: Callable[[], object]) -> None:
        """Begin a reply and cancel it while the model reads what was found."""

        def cancel_soon(event: Event) -> None:
            if isinstance(event, ToolResult):
                asyncio.get_running_loop().call_later(0.05, cancel)

        self.on_event = cancel_soon
        try:
            await self.reply(stop)
        finally:
            self.on_event = type


@pytest.fixture
def desk(small_llama: Llama, llm_engine: Engine, guest_room: Library) -> Desk:
    return Desk(small_llama, llm_engine, guest_room)


async def test_a_cancel_in_the_prompt_ends_it_and_the_next_reply_is_right(desk: Desk) -> None:
    stop = StopFlag()
    with pytest.raises(Cancelled):
        await desk.cancelled_in_the_prompt(stop, stop.set)
    work = asyncio.create_task(desk.cancelled_in_the_prompt(StopFlag(), lambda: work.cancel()))
    await asyncio.wait([work])
    assert work.cancelled()
    assert desk.of(AnswerText) == []

    reply = await desk.reply()
    assert "green" in reply.ending.text.casefold()
    assert reply.sources[0].path.endswith("room.md")
    charged = [event.charged for event in desk.of(Round) if isinstance(event, Round)]
    assert sum(charged) == reply.charged_tokens > 0
