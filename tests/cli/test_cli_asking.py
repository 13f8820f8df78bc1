"""Asking back on the terminal: silence, an empty line and a closed terminal are no answer."""

import os
import pty
import time
from collections.abc import Iterator

import pytest

from voice_agent.cli.asking import TerminalAsker

Output = pytest.CaptureFixture[str]


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    keyboard, terminal = pty.openpty()
    yield keyboard, terminal
    os.close(keyboard)
    os.close(terminal)


@pytest.mark.parametrize(
    ("kind", "typed", "answer"),
    [
        ("question", "The old one.\n", "The old one."),
        ("question", "y\n", "y"),
        ("question", "\n", None),
        ("question", "\x04", None),
        ("permission", "y\n", "yes"),
        ("permission", "Ja\n", "Ja"),
        ("permission", "\n", None),
    ],
)
async def test_a_typed_line_is_the_answer(
    terminal: tuple[int, int], kind: str, typed: str, answer: str | None
) -> None:
    os.write(terminal[0], typed.encode())
    asker = TerminalAsker(terminal[1], silence_s=60.0)
    assert await asker.ask("Which?", "permission" if kind == "permission" else "question") == answer


async def test_silence_is_no_answer(terminal: tuple[int, int], capsys: Output) -> None:
    began = time.monotonic()
    assert await TerminalAsker(terminal[1], silence_s=0.05).ask("May I?", "permission") is None
    assert time.monotonic() - began < 60
    assert "May I? [y/N]" in capsys.readouterr().err
