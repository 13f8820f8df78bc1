"""The seam to the user in the middle of a reply: leave for a call, or what was meant."""

from collections.abc import Callable
from typing import Literal, Protocol

Kind = Literal["permission", "question"]


class Asker(Protocol):
    """Puts a question to the user, by voice or on a terminal."""

    async def ask(self, question: str, kind: Kind) -> str | None:
        """Return what the user answers; None for silence, or where nobody can be asked."""
        ...


class Nobody:
    """An `Asker` for where there is no one to ask."""

    async def ask(self, question: str, kind: Kind) -> str | None:
        """Return None."""
        return None


class Asking:
    """Asks through an `Asker` and counts the seconds for which it waited for the user.

    The time is on ``clock``, which must be that of the research budget.
    """

    def __init__(self, asker: Asker, clock: Callable[[], float]) -> None:
        self._asker = asker
        self._clock = clock
        self.waited_s = 0.0

    async def ask(self, question: str, kind: Kind) -> str | None:
        """Return the user's answer without blanks around it; None where there is none."""
        began = self._clock()
        try:
            answer = await self._asker.ask(question, kind)
        finally:
            self.waited_s += self._clock() - began
        return answer.strip() or None if answer else None
