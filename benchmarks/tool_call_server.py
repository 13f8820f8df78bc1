"""An OpenAI-compatible server that parses tool calls, and says how much it really processed.

    PYTHONPATH=. python benchmarks/tool_call_server.py --gguf FILE --port N [--library FILE]

llama-cpp-python's own server renders tools into the prompt but does not parse the calls that a
model makes of them. This one does, for the benchmarks: the prompt is rendered with the GGUF's own
template, calls come back as ``tool_calls``, usage figures hold ``cached_tokens``, what is generated
is the likeliest token each time. One request runs at a time and the prefix shared with the last one
is not processed again. A client that leaves ends its request.

``GET /requests?from=N`` lists what each request has cost, from number N on. With ``--library``,
``POST /tools/NAME`` runs one of the two tools over that library, with ``arguments`` and
``question``, and returns ``text``.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from voice_agent.engine import Engine, StopFlag, usable_cores
from voice_agent.errors import ModelError, VoiceAgentError
from voice_agent.library import Library
from voice_agent.llm.local import LocalModel
from voice_agent.llm.model import Call, Finished, Message, Piece, Request, Text, ToolSpec
from voice_agent.research import prompts
from voice_agent.research.excerpts import fitting
from voice_agent.research.reading import PORTION_CHARS
from voice_agent.research.toolbox.library import ReadDocument, SearchDocuments
from voice_agent.research.tools import Toolbox

NAME = "served"
OUTPUT_TOKENS = 512
ROLES = ("system", "user", "assistant", "tool")


class Served:
    """The model behind the server; ``rows`` are the figures of the requests so far."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self._one = asyncio.Lock()
        self.rows: list[dict[str, Any]] = []

    async def run(self, request: Request, pieces: asyncio.Queue[Piece | ModelError]) -> None:
        """Put the reply's pieces into the queue, last `Finished` or what went wrong."""
        async with self._one:
            try:
                async for piece in self._model.stream(request):
                    self._note(piece)
                    pieces.put_nowait(piece)
            except ModelError as error:
                pieces.put_nowait(error)

    def _note(self, piece: Piece) -> None:
        if isinstance(piece, Finished):
            row = asdict(piece)
            del row["generated"]
            self.rows.append(row)


def request_of(body: dict[str, Any]) -> Request:
    """Return what is asked for. Raises ValueError for what is no request."""
    if not isinstance(body.get("messages"), list):
        raise ValueError("messages are missing")
    return Request(
        messages=tuple(message_of(entry) for entry in body["messages"]),
        max_tokens=body.get("max_tokens") or body.get("max_completion_tokens") or OUTPUT_TOKENS,
        stop=StopFlag(),
        deadline=float("inf"),
        tools=tuple(
            ToolSpec(f["name"], f.get("description", ""), f.get("parameters", {}))
            for f in (tool["function"] for tool in body.get("tools") or ())
        ),
        calls_allowed=body.get("tool_choice") != "none",
    )


def message_of(entry: dict[str, Any]) -> Message:
    """Return one message; a text in parts is put together."""
    content = entry.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content)
    role = entry["role"] if entry["role"] in ROLES else "user"
    return Message(
        role,
        content,
        calls=tuple(call_of(call) for call in entry.get("tool_calls") or ()),
        call_id=entry.get("tool_call_id") or "",
        name=entry.get("name") or "",
    )


def call_of(entry: dict[str, Any]) -> Call:
    """Return a call of an earlier reply."""
    arguments = entry["function"].get("arguments") or "{}"
    with suppress(ValueError):
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    found = arguments if isinstance(arguments, dict) else None
    return Call(entry.get("id", ""), entry["function"]["name"], found, str(arguments))


