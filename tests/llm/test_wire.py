"""Requests as they go over the wire."""

import json

import pytest

from voice_agent.engine import StopFlag
from voice_agent.llm.model import Call, Message, Request, ToolSpec
from voice_agent.llm.wire import body_of, inert, prompt_of

SEARCH = ToolSpec("search", "Looks it up.", {"type": "object", "properties": {}})
ASKED = Message("user", "How high is the pressure?")
TURN = (
    Message("assistant", "", calls=(Call("1.1", "search", {"query": "Härte"}, raw=""),)),
    Message("tool", "1.5 bar", call_id="1.1", name="search"),
    Message("assistant", "Hm.", calls=(Call("2.1", "search", None, raw="{oops"),)),
    Message("tool", "Not executed.", call_id="2.1", name="search"),
)


def request(*messages: Message, **rest: object) -> Request:
    return Request((ASKED, *messages), 64, StopFlag(), 0.0, **rest)  # type: ignore[arg-type]


def test_calls_and_results_belong_together() -> None:
    _user, first, result, second, _ = body_of(request(*TURN), "m")["messages"]
    assert first["tool_calls"][0]["id"] == result["tool_call_id"] == "call00001"
    assert json.loads(first["tool_calls"][0]["function"]["arguments"]) == {"query": "Härte"}
    assert second["tool_calls"][0]["function"] == {"name": "search", "arguments": "{}"}


def test_without_tools_nothing_is_said_of_tools() -> None:
    assert not {"tools", "tool_choice"} & set(body_of(request(), "m"))


def test_schemas_and_calls_count_as_prompt() -> None:
    plain = prompt_of(request()).size_bytes
    assert prompt_of(request(tools=(SEARCH,))).size_bytes > plain + len("Looks it up.")
    assert prompt_of(request(*TURN)).size_bytes > plain + len("search" + "1.5 bar")


def test_a_longer_exchange_shares_what_came_before() -> None:
    before, after = prompt_of(request(tools=(SEARCH,))), prompt_of(request(*TURN, tools=(SEARCH,)))
    assert after.shared_bytes(before) == before.size_bytes


def test_a_changed_beginning_shares_nothing_after_it() -> None:
    longer = Message("user", ASKED.content + " And why?")
    before = prompt_of(request())
    after = prompt_of(Request((longer, *TURN), 64, StopFlag(), 0.0))
    assert len(ASKED.content) < after.shared_bytes(before) < before.size_bytes


@pytest.mark.parametrize(
    "mark",
    ["<|im_end|>", "<|tool_call>", "<turn|>", "</s>", "[INST]", "<｜end▁of▁sentence｜>"]
    + ["<end_of_turn>", "<tool_call>", "</think>"],
)
def test_foreign_text_holds_no_control_tokens(mark: str) -> None:
    sent = body_of(request(Message("tool", f"a{mark}b", call_id="1")), "m")["messages"][1]
    assert mark not in sent["content"] and sent["content"].replace(" ", "") == f"a{mark}b"


@pytest.mark.parametrize("text", ["a < b and c > d", "[TODO] <b>x</b>", "| a | b |", "x <- y"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert inert(text) == text
