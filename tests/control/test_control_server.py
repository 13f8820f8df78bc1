"""The control socket: private, one instance, and no client harms the assistant or another."""

import asyncio
import gc
import json
import os
import random
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from voice_agent.control.protocol import MAX_LINE_BYTES, Refused, request_line
from voice_agent.control.server import MAX_CLIENTS, MAX_WAITING, Began, ControlServer
from voice_agent.errors import ControlError, LedgerError

ANSWER = {"event": "answer", "t_s": 1.0, "turn": 4, "text": "Red."}
WAKE = {"event": "wake", "t_s": 1.0, "turn": None, "word": "alexa"}
FUZZ_BYTES = 300_000


class Recorder:
    """Operations that note what they are told."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.began: list[Began] = []

    def perform(self, op: str) -> dict[str, Any]:
        if op == "listen":
            raise Refused("muted", "The microphone is muted.", "voice-agent unmute")
        self.done.append(op)
        return {"status": {"state": "idle"}} if op == "status" else {}

    def ask(self, text: str, began: Began) -> None:
        self.done.append(text)
        self.began.append(began)

    def repeat(self, began: Began) -> None:
        self.ask("repeat", began)


class Peer:
    """A client of the test's own, line by line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def says(self, op: str, **fields: Any) -> dict[str, Any]:
        self.writer.write(request_line(op, **fields))
        return await self.hears()

    async def hears(self) -> dict[str, Any]:
        line: dict[str, Any] = json.loads(await asyncio.wait_for(self.reader.readline(), 20))
        return line

    async def is_dropped(self) -> bool:
        try:
            while await asyncio.wait_for(self.reader.read(1 << 16), 20):
                pass
        except ConnectionError:
            pass
        return True


