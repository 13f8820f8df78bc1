"""Stand-ins for the stages, each with the real Protocol: they do what a test tells them to do."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.capture import Captured, Microphone
from voice_agent.audio.format import Sound
from voice_agent.audio.playback import Speaker
from voice_agent.desk import Ears
from voice_agent.engine import StopFlag
from voice_agent.errors import ContextOverflow, VoiceAgentError
from voice_agent.llm.model import Finished, Model, Piece, Request, Size, StopReason, Text
from voice_agent.research.asking import Asker, Kind
from voice_agent.stt import Transcriber, Transcription
from voice_agent.tts import Speech, Voice
from voice_agent.tts.speech import SpokenWord
from voice_agent.turns.front_end import FrontEndEvent

RATE_HZ = 1_000
WORD_SAMPLES = 100

Act = Callable[[], Awaitable[object]]
Script = Sequence[Piece | str | VoiceAgentError | Act]
"""A reply: pieces (a str is a `Text`), an error to raise, or something to await in between."""


async def forever() -> None:
    """Never return; cancelling ends it."""
    await asyncio.Event().wait()


async def a_while() -> None:
    """Let every other task go on as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


def doing(act: Callable[[], object]) -> Act:
    """Something to do in the middle of a script."""

    async def do() -> None:
        act()

    return do


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def passing(self, seconds: float) -> Act:
        """Something to do in the middle of a script: time passes."""
        return doing(lambda: setattr(self, "now_s", self.now_s + seconds))


class ScriptedModel:
    """A `Model` that gives the scripted replies one after another, and keeps the requests.

    A token is a word. What a lane's last request and reply held is reused, as in a KV cache.
    """

    def __init__(self, *replies: Script, context_tokens: int = 8192) -> None:
        self.context_tokens = context_tokens
        self.prompt_tokens_per_s = 1_000.0
        self.requests: list[Request] = []
        self.replies = list(replies)
        self._held: dict[str, list[str]] = {}

    async def measure(self, request: Request) -> Size:
        words = prompt_words(request)
        held = self._held.get(request.lane, [])
        pairs = zip(words, held, strict=False)
        shared = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(words), len(held)))
        return Size(len(words), min(shared, max(len(words) - 1, 0)))

    async def stream(self, request: Request) -> AsyncIterator[Piece]:
        self.requests.append(request)
        size = await self.measure(request)
        if size.prompt_tokens + request.max_tokens > self.context_tokens:
            raise ContextOverflow(f"{size.prompt_tokens} + {request.max_tokens} tokens.")
        self._held[request.lane] = prompt_words(request)
        written: list[str] = []
        for item in self.replies.pop(0):
            if request.stop.is_set():
                yield _finished(size, written, "stopped")
                return
            if isinstance(item, VoiceAgentError):
                raise item
            if callable(item):
                await item()
                continue
            piece = Text(item) if isinstance(item, str) else item
            written += piece.text.split() if isinstance(piece, Text) else []
            yield piece
            if isinstance(piece, Finished):
                return
        yield _finished(size, written, "stopped" if request.stop.is_set() else "end")


def prompt_words(request: Request) -> list[str]:
    """The request's prompt as the scripted model counts it."""
    texts = [tool.name for tool in request.tools]
    for message in request.messages:
        texts += [message.role, *message.content.split(), *(call.raw for call in message.calls)]
    return texts


def ended(reason: StopReason, *, evaluated: int = 10, output: int = 5) -> Finished:
    """How a scripted reply ends if not by itself."""
    return Finished(reason, evaluated, 0, evaluated, output)


def _finished(size: Size, written: list[str], reason: StopReason) -> Finished:
    return Finished(reason, size.prompt_tokens, size.reused_tokens, size.new_tokens, len(written))


class ScriptedAsker:
    """An `Asker` whose user gives the scripted answers, then ``rest``; ``meanwhile`` runs first."""

    def __init__(self, *answers: str | None, rest: str | None = "yes") -> None:
        self.asked: list[tuple[str, Kind]] = []
        self.answers = list(answers)
        self.rest = rest
        self.meanwhile = doing(int)

    async def ask(self, question: str, kind: Kind) -> str | None:
        self.asked.append((question, kind))
        await self.meanwhile()
        return self.answers.pop(0) if self.answers else self.rest


class ScriptedTranscriber:
    """A `Transcriber` that hears the scripted texts, whatever the sound."""

    def __init__(self, *heard: str | VoiceAgentError | Act) -> None:
        self._heard = list(heard)

    async def transcribe(
        self, sound: Sound, *, language: str = "en", stop: StopFlag | None = None
    ) -> Transcription:
        item = self._heard.pop(0)
        if isinstance(item, VoiceAgentError):
            raise item
        text = item if isinstance(item, str) else str(await item())
        return Transcription(text, language, audio_s=sound.seconds, stt_s=0.0)


