"""An answer on its way from text to sound: sentence by sentence, while it is still written."""

import asyncio
from asyncio import create_task
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from voice_agent.audio.playback import Speaker
from voice_agent.engine import StopFlag
from voice_agent.events import Listener, PlaybackEnded, PlaybackStarted, Sentence
from voice_agent.sentences import SentenceStream
from voice_agent.spoken_text import spoken
from voice_agent.tts import Speech, Voice, heard

AHEAD = 2
"""So many sentences wait for the loudspeaker; more are not made before one has been heard."""

_SETTLE_S = 0.1  # an aborted speaker tells at once what was heard


@dataclass(frozen=True)
class _Playing:
    speech: Speech
    task: asyncio.Task[int]


class Speaking:
    """Speaks one turn's text as it comes, and knows which of its words were heard.

    Used on the event loop's thread. ``stop`` ends it: nothing of the rest is made or played.
    """

    def __init__(
        self, voice: Voice, speaker: Speaker, *, turn: int | None, stop: StopFlag, emit: Listener
    ) -> None:
        self._voice = voice
        self._speaker = speaker
        self._turn = turn
        self._stop = stop
        self._emit = emit
        self._sentences = SentenceStream(voice.language)
        self._written: asyncio.Queue[str | None] = asyncio.Queue()
        self._said: list[str] = []
        self._heard: list[str] = []
        self._playing = False
        self.on_first_sentence: Callable[[], None] = _nothing
        self.on_first_sound: Callable[[], None] = _nothing

    @property
    def spoken_text(self) -> str:
        """What has been made into speech."""
        return " ".join(self._said)

    @property
    def heard_text(self) -> str:
        """The words that have been heard."""
        return " ".join(part for part in self._heard if part)

    def feed(self, text: str) -> None:
        """Take the next piece of the written answer."""
        for sentence in self._sentences.feed(text):
            self._written.put_nowait(sentence)

    def end(self) -> None:
        """Say that the answer has been written to its end."""
        for sentence in self._sentences.flush():
            self._written.put_nowait(sentence)
        self._written.put_nowait(None)

    async def run(self) -> None:
        """Speak until `end` was called and the last word was heard, or until stopped.

        Raises SynthesisError and DeviceError. A caller that cancels it aborts the speaker first:
        then the words that were heard until that moment are known, too.
        """
        playing: deque[_Playing] = deque()
        try:
            while (sentence := await self._written.get()) is not None:
                speech = await self._speech(sentence)
                if speech is None:
                    continue
                self._started()
                playing.append(_Playing(speech, create_task(self._play(speech))))
                if len(playing) > AHEAD:
                    await self._hear(playing)
            while playing:
                await self._hear(playing)
        finally:
            await self._settle(playing)
            if self._playing:
                self._emit(PlaybackEnded(turn=self._turn, heard_text=self.heard_text))

    async def _speech(self, sentence: str) -> Speech | None:
        words = spoken(sentence, self._voice.language)
        if self._stop.is_set() or not words:
            return None
        if not self._said:
            self.on_first_sentence()
        speech = await self._voice.synthesize(words, self._stop)
        if not len(speech.sound.samples) or self._stop.is_set():
            return None
        self._said.append(words)
        self._emit(Sentence(turn=self._turn, n=len(self._said), text=words))
        return speech

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


def _nothing() -> None:
    return None
