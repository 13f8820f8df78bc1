"""A GGUF model on this machine, with the chat template from its own metadata.

Three sequences share the context: one for the conversation, which only grows, one for final
requests, and one for verdicts and a second look, so that none costs another its processed prefix
(`Request.lane`).
"""

import asyncio
import codecs
import os
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from voice_agent.engine import Engine, StopFlag
from voice_agent.errors import ContextOverflow
from voice_agent.llm.llama import Llama
from voice_agent.llm.model import (
    Finished,
    Lane,
    Likelihood,
    Message,
    Piece,
    Request,
    Size,
    StopReason,
)
from voice_agent.llm.prefixes import Prefixes
from voice_agent.llm.prompt_tokens import PromptTokens
from voice_agent.research.markup import MarkupParser

_LANES: dict[Lane, int] = {"conversation": 0, "answer": 1, "verdict": 2}
_VERDICT_TOKENS = 2_048  # some statements and the question
_SPEED_FROM_TOKENS = 64  # a shorter prompt says little about the speed
_FIRST_GUESS_TOKENS_PER_S = 50.0
_CALL_MARKS = (b"{", b"<", b"[", b"`")


class LocalModel:
    """The local `Model`; every call to llama.cpp runs on ``engine``'s thread.

    ``answer_tokens`` bounds the sequence of the answers; ``prefix_folder`` keeps what was processed
    of the beginnings of requests.
    """

    def __init__(
        self,
        llama: Llama,
        engine: Engine,
        *,
        context_tokens: int,
        answer_tokens: int,
        prefix_folder: Path | None = None,
    ) -> None:
        self.context_tokens = context_tokens
        self.prompt_tokens_per_s = _FIRST_GUESS_TOKENS_PER_S
        self._room: dict[Lane, int] = {
            "conversation": context_tokens,
            "answer": answer_tokens,
            "verdict": _VERDICT_TOKENS,
        }
        self._llama = llama
        self._engine = engine
        self._prefixes = None if prefix_folder is None else Prefixes(prefix_folder)
        self._prompts = PromptTokens(llama, llama.metadata.get("tokenizer.chat_template", ""))
        self._call_tokens = _call_tokens(llama)

    @staticmethod
    async def load(
        path: Path,
        engine: Engine,
        *,
        context_tokens: int,
        threads: int,
        prefix_folder: Path | None = None,
    ) -> "LocalModel":
        """Load the GGUF file at ``path``, or cancelled end soon; raises ModelError for no model."""
        answer_tokens = min(context_tokens, 4096)
        stop = StopFlag()

        def work() -> LocalModel:
            llama = Llama(
                path,
                context_tokens=context_tokens + answer_tokens + _VERDICT_TOKENS,
                threads=threads,
                sequences=len(_LANES),
                stopped=stop.is_set,
            )
            return LocalModel(
                llama,
                engine,
                context_tokens=context_tokens,
                answer_tokens=answer_tokens,
                prefix_folder=prefix_folder,
            )

        try:
            return await engine.run(work)
        except asyncio.CancelledError:
            stop.set()
            raise

    async def close(self) -> None:
        """Free the model."""
        await self._engine.run(self._llama.close)

    async def measure(self, request: Request) -> Size:
        """Count the request's prompt as it would be processed now."""

        def work() -> Size:
            tokens = self._prompts.of(request)
            return Size(len(tokens), self._llama.reusable(_LANES[request.lane], tokens))

        return await self._engine.run(work)

    async def prepare(self, request: Request) -> Size:
        """Process what all requests that begin like ``request`` share: system prompt and tools.

        Kept on disk, so that the next start restores it in a fraction of a second. Returns the
        size of that beginning and how much of it was restored.
        """
        try:
            return await self._engine.run(lambda: self._prepare(request))
        except asyncio.CancelledError:
            request.stop.set()
            raise

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        """Yield the reply's pieces; `Finished` comes last."""
        leave = StopFlag()  # ends this request alone when its reader leaves early

        def aborted() -> bool:
            return request.stop.is_set() or leave.is_set() or time.monotonic() >= request.deadline

        parser = MarkupParser(tool.name for tool in request.tools)
        async with aclosing(
            self._engine.stream(lambda: self._generate(request, aborted), leave)
        ) as reply:
            async for item in reply:
                pieces = parser.flush() if isinstance(item, Finished) else parser.feed(item)
                for piece in pieces:
                    yield piece
                if isinstance(item, Finished):
                    yield item

    async def likelihood(self, request: Request, options: tuple[str, ...]) -> Likelihood:
        """Process the request's prompt and weigh ``options`` as the reply's first word."""
        return await self._engine.run(lambda: self._weigh(request, options))

    def _weigh(self, request: Request, options: tuple[str, ...]) -> Likelihood:
        def aborted() -> bool:
            return request.stop.is_set() or time.monotonic() >= request.deadline

        tokens = self._prompts.of(request)
        self._check_room(request, len(tokens))
        done = self._llama.evaluate(_LANES[request.lane], tokens, aborted)
        shares = [0.0] * len(options)
        if done.complete:
            first = [self._first_tokens(option) for option in options]
            shares = [sum(self._llama.shares(tokens)) for tokens in first]
        reason: StopReason = "stopped" if request.stop.is_set() else "deadline"
        return Likelihood(
            tuple(shares),
            Finished(
                reason="end" if done.complete else reason,
                prompt_tokens=len(tokens),
                reused_tokens=done.reused_tokens,
                evaluated_tokens=done.evaluated_tokens,
                output_tokens=0,
            ),
        )

    def _first_tokens(self, word: str) -> list[int]:
        """The tokens with which ``word`` may begin, capital or not."""
        forms = (word, word.capitalize())
        return sorted({self._llama.tokenize(form, special=False)[0] for form in forms})

    def _check_room(self, request: Request, prompt_tokens: int) -> None:
        room = self._room[request.lane]
        if prompt_tokens + request.max_tokens > room:
            raise ContextOverflow(
                f"A prompt of {prompt_tokens} tokens and {request.max_tokens} for the reply "
                f"do not fit a context of {room}."
            )

    def _generate(self, request: Request, aborted: Callable[[], bool]) -> Iterator[str | Finished]:
        tokens = self._prompts.of(request)
        self._check_room(request, len(tokens))
        began = time.monotonic()
        done = self._llama.evaluate(_LANES[request.lane], tokens, aborted)
        self._note_speed(done.evaluated_tokens, time.monotonic() - began)
        generated: list[int] = []
        reason: StopReason = "stopped"
        if done.complete:
            reason = yield from self._reply(request, generated, aborted)
        if reason == "stopped" and not request.stop.is_set():
            reason = "deadline"
        yield Finished(
            reason=reason,
            prompt_tokens=len(tokens),
            reused_tokens=done.reused_tokens,
            evaluated_tokens=done.evaluated_tokens,
            output_tokens=len(generated),
            generated=tuple(generated),
        )

    def _reply(
        self, request: Request, generated: list[int], aborted: Callable[[], bool]
    ) -> Generator[str, None, StopReason]:
        """Yield the reply's text and note its tokens in ``generated``; return why it ended."""
        sampler = self._llama.greedy(() if request.calls_allowed else self._call_tokens)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            while len(generated) < request.max_tokens:
                token = sampler.next()
                if self._llama.is_end(token):
                    return "end"
                generated.append(token)
                if text := decoder.decode(self._llama.piece(token)):
                    yield text
                if len(generated) == request.max_tokens:
                    break
                if aborted() or not self._llama.append(_LANES[request.lane], token, aborted):
                    return "stopped"
            return "length"
        finally:
            sampler.close()

    def _prepare(self, request: Request) -> Size:
        shared = self._beginning(request)
        lane = _LANES[request.lane]
        whole = Size(len(shared), len(shared))
        if self._llama.reusable(lane, [*shared, -1]) == len(shared):
            return whole
        kept = self._prefixes and self._prefixes.file(self._llama.fingerprint, shared)
        if self._prefixes and kept and self._prefixes.whole(kept):
            if self._llama.restore(lane, kept, shared):
                return whole
        began = time.monotonic()
        done = self._llama.evaluate(lane, shared, request.stop.is_set)
        self._note_speed(done.evaluated_tokens, time.monotonic() - began)
        if self._prefixes and kept and done.complete:
            self._prefixes.keep(kept, lambda file: self._llama.save(lane, file))
        return Size(len(shared), done.reused_tokens)

    def _beginning(self, request: Request) -> list[int]:
        """What two requests with the same system prompt and tools, but other words, share."""
        prompts = [
            self._prompts.of(replace(request, messages=(*request.messages, Message("user", word))))
            for word in ("a", "b")
        ]
        return list(os.path.commonprefix(prompts))

    def _note_speed(self, tokens: int, seconds: float) -> None:
        if tokens >= _SPEED_FROM_TOKENS and seconds > 0:
            self.prompt_tokens_per_s = tokens / seconds


def _call_tokens(llama: Llama) -> tuple[int, ...]:
    """Every token without which no call can be written: those with a brace, bracket or tag.

    Banning them makes calls impossible, like a grammar does, at a hundredth of its cost; spoken
    answers need none of these characters.
    """
    return tuple(
        token
        for token in range(llama.vocabulary_tokens)
        if not llama.is_end(token) and any(mark in llama.piece(token) for mark in _CALL_MARKS)
    )
