"""A model on an OpenAI-compatible server, in the house or anywhere else.

What is asked and what was found for it leaves this machine only when this is configured.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from voice_agent.errors import ContextOverflow, ProviderError
from voice_agent.llm.access import Access
from voice_agent.llm.counting import PromptCounts, plain_tokens
from voice_agent.llm.limit import Ended, Limit
from voice_agent.llm.model import Finished, Piece, Request, Size, StopReason
from voice_agent.llm.pieces import ReplyPieces
from voice_agent.llm.server import Server
from voice_agent.llm.wire import Prompt, body_of, prompt_of

_FIRST_GUESS_TOKENS_PER_S = 1_000.0
_SPEED_FROM_TOKENS = 64  # a shorter prompt says little about the speed
_FIGURES_S = 2.0
"""How long usage figures may come after the reply's end."""


class RemoteModel:
    """The remote `Model`; its errors are `ProviderError`.

    Lanes are one to it: a server sees one prompt after another, and its cache is taken to hold the
    last.

    At a deadline a reply ends with what there is of it; only a server from which nothing has ever
    come is reported as an error then.
    """

    def __init__(self, access: Access, *, context_tokens: int) -> None:
        self.context_tokens = context_tokens
        self.prompt_tokens_per_s = _FIRST_GUESS_TOKENS_PER_S
        self._access = access
        self._server = Server(access)
        self._counts = PromptCounts()
        self._ever_answered = False

    async def close(self) -> None:
        """End all connections to the server."""
        await self._server.close()

    async def measure(self, request: Request) -> Size:
        """Estimate the request's prompt as it would be processed now."""
        return self._counts.size(prompt_of(request))

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """Yield the reply's pieces; `Finished` comes last."""
        prompt = prompt_of(request)
        self._check_room(request, self._counts.size(prompt).prompt_tokens)
        reply = ReplyPieces(tuple(tool.name for tool in request.tools))
        limit = Limit(request.stop, request.deadline)
        course = _Course(began=time.monotonic())
        try:
            async with aclosing(self._read(request, reply, limit, course)) as read:
                async for piece in read:
                    yield piece
        except Ended as end:
            course.ended = end.reason
        except ProviderError as error:
            course.failure = error
        for piece in reply.flush():
            yield piece
        yield self._finish(request, prompt, reply, course)

    async def _read(
        self, request: Request, reply: ReplyPieces, limit: Limit, course: "_Course"
    ) -> AsyncGenerator[Piece, None]:
        opened = self._server.chunks(body_of(request, self._access.model), limit)
        async with aclosing(opened) as chunks:
            async for chunk in chunks:
                course.first = course.first or time.monotonic()
                for piece in reply.feed(chunk):
                    yield piece
                if reply.reason is not None:
                    limit.hurry(_FIGURES_S)

    def _check_room(self, request: Request, prompt_tokens: int) -> None:
        if prompt_tokens + request.max_tokens > self.context_tokens:
            raise ContextOverflow(
                f"A prompt of about {prompt_tokens} tokens and {request.max_tokens} for the reply "
                f"do not fit a context of {self.context_tokens}.",
                mend="Raise llm.context_tokens if the server's model can hold more.",
            )

    def _finish(
        self, request: Request, prompt: Prompt, reply: ReplyPieces, course: "_Course"
    ) -> Finished:
        """Say how the reply ended and what it cost; raises ProviderError where it failed."""
        self._ever_answered = self._ever_answered or course.first is not None
        stopped = request.stop.is_set()
        failure = None if stopped else self._failure(reply, course)
        if failure is not None:
            raise failure
        size = self._counts.settle(prompt, reply.usage, processed=course.first is not None)
        if course.first is not None and size.new_tokens >= _SPEED_FROM_TOKENS:
            self.prompt_tokens_per_s = size.new_tokens / max(course.first - course.began, 1e-3)
        output = reply.usage.output_tokens
        if output is None:
            output = min(plain_tokens(reply.output_bytes), request.max_tokens)
        return Finished(
            reason="stopped" if stopped else reply.reason or "deadline",
            prompt_tokens=size.prompt_tokens,
            reused_tokens=size.reused_tokens,
            evaluated_tokens=size.new_tokens,
            output_tokens=output,
        )

    def _failure(self, reply: ReplyPieces, course: "_Course") -> ProviderError | None:
        where = f"The server at {self._access.base_url}"
        if reply.refused:
            return ProviderError(
                f"{where} withheld the rest of the answer.", mend="Ask in other words."
            )
        if reply.reason is not None:
            return None  # it had said all; what failed afterwards costs nothing
        if course.failure is not None:
            return course.failure
        if course.ended == "deadline":
            if self._ever_answered:
                return None
            return ProviderError(
                f"{where} sent nothing for {time.monotonic() - course.began:.0f} s, until the "
                "time was over.",
                mend="Look at the server's log, or raise research.timeout_s if it is only slow.",
            )
        if course.first is None:
            return ProviderError(
                f"{where} sent no completion.",
                mend="Check llm.base_url (it often ends in /v1) and llm.remote_model.",
            )
        return ProviderError(f"{where} broke off in mid-answer.", mend="Ask again.")


@dataclass
class _Course:
    """How a request went: its moments on the monotonic clock, and what ended it early."""

    began: float
    first: float | None = None
    ended: StopReason | None = None
    failure: ProviderError | None = None
