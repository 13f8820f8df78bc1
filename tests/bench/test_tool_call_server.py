"""The benchmarks' server with the small model: it parses calls and says what it processed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from voice_agent.bench.servers import ModelServer, ask_json, tool_call_server
from voice_agent.engine import StopFlag
from voice_agent.library import Library
from voice_agent.llm.access import Access
from voice_agent.llm.model import Call, Finished, Message, Request, ToolSpec
from voice_agent.llm.remote import RemoteModel

ORDER = "Use the tool search with the query boiler."
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
TOOL = {"type": "function", "function": {"name": "search", "parameters": SCHEMA}}
BODY = {"messages": [{"role": "user", "content": ORDER}], "tools": [TOOL], "max_tokens": 40}


@pytest.fixture(scope="module")
def server(models_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "documents").mkdir()
    (folder / "documents" / "boiler.md").write_text("# Boiler\n\nThe pressure is 1.6 bar.\n")
    with Library.open(folder / "library.sqlite3") as library:
        library.add(folder / "documents")
    (file,) = (models_dir / "qwen2.5-coder-0.5b-instruct").glob("*.gguf")
    options = {"context_tokens": 2048, "library": folder / "library.sqlite3"}
    with tool_call_server(file, folder / "log", **options) as server:
        yield server


def asked(server: ModelServer, path: str, body: dict[str, Any] | None = None) -> Any:
    return ask_json(server.root + path, body)


def test_a_call_comes_back_parsed(server: ModelServer) -> None:
    (choice,) = asked(server, "/v1/chat/completions", BODY)["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], call["function"]["name"]) == ("tool_calls", "search")
    assert list(json.loads(call["function"]["arguments"])) == ["query"]


def test_what_was_processed_is_counted(server: ModelServer) -> None:
    before = len(asked(server, "/requests"))
    first = asked(server, "/v1/chat/completions", BODY)["usage"]
    again = asked(server, "/v1/chat/completions", BODY)["usage"]
    rows = asked(server, f"/requests?from={before}")
    assert [row["prompt_tokens"] for row in rows] == [first["prompt_tokens"]] * 2
    assert rows[1]["evaluated_tokens"] == 1
    assert again["prompt_tokens_details"]["cached_tokens"] == first["prompt_tokens"] - 1


async def test_our_own_provider_works_with_it(server: ModelServer) -> None:
    model = RemoteModel(Access(server.address, "served"), context_tokens=2048)
    tool = ToolSpec("search", "Search.", SCHEMA)
    messages = (Message("user", ORDER),)
    request = Request(messages, 40, StopFlag(), deadline=float("inf"), tools=(tool,))
    *said, finished = [piece async for piece in model.stream(request)]
    await model.close()
    assert [piece.name for piece in said if isinstance(piece, Call)] == ["search"]
    row = asked(server, "/requests")[-1]
    assert isinstance(finished, Finished)
    assert finished.evaluated_tokens == row["evaluated_tokens"]
    assert finished.output_tokens == row["output_tokens"]


def test_a_tool_reads_the_library(server: ModelServer) -> None:
    body = {"arguments": {"query": "boiler pressure"}, "question": "How high is it?"}
    found = asked(server, "/tools/search_documents", body)["text"]
    assert found == "[Boiler] The pressure is 1.6 bar."