class Socket:
    """A server with recorded operations, and clients for it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.operations = Recorder()
        self.server = ControlServer(self.operations)
        self.peers: list[Peer] = []

    async def connect(self) -> Peer:
        peer = Peer(*await asyncio.open_unix_connection(self.path))
        self.peers.append(peer)
        return peer


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Socket]:
    box = Socket(tmp_path / "run" / "control.sock")
    async with box.server.serving(box.path):
        yield box
        for peer in box.peers:
            peer.writer.close()


async def test_the_socket_is_the_users_alone(server: Socket) -> None:
    assert stat.S_IMODE(server.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.path.parent.stat().st_mode) == 0o700


async def test_a_request_is_answered_with_its_id(server: Socket) -> None:
    peer = await server.connect()
    answer = await peer.says("status", id="x")
    assert answer == {"v": 1, "id": "x", "ok": True, "status": {"state": "idle"}}


async def test_requests_in_one_packet_are_answered_in_order(server: Socket) -> None:
    peer = await server.connect()
    peer.writer.write(request_line("mute", id=1) + request_line("unmute", id=2))
    assert [(await peer.hears())["id"] for _ in range(2)] == [1, 2]
    assert server.operations.done == ["mute", "unmute"]


async def test_a_refusal_says_what_to_do(server: Socket) -> None:
    peer = await server.connect()
    answer = await peer.says("listen", id=5)
    assert (answer["ok"], answer["code"], answer["id"]) == (False, "muted", 5)
    assert answer["mend"] == "voice-agent unmute"


async def test_rubbish_is_refused_and_the_next_request_works(server: Socket) -> None:
    peer = await server.connect()
    peer.writer.write(b"rubbish\n")
    assert (await peer.hears())["code"] == "bad_request"
    assert (await peer.says("status"))["ok"]


async def test_a_line_without_an_end_is_refused_and_its_client_dropped(server: Socket) -> None:
    peer = await server.connect()
    peer.writer.write(b"x" * (MAX_LINE_BYTES + 1))
    assert (await peer.hears())["code"] == "too_long"
    assert await peer.is_dropped()
    assert (await (await server.connect()).says("status"))["ok"]


async def test_who_follows_gets_every_event(server: Socket) -> None:
    peer = await server.connect()
    await peer.says("follow", id=1)
    server.server.tell(WAKE)
    server.server.tell(ANSWER)
    assert await peer.hears() == {"v": 1, "id": 1, "event": WAKE}
    assert (await peer.hears())["event"] == ANSWER


async def test_who_asks_gets_the_events_of_that_turn_up_to_its_end(server: Socket) -> None:
    peer = await server.connect()
    assert (await peer.says("ask", text="Which colour?"))["ok"]
    server.server.tell(WAKE)
    server.operations.began[0](4)
    for event in (ANSWER | {"turn": 3}, ANSWER, ANSWER | {"text": "late"}):
        server.server.tell(event)
    assert (await peer.hears())["event"]["text"] == "Red."
    assert (await peer.says("status"))["ok"]


async def test_a_question_that_never_begins_is_cancelled(server: Socket) -> None:
    peer = await server.connect()
    await peer.says("ask", text="Which colour?", id=2)
    server.operations.began[0](None)
    assert (await peer.hears())["event"]["event"] == "cancelled"


async def test_a_question_that_cannot_begin_is_an_error_at_once(server: Socket) -> None:
    peer = await server.connect()
    await peer.says("ask", text="Which colour?", id=2)
    server.operations.began[0](LedgerError("The ledger is full.", mend="Make space."))
    told = (await peer.hears())["event"]
    assert (told["event"], told["turn"], told["stage"]) == ("error", None, "ledger")
    assert (told["message"], told["mend"]) == ("The ledger is full.", "Make space.")
    assert (await peer.says("status"))["ok"]


async def test_a_client_that_closes_its_side_still_gets_its_answer(server: Socket) -> None:
    peer = await server.connect()
    peer.writer.write(request_line("ask", text="Which colour?"))
    peer.writer.write_eof()
    assert (await peer.hears())["ok"]
    server.operations.began[0](4)
    server.server.tell(ANSWER)
    assert (await peer.hears())["event"]["text"] == "Red."
    assert await peer.is_dropped()


async def test_a_client_that_does_not_read_is_dropped_and_the_others_served(
    server: Socket,
) -> None:
    stuck, awake = await server.connect(), await server.connect()
    await stuck.says("follow")
    await awake.says("follow")
    for n in range(MAX_WAITING * 2):
        server.server.tell(WAKE | {"n": n, "word": "x" * 2_000})
        if n % 100 == 0:
            await asyncio.sleep(0.01)
        assert n < MAX_WAITING or n % 10 or (await drained(awake))
    assert await stuck.is_dropped()
    assert (await awake.says("mute"))["event"]["event"] == "wake"  # it is still being served


async def drained(peer: Peer) -> bool:
    for _ in range(10):
        await peer.hears()
    return True


async def test_too_many_clients_are_turned_away_and_a_place_becomes_free(server: Socket) -> None:
    peers = [await server.connect() for _ in range(MAX_CLIENTS)]
    assert [(await peer.says("status"))["ok"] for peer in peers] == [True] * MAX_CLIENTS
    assert (await (await server.connect()).hears())["code"] == "busy"
    peers[0].writer.close()
    await asyncio.sleep(0.3)
    assert (await (await server.connect()).says("status"))["ok"]


async def test_those_that_followed_and_left_take_no_place(server: Socket) -> None:
    for _ in range(MAX_CLIENTS + 1):
        peer = await server.connect()
        assert (await peer.says("follow"))["ok"]
        peer.writer.close()
        await peer.writer.wait_closed()
        await asyncio.sleep(0.1)


async def test_a_second_instance_is_refused(server: Socket) -> None:
    with pytest.raises(ControlError, match="running already"):
        async with ControlServer(Recorder()).serving(server.path):
            pass
    assert (await (await server.connect()).says("status"))["ok"]


async def test_the_file_of_a_dead_instance_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))
    dead.close()
    box = Socket(path)
    async with box.server.serving(path):
        peer = await box.connect()
        assert (await peer.says("status"))["ok"]
        peer.writer.close()
    assert not path.exists()


async def test_an_end_leaves_no_file_and_lets_the_answers_out(tmp_path: Path) -> None:
    box = Socket(tmp_path / "control.sock")
    async with box.server.serving(box.path):
        peer = await box.connect()
        peer.writer.write(request_line("stop"))
        await asyncio.sleep(0.1)
    assert (await peer.hears())["ok"]
    peer.writer.close()
    assert not box.path.exists()


async def test_a_path_longer_than_a_sockets_may_be_works(tmp_path: Path) -> None:
    box = Socket(tmp_path / ("long" * 40) / "control.sock")
    async with box.server.serving(box.path):
        folder = os.open(box.path.parent, os.O_RDONLY)
        box.path = Path(f"/proc/self/fd/{folder}/control.sock")
        peer = await box.connect()
        os.close(folder)
        assert (await peer.says("status"))["ok"]
        peer.writer.close()


async def test_noise_on_the_wire_harms_nobody(server: Socket) -> None:
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
    dice = random.Random(2)
    sent = 0
    while sent < FUZZ_BYTES:
        noise = dice.randbytes(dice.randrange(1, 9_000))
        sent += len(noise)
        peer = await server.connect()
        peer.writer.write(noise.replace(b"\n", b" ", dice.randrange(50)))
        await asyncio.sleep(0)
        peer.writer.transport.abort()
        await asyncio.sleep(0.03)
    await asyncio.sleep(0.2)
    assert (await (await server.connect()).says("status"))["ok"]
    gc.collect()
    assert faults == []