class FakeVoice:
    """A `Voice` with `WORD_SAMPLES` of sound for each word; ``meanwhile`` runs with each text."""

    language = "en"

    def __init__(self, meanwhile: Callable[[str], object] | None = None) -> None:
        self.texts: list[str] = []
        self._meanwhile = meanwhile

    async def synthesize(self, text: str, stop: StopFlag | None = None) -> Speech:
        self.texts.append(text)
        if self._meanwhile is not None:
            self._meanwhile(text)
        spans = [(i * WORD_SAMPLES, (i + 1) * WORD_SAMPLES) for i in range(len(text.split()))]
        words = [SpokenWord(w, *span) for w, span in zip(text.split(), spans, strict=True)]
        samples = np.full(len(words) * WORD_SAMPLES, 0.5, np.float32)
        return Speech(Sound(samples, RATE_HZ), tuple(words))

    def close(self) -> None:
        """Nothing to free."""


class FakeSpeaker:
    """A `Speaker` that plays as far as `advance` says; with ``instant`` all at once."""

    def __init__(self, *, instant: bool = False, fault: VoiceAgentError | None = None) -> None:
        self.played_samples = 0
        self.sounds: list[Sound] = []
        self.aborts = 0
        self.cancelled = 0
        self.on_abort: Callable[[], object] = int
        self.level = 1.0
        self._instant = instant
        self._fault = fault
        self._waiting: list[tuple[Sound, asyncio.Future[int]]] = []
        self._into_first = 0

    async def play(self, sound: Sound) -> int:
        if self._fault is not None:
            raise self._fault
        self.sounds.append(sound)
        if self._instant:
            self.played_samples += len(sound.samples)
            return len(sound.samples)
        heard: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        waiting = (sound, heard)
        self._waiting.append(waiting)
        try:
            return await heard
        except asyncio.CancelledError:
            self.cancelled += 1
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            raise

    def advance(self, samples: int) -> None:
        """Let ``samples`` more be heard, of one sound after another."""
        self._into_first += samples
        while self._waiting and self._into_first >= len(self._waiting[0][0].samples):
            whole = len(self._waiting[0][0].samples)
            self._into_first -= whole
            self._end(whole)

    def abort(self) -> None:
        self.aborts += 1
        self.level = 1.0
        self.on_abort()
        while self._waiting:
            self._end(self._into_first)
            self._into_first = 0

    def turn_to(self, level: float) -> None:
        self.level = level

    def _end(self, samples: int) -> None:
        _sound, heard = self._waiting.pop(0)
        self.played_samples += samples
        if not heard.done():
            heard.set_result(samples)


class FakeMicrophone:
    """A `Microphone` that hears a block of sound each time it is told to, or fails."""

    def __init__(self) -> None:
        self.ended = False
        self.opened = 0
        self._coming: asyncio.Queue[Captured | VoiceAgentError] = asyncio.Queue()

    def hear(self) -> None:
        """Let the next 20 ms be heard."""
        self._coming.put_nowait(Captured(np.full(320, 0.1, np.float32), at_s=0.0))

    def hear_nothing(self, seconds: float) -> None:
        """Let so much digital silence be heard."""
        silence = np.zeros(round(16_000 * seconds), np.float32)
        self._coming.put_nowait(Captured(silence, at_s=0.0))

    def fail(self, fault: VoiceAgentError) -> None:
        """Let the device fail."""
        self._coming.put_nowait(fault)

    async def blocks(self) -> AsyncGenerator[Captured, None]:
        self.opened += 1
        while True:
            item = await self._coming.get()
            if isinstance(item, VoiceAgentError):
                raise item
            yield item


class FakeEars:
    """The listening front end: with each block the events that were put there before."""

    position_s = 0.0

    def __init__(self) -> None:
        self.coming: list[FrontEndEvent] = []
        self.playback: list[NDArray[np.float32] | None] = []
        self.loud: list[bool] = []
        self.listens: list[float | None] = []
        self.stops = 0
        self.said = np.zeros(16_000, np.float32)
        self.hints: list[bool | None] = []
        self.hints_expected = 0

    def feed(
        self, samples: NDArray[np.float32], playback: NDArray[np.float32] | None = None
    ) -> list[FrontEndEvent]:
        self.playback.append(playback)
        self.loud.append(bool(samples.any()))
        events, self.coming = self.coming, []
        return events

    def listen(self, *, wait_s: float | None = None) -> None:
        self.listens.append(wait_s)

    def stop_listening(self) -> None:
        self.stops += 1

    def so_far(self) -> NDArray[np.float32]:
        return self.said

    def await_hint(self) -> None:
        self.hints_expected += 1

    def hint(self, complete: bool | None) -> None:
        self.hints.append(complete)


_PROTOCOLS: tuple[Model, Transcriber, Voice, Speaker, Microphone, Ears, Asker] = (
    ScriptedModel(),
    ScriptedTranscriber(),
    FakeVoice(),
    FakeSpeaker(),
    FakeMicrophone(),
    FakeEars(),
    ScriptedAsker(),
)
"""Type-checked: each of them is what the stages ask for."""