class Reply:
    """What came back, put together; a call that is none is text, as servers give it."""

    def __init__(self, stops: Sequence[str]) -> None:
        self.id = f"chatcmpl-{time.time_ns()}"
        self.text = ""
        self.calls: list[Call] = []
        self.finished: Finished | None = None
        self._stops = stops

    def take(self, piece: Piece) -> dict[str, Any]:
        """Take the next piece; return it as a delta, empty for one that shows nothing."""
        if isinstance(piece, Call) and piece.arguments is not None:
            self.calls.append(piece)
            return {"tool_calls": [{"index": len(self.calls) - 1, **self._call(piece)}]}
        if isinstance(piece, Finished):
            self.finished = piece
        text = piece.text if isinstance(piece, Text) else ""
        if isinstance(piece, Call):
            text = f"<tool_call>\n{piece.raw}\n</tool_call>"
        if not text:
            return {}
        self.text += text
        return {"content": text}

    @property
    def stopped(self) -> bool:
        """Whether one of the texts has come that were to end it."""
        return any(stop in self.text for stop in self._stops)

    def _call(self, call: Call) -> dict[str, Any]:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        called = {"name": call.name, "arguments": arguments}
        return {"id": f"{self.id}-{call.id}", "type": "function", "function": called}

    @property
    def reason(self) -> str:
        """Why it ended, in the words of the API."""
        if self.calls:
            return "tool_calls"
        cut = self.finished is not None and self.finished.reason == "length"
        return "length" if cut else "stop"

    def usage(self) -> dict[str, Any]:
        """Return the usage figures."""
        done = self.finished
        prompt, output, reused = (
            (done.prompt_tokens, done.output_tokens, done.reused_tokens) if done else (0, 0, 0)
        )
        return {
            "prompt_tokens": prompt,
            "completion_tokens": output,
            "total_tokens": prompt + output,
            "prompt_tokens_details": {"cached_tokens": reused},
        }

    def whole(self) -> dict[str, Any]:
        """Return the completion as one object."""
        text = self.text
        for stop in self._stops:
            text = text.partition(stop)[0]
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if self.calls:
            message["tool_calls"] = [self._call(call) for call in self.calls]
        choice = {"index": 0, "message": message, "finish_reason": self.reason}
        return self._object("chat.completion", [choice]) | {"usage": self.usage()}

    def chunk(self, delta: dict[str, Any], reason: str | None = None) -> str:
        """Return a chunk as the line that is sent."""
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _line(self._object("chat.completion.chunk", [choice]))

    def last(self) -> str:
        """Return the chunk with the usage figures, and the end."""
        figures = self._object("chat.completion.chunk", []) | {"usage": self.usage()}
        return _line(figures) + "data: [DONE]\n\n"

    def _object(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        created = int(time.time())
        return {
            "id": self.id,
            "object": kind,
            "created": created,
            "model": NAME,
            "choices": choices,
        }


def _line(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def refused(text: str) -> JSONResponse:
    """Return an error as the API has it."""
    return JSONResponse({"error": {"message": text, "type": "invalid_request_error"}}, 400)


class Api:
    """The routes."""

    def __init__(self, served: Served, toolbox: Toolbox) -> None:
        self._served = served
        self._toolbox = toolbox
        self._running: set[asyncio.Task[None]] = set()

    def routes(self) -> list[Route]:
        """Return all of them."""
        return [
            Route("/v1/models", self.models),
            Route("/v1/chat/completions", self.complete, methods=["POST"]),
            Route("/requests", self.requests),
            Route("/tools/{name}", self.tool, methods=["POST"]),
        ]

    async def models(self, _http: HttpRequest) -> Response:
        """Name the one model."""
        return JSONResponse({"object": "list", "data": [{"id": NAME, "object": "model"}]})

    async def requests(self, http: HttpRequest) -> Response:
        """List the figures of the requests, the newest last."""
        return JSONResponse(self._served.rows[int(http.query_params.get("from", 0)) :])

    async def tool(self, http: HttpRequest) -> Response:
        """Run a tool; what it finds is shown as the assistant's own model is shown it."""
        body = await http.json()
        call = Call("1", http.path_params["name"], body["arguments"], raw="")
        done = await self._toolbox.execute(call, question=body["question"], stop=StopFlag())
        text = prompts.passages(fitting(done.findings, body.get("chars", PORTION_CHARS)))
        return JSONResponse({"text": text or done.text})

    async def complete(self, http: HttpRequest) -> Response:
        """Answer a request, whole or as a stream."""
        body = await http.json()
        try:
            request = request_of(body)
        except (KeyError, TypeError, ValueError) as error:
            return refused(f"{type(error).__name__}: {error}")
        stops = body.get("stop") or ()
        reply = Reply([stops] if isinstance(stops, str) else stops)
        pieces: asyncio.Queue[Piece | ModelError] = asyncio.Queue()
        task = asyncio.create_task(self._served.run(request, pieces))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        if body.get("stream"):
            lines = self._lines(request, pieces, reply)
            return StreamingResponse(lines, media_type="text/event-stream")
        watch = asyncio.create_task(self._watch(http, request))
        try:
            while reply.finished is None:
                piece = await pieces.get()
                if isinstance(piece, ModelError):
                    return refused(piece.message)
                reply.take(piece)
                if reply.stopped:
                    request.stop.set()
        finally:
            watch.cancel()
        return JSONResponse(reply.whole())

    async def _watch(self, http: HttpRequest, request: Request) -> None:
        while (await http.receive())["type"] != "http.disconnect":
            pass
        request.stop.set()

    async def _lines(
        self, request: Request, pieces: asyncio.Queue[Piece | ModelError], reply: Reply
    ) -> AsyncIterator[str]:
        try:
            yield reply.chunk({"role": "assistant", "content": ""})
            while reply.finished is None:
                piece = await pieces.get()
                if isinstance(piece, ModelError):
                    yield _line({"error": {"message": piece.message}})
                    return
                if delta := reply.take(piece):
                    yield reply.chunk(delta)
            yield reply.chunk({}, reply.reason)
            yield reply.last()
        finally:
            request.stop.set()


async def serve(args: argparse.Namespace) -> None:
    """Load the model and serve until a signal comes."""
    engine = Engine("llm")
    model = await LocalModel.load(
        args.gguf, engine, context_tokens=args.context, threads=args.threads
    )
    tools: list[Any] = []
    library = Library.open(args.library) if args.library else None
    try:
        if library is not None:
            tools = [SearchDocuments(library), ReadDocument(library)]
        app = Starlette(routes=Api(Served(model), Toolbox(tools)).routes())
        config = uvicorn.Config(app, host="127.0.0.1", port=args.port, log_level="warning")
        await uvicorn.Server(config).serve()
    finally:
        if library is not None:
            library.close()
        await model.close()
        engine.close()


def main(argv: Sequence[str]) -> int:
    """Serve; return 0 after a signal."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gguf", type=Path, required=True, metavar="FILE")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--library", type=Path, metavar="FILE", help="index for the two tools")
    parser.add_argument("--context", type=int, default=8192, help="tokens (default: 8192)")
    parser.add_argument("--threads", type=int, default=usable_cores())
    args = parser.parse_args(argv)
    try:
        asyncio.run(serve(args))
    except VoiceAgentError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
