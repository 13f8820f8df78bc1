"""Speech to text beside the library's own way: time and misheard words, recording by recording.

All ways have the same loaded model and threads, and take turns on each recording, another one
first each time, so that what else the machine does falls on all of them alike.
"""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound, read_recording
from voice_agent.bench.figures import Spread, spread, word_count, word_errors
from voice_agent.bench.recordings import Recorded
from voice_agent.engine import Engine
from voice_agent.events import Event
from voice_agent.stt import WhisperTranscriber

if TYPE_CHECKING:
    from voice_agent.stt.whisper import Whisper

SHORT_S = 5.0
"""Recordings under so many seconds are counted apart, too: a spoken question is one of them."""

PADDINGS_S = (0.5, 1.5, 2.0, 3.0, 5.0)
"""The curve: silence behind the speech in our short windows."""

STOCK_BEAMS = 5
"""What faster-whisper's ``transcribe`` searches with if it is not told otherwise."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """A way to transcribe: ours with a padding, or the library's with so many beams."""

    name: str
    padding_s: float | None
    beams: int


@dataclass(frozen=True)
class Heard:
    """What one way made of a recording, in how many seconds; ``errors`` None without a text."""

    way: str
    text: str
    stt_s: float
    errors: int | None


@dataclass(frozen=True, kw_only=True)
class RecordingHeard(Event):
    """One recording, transcribed in every way."""

    file: str
    audio_s: float
    words: int | None
    heard: tuple[Heard, ...]


@dataclass(frozen=True, kw_only=True)
class WayFigures:
    """One way over some recordings.

    ``of_stock`` is its time over all of them as a share of the library's with its own beams.
    """

    way: Way
    recordings: str
    stt_s: Spread
    total_s: float
    of_stock: float
    word_errors: int
    words: int


@dataclass(frozen=True, kw_only=True)
class SttFigures(Event):
    """All ways over all recordings, and over the short ones."""

    model: str
    threads: int
    recordings: int
    audio_s: float
    rows: tuple[WayFigures, ...]


def ways(own_padding_s: float, paddings_s: Sequence[float]) -> list[Way]:
    """Return ours as shipped, the library's with its beams and with ours, and the curve."""
    return [
        Way(name="ours", padding_s=own_padding_s, beams=1),
        Way(name=f"stock, {STOCK_BEAMS} beams", padding_s=None, beams=STOCK_BEAMS),
        Way(name="stock, 1 beam", padding_s=None, beams=1),
        *(
            Way(name=f"ours, padding {padding:g} s", padding_s=padding, beams=1)
            for padding in paddings_s
            if padding != own_padding_s
        ),
    ]


class SttBench:
    """All ways on one loaded model, which works on ``engine``'s thread. `loaded` makes one."""

    def __init__(self, whisper: "Whisper", engine: Engine, language: str) -> None:
        self._whisper = whisper
        self._engine = engine
        self._language = language

    async def results(
        self, recordings: Sequence[Recorded], asked: Sequence[Way]
    ) -> AsyncIterator[RecordingHeard]:
        """Yield each recording, transcribed in every way; the first once before, uncounted.

        Raises RecordingError and TranscriptionError.
        """
        for n, recorded in enumerate([*recordings[:1], *recordings]):
            sound = read_recording(recorded.file)
            turn = n % len(asked)
            taken = [
                await self._heard(way, sound, recorded.said)
                for way in (*asked[turn:], *asked[:turn])
            ]
            if n:
                yield _row(recorded, sound, [way.name for way in asked], taken)

    async def _heard(self, way: Way, sound: Sound, said: str | None) -> Heard:
        began = time.monotonic()
        if way.padding_s is None:
            text = await self._engine.run(lambda: self._stock(sound, way.beams))
        else:
            whisper = self._whisper.padded(way.padding_s)
            ours = WhisperTranscriber(whisper, self._engine, name=way.name)
            text = (await ours.transcribe(sound, language=self._language)).text
        took_s = round(time.monotonic() - began, 4)
        return Heard(way.name, text, took_s, None if said is None else word_errors(said, text))

    def _stock(self, sound: Sound, beams: int) -> str:
        language = None if self._language == "auto" else self._language
        return self._whisper.stock(sound.at(SAMPLE_RATE_HZ).samples, language, beams=beams)


@asynccontextmanager
async def loaded(folder: Path, *, threads: int, language: str) -> AsyncIterator[SttBench]:
    """Load the model in ``folder``. Raises ModelMissing and ModelMismatch."""
    engine = Engine("stt")

    def load() -> "Whisper":
        from voice_agent.stt.whisper import Whisper

        return Whisper.load(folder, threads=threads)

    try:
        yield SttBench(await engine.run(load), engine, language)
    finally:
        engine.close()


def stt_figures(
    results: Sequence[RecordingHeard], asked: Sequence[Way], *, model: str, threads: int
) -> SttFigures:
    """Return the figures over ``results``."""
    parts: dict[str, Callable[[RecordingHeard], bool]] = {
        "all": lambda result: True,
        f"under {SHORT_S:g} s": lambda result: result.audio_s < SHORT_S,
    }
    rows: list[WayFigures] = []
    for name, belongs in parts.items():
        some = [result for result in results if belongs(result)]
        if some:
            rows += [_figures(way, name, some) for way in asked]
    return SttFigures(
        model=model,
        threads=threads,
        recordings=len(results),
        audio_s=round(sum(result.audio_s for result in results), 1),
        rows=tuple(rows),
    )


def _row(
    recorded: Recorded, sound: Sound, order: Sequence[str], results: Sequence[Heard]
) -> RecordingHeard:
    return RecordingHeard(
        file=str(recorded.file),
        audio_s=round(sound.seconds, 3),
        words=None if recorded.said is None else word_count(recorded.said),
        heard=tuple(sorted(results, key=lambda result: order.index(result.way))),
    )


def _figures(way: Way, name: str, results: Sequence[RecordingHeard]) -> WayFigures:
    own = [_of(result, way.name) for result in results]
    total_s = sum(each.stt_s for each in own)
    stock_s = sum(_of(result, f"stock, {STOCK_BEAMS} beams").stt_s for result in results)
    return WayFigures(
        way=way,
        recordings=name,
        stt_s=spread(each.stt_s for each in own),
        total_s=round(total_s, 2),
        of_stock=round(total_s / stock_s, 3) if stock_s else 0.0,
        word_errors=sum(each.errors or 0 for each in own),
        words=sum(result.words or 0 for result in results),
    )


def _of(result: RecordingHeard, way: str) -> Heard:
    return next(each for each in result.heard if each.way == way)
