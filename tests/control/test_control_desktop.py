"""Answers as notifications, on a real session bus with a desktop that keeps what it is shown."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jeepney import new_error, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.asyncio import DBusRouter, Proxy, open_dbus_connection
from jeepney.low_level import Message, MessageType

from voice_agent.control.desktop import DesktopNotices, notice
from voice_agent.events import Answer, Asked, Source, Timings

ANSWER = Answer(
    turn=1,
    text="It is red & <b>old</b>.",
    spoken="It is red.",
    basis="complete",
    reason="none",
    sources=tuple(Source(path, "") for path in ("/desk/car.md", "/desk/car.md", "/x/bill.md")),
    rounds=1,
    charged_tokens=1,
    answer_tokens=1,
    timings=Timings(),
)
SHOWN = "It is red &amp; &lt;b&gt;old&lt;/b&gt;.\n(car.md, bill.md)"


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A session bus of its own."""
    address = f"unix:path={tmp_path}/bus"
    command = ["dbus-daemon", "--session", "--nofork", "--print-address", f"--address={address}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield
        daemon.terminate()


@asynccontextmanager
async def desktop(refusing: bool = False) -> AsyncIterator[list[tuple[Any, ...]]]:
    """What shows notifications, or refuses to."""
    shown: list[tuple[Any, ...]] = []
    connection = await open_dbus_connection()
    async with DBusRouter(connection) as router:
        await Proxy(message_bus, router).RequestName("org.freedesktop.Notifications")
    serving = asyncio.create_task(_serve(connection, shown, refusing))
    yield shown
    serving.cancel()
    await connection.close()


async def _serve(connection: Any, shown: list[tuple[Any, ...]], refusing: bool) -> None:
    while True:
        message: Message = await connection.receive()
        if message.header.message_type is not MessageType.method_call:
            continue
        shown.append(message.body)
        refusal = new_error(message, "org.example.Refused", "s", ("no room",))
        await connection.send(refusal if refusing else new_method_return(message, "u", (1,)))


async def show(*answers: Answer) -> None:
    notices = DesktopNotices()
    for answer in answers:
        notices(answer)
        await notices.close()


async def test_an_answer_is_shown_with_its_sources(bus: None) -> None:
    async with desktop() as shown:
        await show(ANSWER)
    assert [(body[0], body[3], body[4]) for body in shown] == [
        ("Voice agent", "Voice agent", SHOWN)
    ]


async def test_nothing_else_is_shown(bus: None) -> None:
    async with desktop() as shown:
        notices = DesktopNotices()
        notices(Asked(turn=1, text="Which colour?"))
        await show(replace(ANSWER, text=" "))
        await notices.close()
    assert shown == []


async def test_a_desktop_that_refuses_is_logged_once_and_without_the_answer(
    bus: None, caplog: pytest.LogCaptureFixture
) -> None:
    async with desktop(refusing=True) as shown:
        await show(ANSWER)
        notices = DesktopNotices()
        notices(ANSWER)
        notices(ANSWER)
        await notices.close()
    assert len(shown) == 3
    lines = [each.getMessage() for each in caplog.records]
    assert len(lines) == 2
    assert all("cannot be shown on the desktop" in line for line in lines)
    assert "red" not in caplog.text


@pytest.mark.parametrize("address", [None, "unix:path=/nowhere/bus", "tcp:host=localhost"])
async def test_without_a_session_nothing_fails(
    address: str | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    if address is not None:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    await show(ANSWER)
    assert "Answers cannot be shown on the desktop" in caplog.text


def test_a_long_answer_is_cut() -> None:
    assert len(notice(replace(ANSWER, text="x" * 5_000, sources=()))) == 1_001
