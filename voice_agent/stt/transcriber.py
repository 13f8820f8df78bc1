"""What the rest of the program asks of speech to text, and Whisper's way of doing it."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound
from voice_agent.engine import Engine, StopFlag
from voice_agent.errors import Cancelled, TranscriptionError
from voice_agent.stt.decoding import Decoded, can_be_trusted, joined, settled, token_allowance
from voice_agent.stt.pieces import Span, cut, pieces, speech_spans

if TYPE_CHECKING:
    from voice_agent.stt.whisper import Whisper


UNKNOWN = "und"
"""The language of what holds no speech, if it was not given (ISO 639-3: undetermined)."""


@dataclass(frozen=True)
class Transcription:
    """What was said in ``audio_s`` seconds of sound, found out in ``stt_s``; "" if nothing was.

    The figures are those of the worst piece: mean log-probability of its tokens, the model's
    doubt that anyone spoke, and how far the text can be compressed.
    """

    text: str
    language: str
    audio_s: float
    stt_s: float
    avg_logprob: float = 0.0
    no_speech_prob: float = 0.0
    compression_ratio: float = 0.0


class Transcriber(Protocol):
    """Turns sound into text."""

    async def transcribe(
        self, sound: Sound, *, language: str = "en", stop: StopFlag | None = None
    ) -> Transcription:
        """Return what is said in ``sound``, mono at any rate.

        ``language`` is a code, or ``auto`` to recognise it. Raises TranscriptionError, and
        Cancelled once ``stop`` is set.
        """


class WhisperTranscriber:
    """A `Transcriber` on a Whisper model, which works on a thread of its own.

    Use it as a context manager, or `close` it.
    """

    def __init__(self, whisper: "Whisper", engine: Engine, *, name: str) -> None:
        self._whisper = whisper
        self._engine = engine
        self._name = name

    @classmethod
    async def load(cls, folder: Path, *, threads: int, compute_type: str = "int8") -> Self:
        """Load the model in ``folder``. Raises ModelMissing and ModelMismatch."""
        engine = Engine("stt")

        def load() -> "Whisper":
            from voice_agent.stt.whisper import Whisper  # costs a second, for those who need it

            return Whisper.load(folder, threads=threads, compute_type=compute_type)

        with ExitStack() as undo:
            undo.callback(engine.close)
            loaded = cls(await engine.run(load), engine, name=folder.name)
            undo.pop_all()
        return loaded

    async def transcribe(
        self, sound: Sound, *, language: str = "en", stop: StopFlag | None = None
    ) -> Transcription:
        """See `Transcriber.transcribe`; a caller that is cancelled stops the work as well.

        What is no speech yields no text. The flag is looked at between pieces of up to 25 s.
        """
        self._check_language(language)
        own = StopFlag()  # the turn's flag is not ours to set: it may go on without this text
        if stop is not None:
            stop.on_set(own.set)
        try:
            return await self._engine.run(lambda: self._work(sound, language, own))
        except asyncio.CancelledError:
            own.set()
            raise

    def close(self) -> None:
        """End the thread after the piece that it works on."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()

    def _check_language(self, language: str) -> None:
        known = self._whisper.languages
        if language == "auto" or language in known:
            return
        if known == ["en"]:
            raise TranscriptionError(
                f"The speech model {self._name} knows English only, not '{language}'.",
                mend="Choose the model whisper-base (stt.model) or the language en (stt.language).",
            )
        raise TranscriptionError(
            f"The speech model {self._name} does not know a language '{language}'.",
            mend=f"Choose (stt.language) auto or one of: {', '.join(sorted(known))}.",
        )

    def _work(self, sound: Sound, language: str, stop: StopFlag) -> Transcription:
        started = time.monotonic()
        hearing = _Hearing(self._whisper, language)
        try:
            results = list(hearing.results(sound.at(SAMPLE_RATE_HZ).samples, stop))
        except (RuntimeError, ValueError, MemoryError) as error:
            raise TranscriptionError(
                f"The speech model {self._name} failed: {error}.",
                mend=f"Check it with: voice-agent models verify {self._name}",
            ) from error
        whole = joined(results)
        return Transcription(
            text=whole.text,
            language=UNKNOWN if hearing.language == "auto" else hearing.language,
            audio_s=round(sound.seconds, 3),
            stt_s=round(time.monotonic() - started, 3),
            avg_logprob=whole.avg_logprob,
            no_speech_prob=whole.no_speech_prob,
            compression_ratio=whole.compression_ratio,
        )


class _Hearing:
    """One recording's way through the model; the language is settled by its first piece."""

    def __init__(self, whisper: "Whisper", language: str) -> None:
        self._whisper = whisper
        self.language = language

    def results(self, samples: NDArray[np.float32], stop: StopFlag) -> Iterator[Decoded]:
        def find(stretch: NDArray[np.float32]) -> list[Span]:
            _go_on(stop)
            return self._whisper.spans(stretch)

        for piece in pieces(speech_spans(samples, find)):
            _go_on(stop)
            yield settled(self._result(cut(samples, piece)))

    def _result(self, samples: NDArray[np.float32]) -> Decoded:
        seconds = len(samples) / SAMPLE_RATE_HZ
        window = self._whisper.window(samples)
        if self.language == "auto":
            self.language = self._whisper.language(window, samples)
        most = token_allowance(seconds) + 1  # one more shows that it wanted more
        decoded = self._whisper.decode(window, self.language, most_tokens=most)
        if can_be_trusted(decoded, seconds):
            return decoded
        return self._whisper.full_window(samples, self.language)


def _go_on(stop: StopFlag) -> None:
    if stop.is_set():
        raise Cancelled("Transcription was stopped.")
