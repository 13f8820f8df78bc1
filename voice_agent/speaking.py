"""An answer on its way from text to sound: sentence by sentence, while it is still written."""

import asyncio
import logging
from asyncio import create_task
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from voice_agent.audio.playback import Speaker
from voice_agent.engine import StopFlag
from voice_agent.errors import DeviceError, SynthesisError
from voice_agent.events import Listener, PlaybackEnded, PlaybackStarted, Sentence, Unspoken
from voice_agent.sentences import SentenceStream
from voice_agent.spoken_text import spoken
from voice_agent.tts import Speech, Voice, heard

log = logging.getLogger(__name__)

AHEAD = 2
"""So many sentences wait for the loudspeaker; more are not made before one has been heard."""

_SETTLE_S = 0.1  # an aborted speaker tells at once what was heard


def in_sentences(text: str, language: str, *, first_clause_chars: int = 0) -> list[str]:
    """Return what a voice is given of ``text``, piece by piece, as it would be spoken."""
    stream = SentenceStream(language, first_clause_chars=first_clause_chars or None)
    return [spoken(sentence, language) for sentence in (*stream.feed(text), *stream.flush())]


@dataclass(frozen=True)
class _Aside:
    """Sentences that are no part of the answer; ``heard`` gets whether they were heard."""

    sentences: list[str]
    heard: asyncio.Future[bool]


@dataclass(frozen=True)
class _Playing:
    speech: Speech
    task: asyncio.Task[int]


class Speaking:
    """Speaks one turn's text as it comes, and knows which of its words were heard.

    Used on the event loop's thread. ``stop`` ends it: nothing of the rest is made or played.
    The first clause of at least ``first_clause_chars`` is spoken while the rest of its sentence is
    still written and made into speech; 0: no clause alone.
    """

    def __init__(
        self,
        voice: Voice,
        speaker: Speaker,
        *,
        turn: int | None,
        stop: StopFlag,
        emit: Listener,
        first_clause_chars: int = 0,
    ) -> None:
        self._voice = voice
        self._speaker = speaker
        self._turn = turn
        self._stop = stop
        self._emit = emit
        self._sentences = SentenceStream(
            voice.language, first_clause_chars=first_clause_chars or None
        )
        self._written: asyncio.Queue[str | _Aside | None] = asyncio.Queue()
        self._said: list[str] = []
        self._spoken = 0
        self._heard: list[str] = []
        self._told = 0
        self._playing = False
        self._over = False
        self._aside: asyncio.Future[bool] | None = None
        self.on_first_sentence: Callable[[], None] = _nothing
        self.on_first_sound: Callable[[], None] = _nothing

    @property
    def spoken_text(self) -> str:
        """What of the answer has been made into speech."""
        return " ".join(self._said)

    @property
    def heard_text(self) -> str:
        """The words that have been heard, those of `put` among them."""
        return _joined(self._heard)

    def feed(self, text: str) -> None:
        """Take the next piece of the written answer."""
        for sentence in self._sentences.feed(text):
            self._written.put_nowait(sentence)

    def end(self) -> None:
        """Say that the answer has been written to its end."""
        for sentence in self._sentences.flush():
            self._written.put_nowait(sentence)
        self._written.put_nowait(None)

    async def put(self, text: str) -> bool:
        """Say ``text`` after what was written so far, apart from the answer, while `run` runs.

        Return whether it was heard, once it has been, and nothing is played any more.
        """
        if self._over:
            return False
        for sentence in self._sentences.flush():
            self._written.put_nowait(sentence)
        apart = SentenceStream(self._voice.language)
        sentences = [*apart.feed(text), *apart.flush()]
        self._aside = asyncio.get_running_loop().create_future()
        self._written.put_nowait(_Aside(sentences, self._aside))
        return await self._aside

    async def run(self) -> None:
        """Speak until `end` was called and the last word was heard, or until stopped.

        Raises SynthesisError and DeviceError. A caller that cancels it aborts the speaker first:
        then the words that were heard until that moment are known, too.
        """
        playing: deque[_Playing] = deque()
        try:
            while (item := await self._written.get()) is not None:
                if isinstance(item, _Aside):
                    await self._say_apart(item, playing)
                elif words := await self._say(item, playing):
                    self._said.append(words)
            while playing:
                await self._hear(playing)
        except DeviceError as error:
            self._emit(Unspoken(turn=self._turn, message=error.message, mend=error.mend))
            raise
        finally:
            self._over = True
            await self._settle(playing)
            self._ended()
            if self._aside is not None and not self._aside.done():
                self._aside.set_result(False)

    async def _say_apart(self, aside: _Aside, playing: "deque[_Playing]") -> None:
        said = [await self._say(sentence, playing) for sentence in aside.sentences]
        while playing:
            await self._hear(playing)
        self._ended()
        if not aside.heard.done():
            aside.heard.set_result(any(said))

    async def _say(self, sentence: str, playing: "deque[_Playing]") -> str:
        """Let ``sentence`` be made into speech and played; return its words, if there are any."""
        words = spoken(sentence, self._voice.language)
        if self._stop.is_set() or not words:
            return ""
        if not self._spoken:
            self.on_first_sentence()
        speech = await self._voice.synthesize(words, self._stop)
        if not len(speech.sound.samples) or self._stop.is_set():
            return ""
        self._spoken += 1
        self._emit(Sentence(turn=self._turn, n=self._spoken, text=words))
        self._started()
        playing.append(_Playing(speech, create_task(self._play(speech))))
        if len(playing) > AHEAD:
            await self._hear(playing)
        return words

    async def _play(self, speech: Speech) -> int:
        """Play it, unless the stop came before its task began: the speaker is aborted by then."""
        return 0 if self._stop.is_set() else await self._speaker.play(speech.sound)

    async def _hear(self, playing: "deque[_Playing]") -> None:
        first = playing[0]
        # shielded, or cancelling this would take along the count that an abort has just left
        self._heard.append(heard(first.speech, await asyncio.shield(first.task)))
        playing.popleft()

    async def _settle(self, playing: "deque[_Playing]") -> None:
        """Note what was heard of what still played, and end it."""
        if not playing:
            return
        await asyncio.wait([each.task for each in playing], timeout=_SETTLE_S)
        for each in playing:
            if each.task.done() and not each.task.cancelled() and not each.task.exception():
                self._heard.append(heard(each.speech, each.task.result()))
            each.task.cancel()

    def _started(self) -> None:
        if not self._playing:
            self._playing = True
            self._emit(PlaybackStarted(turn=self._turn))
            self.on_first_sound()

    def _ended(self) -> None:
        """Tell what has been heard since `_started`."""
        if self._playing:
            self._playing = False
            self._emit(
                PlaybackEnded(turn=self._turn, heard_text=_joined(self._heard[self._told :]))
            )
            self._told = len(self._heard)


async def heard_out(talk: asyncio.Task[None]) -> None:
    """Wait until ``talk``, which runs a `Speaking`, has ended; its faults cost only the sound."""
    try:
        await asyncio.wait([talk])
    except asyncio.CancelledError:
        talk.cancel()
        await asyncio.wait([talk])
        raise
    try:
        if not talk.cancelled():
            talk.result()
    except (DeviceError, SynthesisError) as error:
        log.warning("The answer could not be spoken to its end: %s", error)


def _joined(parts: list[str]) -> str:
    return " ".join(part for part in parts if part)


def _nothing() -> None:
    return None
