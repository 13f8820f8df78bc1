"""The control socket's server: lines in, lines out; no client can slow or harm the assistant.

Everything runs on the event loop's thread. What a client is to be sent waits in its own bounded
queue; one that does not take it is dropped.
"""

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import select
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from voice_agent.control.protocol import (
    MAX_LINE_BYTES,
    Id,
    Refused,
    Request,
    done,
    id_of,
    parse,
    refused,
    streamed,
)
from voice_agent.errors import ControlError, VoiceAgentError
from voice_agent.events import Error, to_json
from voice_agent.places import FILE_MODE, private_folder

log = logging.getLogger(__name__)

MAX_CLIENTS = 16
MAX_STREAMS = 4
"""Streams of one client."""
MAX_WAITING = 512
"""Lines that wait for one client: more, and it is dropped."""
STUCK_S = 5.0
"""A client that takes nothing for so long is dropped."""
IDLE_S = 60.0
PACE_S = 0.02

ENDINGS = ("answer", "cancelled", "error")
Event = dict[str, Any]
Began = Callable[[int | VoiceAgentError | None], None]
"""Gets the turn's id when it begins, or why it never will: an error, or None if something else
came before."""


class Operations(Protocol):
    """What the operations of the protocol do. All return at once and may raise `Refused`."""

    def perform(self, op: str) -> Event:
        """Do an operation that is done at once; return the fields of its answer."""

    def ask(self, text: str, began: Began) -> None:
        """Answer a typed question."""

    def repeat(self, began: Began) -> None:
        """Say the last answer again."""


@dataclass(eq=False)
class _Stream:
    """Events on their way to a client: of one turn, or of all."""

    id: Id
    all: bool = False
    turn: int | None = None

    def takes(self, event: Event) -> bool:
        return self.all or (self.turn is not None and event["turn"] == self.turn)

    def ends_with(self, event: Event) -> bool:
        return not self.all and event["event"] in ENDINGS


@dataclass(eq=False)
class _Client:
    writer: asyncio.StreamWriter
    waiting: asyncio.Queue[bytes] = field(default_factory=lambda: asyncio.Queue(MAX_WAITING))
    streams: list[_Stream] = field(default_factory=list)

    def send(self, line: bytes) -> None:
        """Let ``line`` wait for its turn; a client that has left too much lying is dropped."""
        try:
            self.waiting.put_nowait(line)
        except asyncio.QueueFull:
            self.drop("it does not read")

    def drop(self, why: str) -> None:
        log.debug("A control client is dropped: %s.", why)
        self.streams.clear()
        self.writer.transport.abort()


