"""What systemd is told, on a real socket in its place."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import Clock

from voice_agent.control.notify import NO_MICROPHONE_S, Notifier


@pytest.fixture(params=["path", "abstract"])
def systemd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[socket.socket]:
    """A socket like systemd's, at a path or with an abstract name."""
    name = str(tmp_path / "notify") if request.param == "path" else f"\0test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(name)
        listening.setblocking(False)
        yield listening


def heard_by(systemd: socket.socket) -> list[str]:
    messages = []
    while True:
        try:
            messages.append(systemd.recv(4096).decode())
        except BlockingIOError:
            return messages


def notifier(systemd: socket.socket, clock: Clock, watchdog_s: float = 30) -> Notifier:
    name = systemd.getsockname()
    address = name if isinstance(name, str) else "@" + name[1:].decode()
    env = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": str(int(watchdog_s * 1e6))}
    return Notifier(env, clock)


def test_it_is_ready_with_the_first_sound_that_was_heard(systemd: socket.socket) -> None:
    made = notifier(systemd, Clock())
    made.status("Waiting for a microphone.")
    assert heard_by(systemd) == ["STATUS=Waiting for a microphone."]
    made.heard()
    assert heard_by(systemd) == ["READY=1", "WATCHDOG=1"]


def test_the_watchdog_is_fed_by_sound_and_not_by_every_block(systemd: socket.socket) -> None:
    clock = Clock()
    made = notifier(systemd, clock)
    for _ in range(100):
        made.heard()
    assert heard_by(systemd) == ["READY=1", "WATCHDOG=1"]
    clock.now_s += 5
    made.heard()
    assert heard_by(systemd) == ["WATCHDOG=1"]


def test_a_lost_microphone_has_time_to_heal_and_no_longer(systemd: socket.socket) -> None:
    made = notifier(systemd, Clock())
    made.microphone_lost()
    assert heard_by(systemd) == []  # not ready yet: nothing is waited for
    made.heard()
    made.microphone_lost()
    made.microphone_lost()
    assert heard_by(systemd)[2:] == [f"WATCHDOG_USEC={NO_MICROPHONE_S * 1_000_000}\nWATCHDOG=1"]
    made.heard()
    assert heard_by(systemd) == ["WATCHDOG_USEC=30000000", "WATCHDOG=1"]


def test_without_systemd_nothing_is_sent() -> None:
    made = Notifier({}, Clock())
    made.heard()
    made.stopping()
    assert made.watchdog_s == 0


def test_a_watchdog_for_another_process_is_not_ours() -> None:
    env = {"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"}
    assert Notifier(env, Clock()).watchdog_s == 0


def test_systemd_that_has_left_is_no_fault(tmp_path: Path) -> None:
    Notifier({"NOTIFY_SOCKET": str(tmp_path / "gone")}, Clock()).heard()
