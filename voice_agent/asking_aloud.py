"""Asks the user by voice in the middle of a turn: the question is spoken, the answer is heard."""

import asyncio
from collections.abc import Callable

from voice_agent.conversation import Question
from voice_agent.phrases import is_no, is_stop, is_yes
from voice_agent.research.asking import Kind
from voice_agent.session import Session


class VoiceAsker:
    """An `Asker` for the live session that takes it into `use`; until then nobody is there.

    Silence, a muted microphone and words such as "never mind" are no answer. A sound without words,
    such as a cough, is neither: what is left of the time is listened on. A wake word cancels the
    turn, and the question with it.
    """

    def __init__(self) -> None:
        self._session: Session | None = None
        self._listen: Callable[[float], bool] = lambda spent_s: False
        self._hears: Callable[[], bool] = lambda: False
        self._kind: Kind = "question"
        self._answer: asyncio.Future[Question | None] | None = None

    def use(
        self, session: Session, *, listen: Callable[[float], bool], hears: Callable[[], bool]
    ) -> None:
        """Speak through ``session``.

        ``hears`` says whether there is a microphone to hear an answer with; ``listen`` opens it
        and says whether it has: what is heard then comes to `take`. It gets how many seconds of
        the time for the answer are over.
        """
        self._session, self._listen, self._hears = session, listen, hears

    async def ask(self, question: str, kind: Kind) -> str | None:
        """Return what the user answers; None for silence, or where nobody can be asked."""
        session = self._session
        if session is None or not self._hears() or not await session.ask_back(question):
            return None
        loop = asyncio.get_running_loop()
        began_s, spent_s = loop.time(), 0.0
        while (answer := await self._heard(kind, spent_s)) is not None:
            if said := await session.understand(answer.sound, answer.said):
                return None if is_stop(said) else said
            spent_s = loop.time() - began_s
        return None

    def take(self, answer: Question | None) -> None:
        """Take what was heard; None for silence."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def completes(self, text: str) -> bool:
        """Whether ``text`` is all that an answer needs: a yes or a no, where that was asked."""
        asked = self._answer is not None and self._kind == "permission"
        return asked and (is_yes(text) or is_no(text))

    async def _heard(self, kind: Kind, spent_s: float) -> Question | None:
        self._kind = kind
        self._answer = asyncio.get_running_loop().create_future()
        try:
            return await self._answer if self._listen(spent_s) else None
        finally:
            self._answer = None
