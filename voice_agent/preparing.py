"""Research that is made ready while the assistant listens already: a question waits for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from voice_agent.errors import VoiceAgentError
from voice_agent.research.reply import Inquiry, Reply


class Answers(Protocol):
    """What answers questions: see `voice_agent.research.loop.ResearchLoop`."""

    async def reply(self, inquiry: Inquiry) -> Reply:
        """Research ``inquiry`` and answer it. Raises Cancelled and ModelError."""
        ...


class Preparing:
    """Answers as soon as what it opens is open; used inside `prepared`.

    ``ended`` is called once: with None when it is ready, or with the error that prevents it.
    """

    def __init__(self) -> None:
        self._begin = asyncio.Event()
        self._answers: asyncio.Future[Answers] = asyncio.get_running_loop().create_future()
        self.ended: Callable[[VoiceAgentError | None], object] = lambda error: None

    @property
    def goes_on(self) -> bool:
        """Whether it is not ready yet."""
        return not self._answers.done()

    def begin(self) -> None:
        """Begin: until then nothing is opened."""
        self._begin.set()

    async def reply(self, inquiry: Inquiry) -> Reply:
        """Answer ``inquiry`` when all is ready; its budgets begin then.

        Raises what the opening raised, and what the answering raises.
        """
        answers = await asyncio.shield(self._answers)
        return await answers.reply(inquiry)

    async def keep_open(
        self, opening: AbstractAsyncContextManager[Answers], closing: asyncio.Event
    ) -> None:
        """Open ``opening`` once `begin` was called, and close it when ``closing`` is set."""
        await self._begin.wait()
        try:
            async with opening as answers:
                self._answers.set_result(answers)
                self.ended(None)
                await closing.wait()
        except VoiceAgentError as error:
            if not self.goes_on:
                raise
            self._answers.set_exception(error)
            self._answers.exception()  # it is told by ``ended``: nobody need have waited
            self.ended(error)


@asynccontextmanager
async def prepared(opening: AbstractAsyncContextManager[Answers]) -> AsyncIterator[Preparing]:
    """Yield what answers with ``opening``, which is opened and closed by a task of its own."""
    preparing, closing = Preparing(), asyncio.Event()
    task = asyncio.create_task(preparing.keep_open(opening, closing), name="preparing")
    try:
        yield preparing
    finally:
        closing.set()
        if preparing.goes_on:
            task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()
