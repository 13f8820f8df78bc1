"""What is a request, and that nothing else can do any harm."""

import json

import pytest
from fuzzing import PIECES, damaged_inputs

from voice_agent.control.protocol import (
    OPERATIONS,
    Refused,
    Request,
    done,
    parse,
    refused,
    request_line,
    streamed,
)


def test_a_request_is_its_operation_its_id_and_its_text() -> None:
    line = b'{"v": 1, "id": "a", "op": "ask", "text": " Why? ", "new": true}\n'
    assert parse(line) == Request("ask", "a", "Why?")


def test_what_a_client_sends_is_understood() -> None:
    assert [parse(request_line(op, text="Why?")).op for op in OPERATIONS] == list(OPERATIONS)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"status\n",
        b"\xff\xfe\n",
        b"[1]\n",
        b'{"op": "status"}\n',
        b'{"v": 2, "op": "status"}\n',
        b'{"v": NaN, "op": "status"}\n',
        b'{"v": 1, "op": "shout"}\n',
        b'{"v": 1, "op": ["status"]}\n',
        b'{"v": 1, "op": "status", "id": true}\n',
        b'{"v": 1, "op": "status", "id": {}}\n',
        b'{"v": 1, "op": "ask"}\n',
        b'{"v": 1, "op": "ask", "text": "  "}\n',
        b'{"v": 1, "op": "ask", "text": "\\ud800"}\n',
        json.dumps({"v": 1, "op": "ask", "text": "x" * 2_001}).encode(),
        json.dumps({"v": 1, "op": "status", "id": "x" * 65}).encode(),
        b'{"v": 1, "op": "status", "id": ' + b"9" * 8_000 + b"}\n",
        b"[" * 8_000,
    ],
)
def test_everything_else_is_refused_with_a_reason(line: bytes) -> None:
    with pytest.raises(Refused) as refusal:
        parse(line)
    assert refusal.value.code == "bad_request"
    assert refusal.value.message


def test_an_answer_is_one_line_with_the_requests_id() -> None:
    request = Request("status", 7)
    assert json.loads(done(request, text="a\nb")) == {"v": 1, "id": 7, "ok": True, "text": "a\nb"}
    line = refused(Refused("muted", "The microphone is muted.", "voice-agent unmute"))
    assert line.count(b"\n") == 1
    assert json.loads(line)["code"] == "muted"


def test_an_event_keeps_its_own_id_beside_the_requests() -> None:
    call = {"event": "tool_call", "id": "c1"}
    assert json.loads(streamed(call, 7)) == {"v": 1, "id": 7, "event": call}


def test_no_line_makes_the_parser_fail() -> None:
    seeds = [request_line(op, text="Wie hoch ist der Druck?", id=3) for op in OPERATIONS]
    for line in damaged_inputs(seeds, usual=20_000, pieces=(*PIECES, b"\\u", b"null")):
        try:
            assert parse(line).op in OPERATIONS
        except Refused as refusal:
            assert refusal.code == "bad_request"
