"""Every way in which a reply ends, with a real model: research-loop.md, "Ending"."""

from collections.abc import Callable

import pytest

from voice_agent.engine import Engine, StopFlag
from voice_agent.errors import Cancelled
from voice_agent.events import AnswerText, Event, Finishing, Round
from voice_agent.library import Library, content_terms
from voice_agent.llm.llama import Llama
from voice_agent.llm.local import LocalModel
from voice_agent.phrases import phrase
from voice_agent.research.answer import AnswerLimits
from voice_agent.research.budget import Limits
from voice_agent.research.loop import Inquiry, Reply, ResearchLoop
from voice_agent.research.toolbox.library import SEARCH, ReadDocument, SearchDocuments
from voice_agent.research.tools import Toolbox

QUESTION = "Which colour is the guest room painted?"
GREETING = "Hello! Greet me with one word."


class Desk:
    """The small model over one document; ``on_event`` sees what happens in a reply."""

    def __init__(self, llama: Llama, engine: Engine, library: Library) -> None:
        self.events: list[Event] = []
        self.on_event: Callable[[Event], object] = type
        self.stop = StopFlag()
        self._model = LocalModel(llama, engine, context_tokens=2048, answer_tokens=1024)
        self._library = library

    async def reply(
        self,
        question: str = QUESTION,
        *,
        limits: Limits | None = None,
        answer: AnswerLimits | None = None,
        prefetch: str | None = SEARCH,
    ) -> Reply:
        loop = ResearchLoop(
            self._model,
            Toolbox([SearchDocuments(self._library), ReadDocument(self._library)]),
            limits=limits or Limits(output_tokens=48),
            answer_limits=answer or AnswerLimits(max_tokens=48),
            terms=content_terms,
            weight=self._library.idf,
            prefetch=prefetch,
        )
        return await loop.reply(Inquiry(question, 1, self.stop, self._emit))

    def _emit(self, event: Event) -> None:
        self.events.append(event)
        self.on_event(event)

    def reasons(self) -> list[str]:
        return [event.reason for event in self.events if isinstance(event, Finishing)]


@pytest.fixture
def desk(small_llama: Llama, llm_engine: Engine, guest_room: Library) -> Desk:
    return Desk(small_llama, llm_engine, guest_room)


async def test_a_natural_end(desk: Desk) -> None:
    reply = await desk.reply(GREETING, prefetch=None)
    assert (reply.ending.basis, reply.ending.reason, desk.reasons()) == ("complete", "none", [])
    assert "hello" in reply.ending.text.casefold()
    charged = [event.charged for event in desk.events if isinstance(event, Round)]
    assert sum(charged) == reply.charged_tokens > 0


@pytest.mark.parametrize(
    ("reason", "limits"),
    [
        ("time", Limits(timeout_s=0.2, output_tokens=48)),
        ("tokens", Limits(token_budget=100, output_tokens=48)),
        ("context", Limits(output_tokens=2_000)),
    ],
)
async def test_a_budget_ends_research_and_the_evidence_is_answered_from(
    desk: Desk, reason: str, limits: Limits
) -> None:
    reply = await desk.reply(limits=limits)
    assert (reply.ending.basis, reply.ending.reason) == ("forced", reason)
    assert desk.reasons() == [reason]
    assert "green" in reply.ending.text.casefold()


@pytest.mark.parametrize(
    ("reason", "limits"),
    [
        ("no_progress", Limits(no_progress_rounds=2, output_tokens=48)),
        ("steps", Limits(max_steps=3, output_tokens=48)),
    ],
)
async def test_a_model_that_searches_on_is_brought_to_an_end(
    desk: Desk, reason: str, limits: Limits
) -> None:
    reply = await desk.reply(limits=limits)
    assert (reply.ending.basis, reply.ending.reason) == ("forced", reason)
    assert reply.rounds == 2
    assert "green" in reply.ending.text.casefold()


async def test_a_final_request_that_does_not_fit_falls_back(desk: Desk) -> None:
    limits, answer = Limits(token_budget=100), AnswerLimits(max_tokens=1_024)
    reply = await desk.reply(limits=limits, answer=answer)
    assert (reply.ending.basis, reply.ending.reason) == ("fallback", "tokens")
    assert "The guest room is painted green." in reply.ending.text
    assert phrase("excerpt", "en") in reply.ending.text


async def test_a_cancel_while_it_writes(desk: Desk) -> None:
    def cancel(event: Event) -> None:
        if isinstance(event, AnswerText):
            desk.stop.set()

    desk.on_event = cancel
    at_once = Limits(token_budget=100)
    with pytest.raises(Cancelled):
        await desk.reply(limits=at_once)
    assert len([event for event in desk.events if isinstance(event, AnswerText)]) == 1
    desk.stop, desk.on_event = StopFlag(), type
    assert "green" in (await desk.reply(limits=at_once)).ending.text.casefold()
