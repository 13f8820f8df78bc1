"""A server's chunks become text, reasoning and calls, wherever they were split."""

import itertools
from typing import Any

import pytest
from scripted_server import call_part, chunk

from voice_agent.llm.model import Call
from voice_agent.llm.pieces import ReplyPieces

TOOLS = ("search", "search_notes")
NAME, ARGUMENTS = "search_notes", '{"query": "the \\"old\\" boiler"}'
WANTED = [("search_notes", {"query": 'the "old" boiler'})]


def calls(*chunks: dict[str, Any]) -> list[Call]:
    reply = ReplyPieces(TOOLS)
    pieces = [*itertools.chain.from_iterable(map(reply.feed, chunks)), *reply.flush()]
    return [piece for piece in pieces if isinstance(piece, Call)]


def read(*chunks: dict[str, Any]) -> list[tuple[str, object]]:
    return [(call.name, call.arguments) for call in calls(*chunks)]


@pytest.mark.parametrize("at", range(1, len(NAME)))
def test_a_name_may_be_split_anywhere(at: int) -> None:
    parts = (call_part(id="a", name=NAME[:at]), call_part(name=NAME[at:], arguments=ARGUMENTS))
    assert read(*parts) == WANTED


@pytest.mark.parametrize("at", range(1, len(ARGUMENTS)))
def test_arguments_may_be_split_anywhere(at: int) -> None:
    first = call_part(id="a", name=NAME, arguments=ARGUMENTS[:at])
    assert read(first, call_part(arguments=ARGUMENTS[at:])) == WANTED


def test_a_name_and_id_may_be_repeated_with_each_piece() -> None:
    parts = [call_part(id="a", name=NAME, arguments=c) for c in ARGUMENTS]
    assert read(*parts) == WANTED


def test_calls_under_one_index_are_told_apart_by_their_ids() -> None:
    parts = [call_part(id=i, name="search", arguments="{}") for i in "ab"]
    assert [call.id for call in calls(*parts)] == ["a", "b"]


def test_calls_may_come_without_index_and_id() -> None:
    parts = [chunk({"tool_calls": [{"function": f}]}) for f in ({"name": NAME},)]
    rest = chunk({"tool_calls": [{"function": {"arguments": {"query": "x"}}}]})
    assert read(*parts, rest) == [(NAME, {"query": "x"})]


def test_a_call_without_arguments_has_none() -> None:
    assert read(call_part(id="a", name="search")) == [("search", {})]


@pytest.mark.parametrize(("arguments", "why"), [('{"q": ', "not valid"), ("[1]", "JSON object")])
def test_a_malformed_call_says_what_is_wrong(arguments: str, why: str) -> None:
    (call,) = calls(call_part(id="a", name="search", arguments=arguments))
    assert call.arguments is None and why in call.problem and arguments in call.raw


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None, "usage": None},
        {"choices": [{}]},
        {"choices": ["x"], "usage": "y"},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": [None, {}]}}]},
        {"usage": {"prompt_tokens": "many", "prompt_tokens_details": [], "completion_tokens": -1}},
    ],
)
def test_odd_chunks_do_no_harm(odd: dict[str, Any]) -> None:
    reply = ReplyPieces(TOOLS)
    assert list(reply.feed(odd)) == []
    assert (reply.reason, reply.usage.prompt_tokens, reply.usage.output_tokens) == (None,) * 3
