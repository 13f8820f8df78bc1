"""Asks the user on the terminal, in the middle of a reply."""

import asyncio
import os
import sys

from voice_agent.research.asking import Kind

SILENCE_S = 60.0
"""So long an answer is waited for; then there is none."""

_LINE_BYTES = 4_096


class TerminalAsker:
    """Writes the question on stderr and takes a line of the terminal as the answer.

    An empty line, the end of input and ``silence_s`` seconds without a line are no answer.
    """

    def __init__(self, keyboard: int, silence_s: float = SILENCE_S) -> None:
        """``keyboard`` is the terminal's file descriptor."""
        self._keyboard = keyboard
        self._silence_s = silence_s

    async def ask(self, question: str, kind: Kind) -> str | None:
        """Return the line that is typed; None where there is none in time."""
        hint = " [y/N]" if kind == "permission" else ""
        sys.stderr.write(f"\n{question}{hint} ")
        sys.stderr.flush()
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str] = loop.create_future()
        loop.add_reader(self._keyboard, self._read, line)
        try:
            async with asyncio.timeout(self._silence_s):
                answer = await line
        except TimeoutError:
            sys.stderr.write("\n")
            return None
        finally:
            loop.remove_reader(self._keyboard)
        return "yes" if kind == "permission" and answer.casefold() == "y" else answer or None

    def _read(self, line: "asyncio.Future[str]") -> None:
        """Take the line that the terminal holds, whole: it passes on whole lines only."""
        try:
            typed = os.read(self._keyboard, _LINE_BYTES)
        except OSError:
            typed = b""  # the terminal has gone
        if not line.done():
            line.set_result(typed.decode("utf-8", "replace").strip())
