"""The model on a server, against one that answers, fails and falls silent as it is told."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from fakes import doing, forever
from local_hub import closed_address
from scripted_server import (
    CALLS_END,
    DONE,
    END,
    NO_ANSWER,
    Answer,
    ScriptedServer,
    call_part,
    chunk,
    cut,
    refused,
    said,
    scripted_server,
    usage,
)

from voice_agent.engine import StopFlag
from voice_agent.errors import ContextOverflow, ProviderError
from voice_agent.llm.access import Access
from voice_agent.llm.model import Call, Finished, Message, Piece, Reasoning, Request, Text, ToolSpec
from voice_agent.llm.remote import RemoteModel

KEY = "sk-secret-0123456789"
SEARCH = ToolSpec("search", "Looks it up.", {"type": "object", "properties": {}})
HELLO = (Message("system", "Be short."), Message("user", "How high is the pressure?"))


def request(*, seconds: float = 30, **rest: object) -> Request:
    plain = Request(HELLO, 64, StopFlag(), deadline=time.monotonic() + seconds)
    return replace(plain, **rest)  # type: ignore[arg-type]  # the fields of Request


@asynccontextmanager
async def remote(*answers: Answer) -> AsyncIterator[tuple[RemoteModel, ScriptedServer]]:
    async with scripted_server(*answers) as server:
        model = RemoteModel(Access(server.address, "tiny", KEY), context_tokens=4096)
        yield model, server
        await model.close()


async def pieces(model: RemoteModel, asked: Request | None = None) -> list[Piece]:
    return [piece async for piece in model.stream(asked or request())]


def text(said: list[Piece]) -> str:
    return "".join(piece.text for piece in said if isinstance(piece, Text))


def finished(said: list[Piece]) -> Finished:
    assert isinstance(said[-1], Finished)
    return said[-1]


def calls(said: list[Piece]) -> list[tuple[str, object]]:
    return [(piece.name, piece.arguments) for piece in said if isinstance(piece, Call)]


async def failure(*answers: Answer, seconds: float = 30) -> ProviderError:
    async with remote(*answers) as (model, _server):
        with pytest.raises(ProviderError) as error:
            await pieces(model, request(seconds=seconds))
    assert KEY not in repr(error.value) + str(error.value)
    return error.value


async def test_text_arrives_as_it_is_sent() -> None:
    async with remote(said("It is ", "1.5 bar.")) as (model, server):
        got = await pieces(model)
    assert [piece.text for piece in got if isinstance(piece, Text)] == ["It is ", "1.5 bar."]
    assert finished(got).reason == "end"
    assert server.keys == [f"Bearer {KEY}"]
    assert [m["role"] for m in server.asked[0]["messages"]] == ["system", "user"]
    assert (server.asked[0]["model"], server.asked[0]["max_tokens"]) == ("tiny", 64)


async def test_reasoning_is_told_from_text() -> None:
    parts = (chunk({"reasoning_content": "Hm."}), "<think>So", "</think>Yes.")
    async with remote(said(*parts)) as (model, _server):
        got = await pieces(model)
    assert text(got) == "Yes."
    assert [p.text for p in got if isinstance(p, Reasoning)] == ["Hm.", "So"]


async def test_calls_are_put_together_from_pieces() -> None:
    parts = (
        call_part(id="a", name="sea"),
        call_part(name="rch", arguments='{"query": "boi'),
        call_part(1, id="b", name="search", arguments="{}"),
        call_part(arguments='ler"}'),
    )
    async with remote(Answer(*parts, CALLS_END, DONE)) as (model, server):
        got = await pieces(model, request(tools=(SEARCH,)))
    assert calls(got) == [("search", {"query": "boiler"}), ("search", {})]
    assert server.asked[0]["tool_choice"] == "auto"


async def test_calls_in_the_text_are_read_where_the_server_does_not() -> None:
    parts = ("<tool_", 'call>{"name": "search", "arguments"', ': {"query": "x"}}</tool_call>')
    async with remote(said(*parts)) as (model, _server):
        got = await pieces(model, request(tools=(SEARCH,)))
    assert (calls(got), text(got)) == ([("search", {"query": "x"})], "")


async def test_a_final_request_keeps_the_tools_and_forbids_their_use() -> None:
    async with remote(said("Yes.")) as (model, server):
        await pieces(model, request(tools=(SEARCH,), calls_allowed=False))
    assert server.asked[0]["tool_choice"] == "none"
    assert server.asked[0]["tools"][0]["function"]["name"] == "search"


async def test_usage_figures_are_what_is_charged() -> None:
    async with remote(said("Yes.", usage(70, 9, cached=30))) as (model, _server):
        end = finished(await pieces(model))
    assert (end.prompt_tokens, end.reused_tokens) == (70, 30)
    assert (end.evaluated_tokens, end.output_tokens, end.charged_tokens) == (40, 9, 49)


async def test_figures_may_come_after_the_end() -> None:
    async with remote(Answer("Yes.", END, usage(70, 9), DONE)) as (model, _server):
        assert finished(await pieces(model)).output_tokens == 9


async def test_without_figures_a_third_of_the_bytes_is_charged() -> None:
    async with remote(said("Twelve bytes")) as (model, _server):
        size = await model.measure(request())
        end = finished(await pieces(model))
    assert end.evaluated_tokens == size.new_tokens == size.prompt_tokens > 20
    assert end.output_tokens == 4


async def test_the_next_prompt_is_estimated_by_the_servers_own_figures() -> None:
    async with remote(said("Yes.", usage(17, 1))) as (model, _server):
        await pieces(model)
        size = await model.measure(request())
    assert (size.prompt_tokens, size.reused_tokens) == (17, 16)


@pytest.mark.parametrize("status", [400, 422])
async def test_a_server_that_refuses_to_report_usage_is_asked_without(status: int) -> None:
    answers = (refused(status, "extra fields not permitted"), said("A."), said("B."))
    async with remote(*answers) as (model, server):
        assert text(await pieces(model)) + text(await pieces(model)) == "A.B."
    assert ["stream_options" in asked for asked in server.asked] == [True, False, False]


async def test_a_server_is_asked_in_the_words_that_it_takes() -> None:
    complaints = ("'temperature' is unsupported", "Use 'max_completion_tokens' instead")
    async with remote(*(refused(400, c) for c in complaints), said("A.")) as (model, server):
        assert text(await pieces(model)) == "A."
    assert server.asked[-1]["max_completion_tokens"] == 64
    assert not {"temperature", "max_tokens"} & set(server.asked[-1])


async def test_a_wrong_key_is_named_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    error = await failure(refused(401, f"Incorrect API key provided: {KEY}"))
    assert "refused the key (401)" in error.message
    assert "llm.api_key_file" in error.mend
    assert KEY not in caplog.text and KEY not in str(error.__dict__)


async def test_what_a_server_says_of_its_failure_is_passed_on_without_the_key() -> None:
    error = await failure(*[refused(400, f"the prompt for {KEY} is too long")] * 2)
    assert "answered 400: the prompt for … is too long." in error.message


@pytest.mark.parametrize("failing", [refused(500, "oops"), refused(503, "loading"), NO_ANSWER])
async def test_a_failure_before_the_first_byte_is_tried_again(failing: Answer) -> None:
    async with remote(failing, said("Yes.")) as (model, server):
        assert text(await pieces(model)) == "Yes."
    assert len(server.asked) == 2


async def test_a_server_that_limits_requests_is_obeyed() -> None:
    async with remote(refused(429, "slow", "Retry-After: 1.2\r\n"), said("Yes.")) as (model, _):
        began = time.monotonic()
        assert text(await pieces(model)) == "Yes."
    assert time.monotonic() - began >= 1.2


async def test_a_wait_past_the_deadline_is_not_begun() -> None:
    began = time.monotonic()
    error = await failure(refused(429, "slow", "Retry-After: 60\r\n"))
    assert "answered 429: slow" in error.message and time.monotonic() - began < 20


async def test_tries_are_bounded() -> None:
    error = await failure(*[refused(500, "oops", "Retry-After: 0\r\n")] * 4)
    assert "answered 500: oops" in error.message


async def test_a_used_up_account_is_not_asked_again() -> None:
    error = await failure(refused(429, "no money", code="insufficient_quota"))
    assert "no money" in error.message


async def test_a_server_that_is_not_there_is_named() -> None:
    model = RemoteModel(Access(closed_address(), "tiny"), context_tokens=4096)
    with pytest.raises(ProviderError, match="cannot be reached") as error:
        await pieces(model, request(seconds=10))
    await model.close()
    assert "llm.base_url" in error.value.mend


async def test_a_server_that_never_says_anything_is_reported_at_the_deadline() -> None:
    began = time.monotonic()
    error = await failure(Answer(forever), seconds=0.5)
    assert "sent nothing" in error.message and 0.5 <= time.monotonic() - began < 10


async def test_a_reply_that_comes_to_a_halt_ends_at_the_deadline() -> None:
    async with remote(Answer("It is", forever)) as (model, server):
        got = await pieces(model, request(seconds=0.5))
        await asyncio.wait_for(server.left.wait(), 10)
    assert (text(got), finished(got).reason) == ("It is", "deadline")


async def test_a_cut_keeps_what_was_streamed_and_is_not_tried_again() -> None:
    got: list[Piece] = []
    async with remote(cut("It is", " 1.5"), said("Again.")) as (model, server):
        with pytest.raises(ProviderError, match="broke off in mid-answer"):
            async for piece in model.stream(request()):
                got.append(piece)
        assert (text(got), len(server.asked)) == ("It is 1.5", 1)


@pytest.mark.parametrize("items", [("It is", DONE), ("It is",), (chunk({}),)])
async def test_a_reply_without_an_end_is_a_cut(items: tuple[str | bytes, ...]) -> None:
    assert "broke off" in (await failure(Answer(*items))).message


async def test_a_connection_lost_after_the_end_costs_nothing() -> None:
    async with remote(cut("Yes.", END)) as (model, _server):
        assert finished(await pieces(model)).reason == "end"


@pytest.mark.parametrize("bad", [b"data: {oops\n\n", b'data: "text"\n\n', b"data: [1]\n\n"])
async def test_bad_json_is_said_to_be_bad(bad: bytes) -> None:
    assert "llm.base_url" in (await failure(Answer("It is", bad, END))).mend


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b'{"choices": []}'])
async def test_something_else_than_a_completion_is_said_to_be_so(body: bytes) -> None:
    assert "sent no completion" in (await failure(Answer(body) if body else Answer())).message


async def test_an_error_in_mid_stream_is_passed_on() -> None:
    error = await failure(Answer("It", {"error": {"message": "CUDA out of memory"}}))
    assert "broke off in mid-answer: CUDA out of memory." in error.message


async def test_a_stop_closes_the_connection_at_once() -> None:
    asked = request(seconds=float("inf"))  # nothing else would end it
    later = doing(lambda: asyncio.get_running_loop().call_later(0.2, asked.stop.set))
    async with remote(Answer("It is", later, forever)) as (model, server):
        got = await pieces(model, asked)
        await asyncio.wait_for(server.left.wait(), 10)
    assert finished(got).reason == "stopped"


@pytest.mark.parametrize("failing", [Answer(forever), refused(429, "s", "Retry-After: 20\r\n")])
async def test_a_stop_ends_all_waiting(failing: Answer) -> None:
    asked = request()
    asyncio.get_running_loop().call_later(0.2, asked.stop.set)
    async with remote(failing) as (model, _server):
        began = time.monotonic()
        got = await pieces(model, asked)
    assert finished(got).reason == "stopped" and time.monotonic() - began < 10


async def test_a_cut_by_length_is_told() -> None:
    async with remote(Answer("It", chunk({}, "length"), DONE)) as (model, _server):
        assert finished(await pieces(model)).reason == "length"


async def test_a_withheld_answer_is_an_error() -> None:
    assert "withheld" in (await failure(Answer("It", chunk({}, "content_filter")))).message


async def test_no_other_address_is_asked() -> None:
    elsewhere = f"Location: {closed_address()}\r\n"
    assert "answered 307" in (await failure(Answer(status=307, headers=elsewhere))).message


async def test_what_does_not_fit_is_not_sent() -> None:
    async with remote() as (model, server):
        with pytest.raises(ContextOverflow, match="4096"):
            await pieces(model, request(max_tokens=4090))
    assert server.asked == []
