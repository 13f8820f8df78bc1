"""Asks the user by voice in the middle of a turn: the question is spoken, the answer is heard."""

import asyncio
from collections.abc import Callable

from voice_agent.conversation import Question
from voice_agent.phrases import is_no, is_stop, is_yes
from voice_agent.research.asking import Kind
from voice_agent.session import Session


class VoiceAsker:
    """An `Asker` for the live session that takes it into `use`; until then nobody is there.

    Silence, a muted microphone and words such as "never mind" are no answer. A wake word cancels
    the turn, and the question with it.
    """

    def __init__(self) -> None:
        self._session: Session | None = None
        self._listen: Callable[[], bool] = _deaf
        self._hears: Callable[[], bool] = _deaf
        self._kind: Kind = "question"
        self._answer: asyncio.Future[Question | None] | None = None

    def use(
        self, session: Session, *, listen: Callable[[], bool], hears: Callable[[], bool]
    ) -> None:
        """Speak through ``session``.

        ``hears`` says whether there is a microphone to hear an answer with; ``listen`` opens it
        and says whether it has: what is heard then comes to `take`.
        """
        self._session, self._listen, self._hears = session, listen, hears

    async def ask(self, question: str, kind: Kind) -> str | None:
        """Return what the user answers; None for silence, or where nobody can be asked."""
        session = self._session
        if session is None or not self._hears() or not await session.ask_back(question):
            return None
        answer = await self._heard(kind)
        if answer is None:
            return None
        said = await session.understand(answer.sound, answer.said)
        return None if is_stop(said) else said or None

    def take(self, answer: Question | None) -> None:
        """Take what was heard; None for silence."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def completes(self, text: str) -> bool:
        """Whether ``text`` is all that an answer needs: a yes or a no, where that was asked."""
        asked = self._answer is not None and self._kind == "permission"
        return asked and (is_yes(text) or is_no(text))

    async def _heard(self, kind: Kind) -> Question | None:
        self._kind = kind
        self._answer = asyncio.get_running_loop().create_future()
        try:
            return await self._answer if self._listen() else None
        finally:
            self._answer = None


def _deaf() -> bool:
    return False
