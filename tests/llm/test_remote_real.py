"""The model on a real server: llama-cpp-python's, with the small model."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from model_server import KEY, NAME, ModelServer

from voice_agent.engine import StopFlag
from voice_agent.errors import ProviderError
from voice_agent.llm.access import Access
from voice_agent.llm.model import Call, Finished, Message, Piece, Request, Text, ToolSpec
from voice_agent.llm.remote import RemoteModel

SYSTEM = Message("system", "You answer in a few words.")
HELLO = Message("user", "Which colour has the sky on a clear day? One word.")
SEARCH = ToolSpec(
    "search",
    "Search the user's documents.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)


@pytest.fixture
async def model(served: ModelServer) -> AsyncIterator[RemoteModel]:
    model = RemoteModel(Access(served.address, NAME, KEY), context_tokens=4096)
    yield model
    await model.close()


def request(*messages: Message, max_tokens: int = 8, **rest: object) -> Request:
    late = time.monotonic() + 120
    plain = Request((SYSTEM, *messages), max_tokens, StopFlag(), deadline=late)
    return replace(plain, **rest)  # type: ignore[arg-type]  # the fields of Request


async def reply(model: RemoteModel, asked: Request) -> tuple[list[Piece], Finished]:
    *said, finished = [piece async for piece in model.stream(asked)]
    assert isinstance(finished, Finished)
    return said, finished


def text(said: list[Piece]) -> str:
    return "".join(piece.text for piece in said if isinstance(piece, Text))


async def test_it_answers(model: RemoteModel) -> None:
    said, finished = await reply(model, request(HELLO))
    assert "blue" in text(said).casefold()
    assert finished.reason == "end" and finished.charged_tokens > 0


async def test_an_exchange_with_calls_and_results_is_gone_on_with(model: RemoteModel) -> None:
    order = Message("user", "Use the tool search with the query boiler, then tell what it says.")
    asked = request(order, tools=(SEARCH,), max_tokens=40)
    said, _ = await reply(model, asked)
    (call,) = [piece for piece in said if isinstance(piece, Call)]
    assert (call.name, call.arguments, text(said)) == ("search", {"query": "boiler"}, "")
    result = Message("tool", "The boiler is blue.", call_id=call.id, name=call.name)
    messages = (*asked.messages, Message("assistant", "", calls=(call,)), result)
    said, finished = await reply(model, replace(asked, messages=messages))
    assert "blue" in text(said)
    assert finished.reused_tokens > 0


async def test_a_reply_is_cut_at_its_allowance(model: RemoteModel) -> None:
    _said, finished = await reply(model, request(Message("user", "Count to 100."), max_tokens=5))
    assert finished.reason == "length"


async def test_a_stop_ends_a_reply_and_the_next_works(model: RemoteModel) -> None:
    asked = request(Message("user", "Count to 1000."), max_tokens=2000)
    pieces: list[Piece] = []
    async for piece in model.stream(asked):
        asked.stop.set()
        pieces.append(piece)
    assert isinstance(pieces[-1], Finished)
    assert pieces[-1].reason == "stopped"
    assert "blue" in text((await reply(model, request(HELLO)))[0]).casefold()


async def test_a_wrong_key_is_refused(served: ModelServer) -> None:
    model = RemoteModel(Access(served.address, NAME, "another"), context_tokens=4096)
    with pytest.raises(ProviderError, match=r"refused the key \(401\)"):
        await reply(model, request(HELLO))
    await model.close()