class ControlServer:
    """Serves clients; `tell` passes an event on to those that follow."""

    def __init__(self, operations: Operations) -> None:
        self._operations = operations
        self._clients: dict[asyncio.Task[None], _Client] = {}

    @property
    def clients(self) -> int:
        """How many are connected."""
        return len(self._clients)

    def tell(self, event: Event) -> None:
        """Stream an event in its JSON form; costs next to nothing while nobody follows."""
        for client in list(self._clients.values()):
            for stream in [each for each in client.streams if each.takes(event)]:
                client.send(streamed(event, stream.id))
                if stream.ends_with(event) and stream in client.streams:
                    client.streams.remove(stream)

    @asynccontextmanager
    async def serving(self, path: Path) -> AsyncIterator[None]:
        """Serve on a socket at ``path``; a file that a dead instance left there is replaced.

        Raises ControlError where another instance runs or the socket cannot be made.
        """
        with _bound(path) as listening:
            server = await asyncio.start_unix_server(
                self._connected, sock=listening, limit=MAX_LINE_BYTES
            )
            try:
                yield
            finally:
                server.close()
                await self._leave()

    async def _leave(self) -> None:
        """Give the clients a moment to take what is left, then close."""
        tasks = list(self._clients)
        deadline = asyncio.get_running_loop().time() + 0.2
        while any(not c.waiting.empty() for c in self._clients.values()):
            await asyncio.sleep(0.01)
            if asyncio.get_running_loop().time() > deadline:
                break
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client until it leaves."""
        task = asyncio.current_task()
        assert task is not None
        if not self._is_welcome(writer):
            writer.close()
            return
        client = self._clients[task] = _Client(writer)
        sending = asyncio.create_task(_sending(client))
        try:
            await self._reading(reader, client)
            await _taken(client)
        except ConnectionError:
            return
        finally:
            sending.cancel()
            del self._clients[task]
            writer.close()

    def _is_welcome(self, writer: asyncio.StreamWriter) -> bool:
        if not _is_user(writer):
            return False
        if len(self._clients) >= MAX_CLIENTS:
            busy = Refused("busy", "There are too many clients.", "Close one of them.")
            writer.write(refused(busy))
            return False
        return True

    async def _reading(self, reader: asyncio.StreamReader, client: _Client) -> None:
        while not client.writer.is_closing():
            try:
                async with asyncio.timeout(IDLE_S):
                    line = await reader.readuntil(b"\n")
            except TimeoutError:
                if client.streams:
                    continue
                return
            except asyncio.IncompleteReadError:
                return
            except asyncio.LimitOverrunError:
                client.streams.clear()
                client.send(refused(Refused("too_long", f"A line has {MAX_LINE_BYTES} bytes.")))
                return
            self._answer(line, client)
            await asyncio.sleep(PACE_S)

    def _answer(self, line: bytes, client: _Client) -> None:
        request: Request | None = None
        try:
            request = parse(line)
            self._do(request, client)
        except Refused as refusal:
            client.send(refused(refusal, request.id if request else _id_in(line)))

    def _do(self, request: Request, client: _Client) -> None:
        if request.op not in ("ask", "repeat", "follow"):
            client.send(done(request, **self._operations.perform(request.op)))
            return
        if len(client.streams) >= MAX_STREAMS:
            raise Refused("busy", "This connection has too many streams.", "Open another.")
        stream = _Stream(request.id, all=request.op == "follow")
        if request.op == "ask":
            self._operations.ask(request.text, _beginning(stream, client))
        elif request.op == "repeat":
            self._operations.repeat(_beginning(stream, client))
        client.send(done(request))
        client.streams.append(stream)


def _beginning(stream: _Stream, client: _Client) -> Began:
    def began(turn: int | VoiceAgentError | None) -> None:
        if isinstance(turn, int):
            stream.turn = turn
        elif stream in client.streams:
            client.streams.remove(stream)
            client.send(streamed(NEVER_BEGAN if turn is None else _failed(turn), stream.id))

    return began


NEVER_BEGAN: Event = {
    "event": "cancelled",
    "t_s": None,
    "turn": None,
    "cause": "something else came before it began",
    "silence_s": None,
    "stopped_s": None,
    "heard_text": "",
}


def _failed(error: VoiceAgentError) -> Event:
    return to_json(
        Error(stage=error.stage, message=error.message, mend=error.mend, file=error.file)
    )


async def _sending(client: _Client) -> None:
    """Send what waits, line by line, for as long as the client takes it."""
    writer = client.writer
    writer.transport.set_write_buffer_limits(high=1 << 16)
    try:
        while True:
            writer.write(await client.waiting.get())
            async with asyncio.timeout(STUCK_S):
                await writer.drain()
    except TimeoutError:
        client.drop("it takes nothing")
    except ConnectionError:
        client.streams.clear()


async def _taken(client: _Client) -> None:
    """Wait until the client, which has said its last, has taken the answers or is gone."""
    if client.writer.is_closing():
        return
    gone = select.poll()
    gone.register(client.writer.get_extra_info("socket").fileno(), 0)  # POLLHUP comes unasked
    while not client.writer.is_closing() and not gone.poll(0):
        if not client.streams and client.waiting.empty():
            return
        await asyncio.sleep(0.05)


def _id_in(line: bytes) -> Id:
    """Return the id of a refused request, as far as one can be made out."""
    with contextlib.suppress(ValueError, RecursionError, Refused):
        request = json.loads(line)
        return id_of(request) if isinstance(request, dict) else None
    return None


def _is_user(writer: asyncio.StreamWriter) -> bool:
    """Whether the peer is our own user or root (SO_PEERCRED of unix(7))."""
    peer = writer.get_extra_info("socket")
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _pid, uid, _gid = struct.unpack("3i", credentials)
    if uid in (os.getuid(), 0):
        return True
    log.warning("A control client of another user (%d) was turned away.", uid)
    return False


@contextlib.contextmanager
def _bound(path: Path) -> Iterator[socket.socket]:
    """Yield a listening socket; the folder's lock, which ends with the process, is the instance."""
    with contextlib.ExitStack() as opened:
        try:
            folder = os.open(private_folder(path.parent), os.O_RDONLY | os.O_DIRECTORY)
            opened.callback(os.close, folder)
            _lock(folder)
            listening = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            path.unlink(missing_ok=True)  # we have the lock: whoever made it is dead
            # by the folder's descriptor: the path itself may be longer than a socket's may be
            listening.bind(f"/proc/self/fd/{folder}/{path.name}")
            opened.callback(path.unlink, missing_ok=True)
            path.chmod(FILE_MODE)
        except OSError as error:
            raise ControlError(
                f"The control socket {path} cannot be made: {error.strerror or error}.",
                mend="See that XDG_RUNTIME_DIR names a folder of yours.",
                file=path,
            ) from error
        listening.setblocking(False)
        yield listening


def _lock(folder: int) -> None:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ControlError(
            "Another voice-agent is running already.",
            mend="Use it, or end it first: voice-agent stop",
        ) from error
