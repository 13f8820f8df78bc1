"""An OpenAI-compatible server on the loopback interface that answers as a test has written."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

Act = Callable[[], Awaitable[object]]
Item = str | bytes | dict[str, Any] | Act
"""A piece of an answer: text, raw bytes, a whole chunk, or something to await in between."""


def chunk(delta: dict[str, Any], finish: str | None = None, **rest: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice], **rest}


def usage(prompt: int, output: int, cached: int | None = None) -> dict[str, Any]:
    figures: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output}
    if cached is not None:
        figures["prompt_tokens_details"] = {"cached_tokens": cached}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": figures}


def call_part(index: int = 0, **part: Any) -> dict[str, Any]:
    """A piece of a call: ``id``, ``name``, ``arguments``."""
    function = {key: part[key] for key in ("name", "arguments") if key in part}
    ids = {"id": part["id"]} if "id" in part else {}
    return chunk({"tool_calls": [{"index": index, **ids, "function": function}]})


END = chunk({}, "stop")
CALLS_END = chunk({}, "tool_calls")
DONE = b"data: [DONE]\n\n"


class Answer:
    """What the server does with one request: status, headers and body."""

    def __init__(
        self, *items: Item, status: int = 200, headers: str = "", whole: bool = True
    ) -> None:
        self.items, self.status, self.whole = items, status, whole
        kind = "text/event-stream" if status == 200 else "application/json"
        self.head = (
            f"HTTP/1.1 {status} Scripted\r\nContent-Type: {kind}\r\n{headers}"
            "Transfer-Encoding: chunked\r\n\r\n"
        )


def said(*items: Item) -> Answer:
    """A reply that comes to its end."""
    return Answer(*items, END, DONE)


def refused(status: int, message: str, headers: str = "", **error: Any) -> Answer:
    body = json.dumps({"error": {"message": message, **error}})
    return Answer(body.encode(), status=status, headers=headers)


def cut(*items: Item) -> Answer:
    """A reply whose connection breaks."""
    return Answer(*items, whole=False)


NO_ANSWER = Answer(status=0, whole=False)
"""The connection is closed before anything was answered."""


class ScriptedServer:
    """Answers one request after another; keeps their bodies and keys."""

    def __init__(self, answers: tuple[Answer, ...]) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.left = asyncio.Event()  # a client has closed its connection
        self.address = ""
        self.connections: set[asyncio.Task[None]] = set()
        self.writers: list[asyncio.StreamWriter] = []

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        task = asyncio.create_task(self._serve(reader, writer))
        self.connections.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
        lower = {name.casefold(): value for name, value in fields.items()}
        self.asked.append(json.loads(await reader.readexactly(int(lower["content-length"]))))
        self.keys.append(lower.get("authorization", ""))
        answer = self.answers.pop(0)
        if answer.status:
            writer.write(answer.head.encode())
        watch = asyncio.create_task(self._watch(reader))
        for item in answer.items:
            if callable(item):
                await asyncio.wait(
                    {asyncio.ensure_future(item()), watch}, return_when=asyncio.FIRST_COMPLETED
                )
            else:
                data = _event(item)
                writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
            if watch.done():
                return False
        watch.cancel()
        await asyncio.wait({watch})
        if answer.whole:
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        return answer.whole

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        """Notice that the client has gone."""
        while not reader.at_eof() and reader.exception() is None:  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.01)
        self.left.set()


def _event(item: str | bytes | dict[str, Any]) -> bytes:
    if isinstance(item, bytes):
        return item
    whole = chunk({"content": item}) if isinstance(item, str) else item
    return f"data: {json.dumps(whole)}\n\n".encode()


@asynccontextmanager
async def scripted_server(*answers: Answer) -> AsyncIterator[ScriptedServer]:
    scripted = ScriptedServer(answers)
    listening = await asyncio.start_server(scripted.connected, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    scripted.address = f"http://127.0.0.1:{port}/v1"
    try:
        yield scripted
    finally:
        listening.close()
        for task in scripted.connections:
            task.cancel()
        if scripted.connections:
            await asyncio.wait(scripted.connections)
        for writer in scripted.writers:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
