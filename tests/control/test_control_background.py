"""The assistant as a service: what it tells systemd, and its limit of memory."""

import logging
import socket
from pathlib import Path

import pytest

from voice_agent.control.background import Background
from voice_agent.settings import Settings
from voice_agent.settings.service import Service

A_CHECK = 750
"""Blocks of the microphone's sound between two looks at the memory: 30 s."""


def background(limit_mb: int, ended: list[str]) -> Background:
    """A service with any limit; a settings file allows none that a test would exceed."""
    service = Service.model_construct(memory_max_mb=limit_mb)
    settings = Settings().model_copy(update={"service": service})
    return Background(settings, lambda: ended.append("ended"))


def hears(service: Background, blocks: int) -> None:
    for _ in range(blocks):
        service.heard()


def test_over_its_limit_it_ends_once_says_why_and_counts_as_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ended: list[str] = []
    service = background(1, ended)
    hears(service, A_CHECK - 1)
    assert (ended, service.failed) == ([], False)
    hears(service, 2 * A_CHECK)
    assert (ended, service.failed) == (["ended"], True)
    (line,) = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert "MB are in use, service.memory_max_mb is 1: ending, to start anew." in line


@pytest.mark.parametrize("limit_mb", [0, 1_000_000])
def test_without_a_limit_or_under_it_it_goes_on(limit_mb: int) -> None:
    ended: list[str] = []
    service = background(limit_mb, ended)
    hears(service, 2 * A_CHECK)
    assert (ended, service.failed) == ([], False)


def test_a_limit_that_is_changed_meanwhile_counts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)  # `use` sets it for the whole program
    ended: list[str] = []
    service = background(0, ended)
    hears(service, A_CHECK)
    service.use(background(1, []).settings)
    hears(service, A_CHECK)
    assert ended == ["ended"]


def test_systemd_is_told_what_is_listened_for_and_what_is_still_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        service = background(0, [])
        service.preparing = True
        service.heard()
        service.prepared()
        told = [systemd.recv(4096).decode() for _ in range(3)]
    listening = "STATUS=Listening for 'hey jarvis'."
    assert told == ["READY=1", f"{listening} The language model is being prepared.", listening]
