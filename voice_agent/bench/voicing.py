"""Text to speech: how soon a first clause can be heard, and synthesis against speech in time."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from voice_agent.bench.figures import Spread, spread
from voice_agent.events import Event
from voice_agent.sentences import SentenceStream
from voice_agent.spoken_text import spoken
from voice_agent.tts import Voice

FIRST_CLAUSE_CHARS = 12
"""A shorter clause is not worth a breath of its own."""

_WARM = "This is said before anything is measured."


@dataclass(frozen=True, kw_only=True)
class SentenceVoiced(Event):
    """One sentence: its first clause made into sound alone, then the whole."""

    text: str
    clause: str
    clause_s: float
    sound_s: float
    synthesis_s: float


@dataclass(frozen=True, kw_only=True)
class TtsFigures(Event):
    """``clause_s`` until the first clause is sound; ``real_time_factor`` synthesis per sound."""

    voice: str
    sentences: int
    sound_s: float
    clause_s: Spread
    clause_chars: Spread
    sentence_s: Spread
    real_time_factor: Spread


def first_clause(sentence: str, language: str) -> str:
    """Return what of ``sentence`` can be spoken first: its first clause, or all of it."""
    stream = SentenceStream(language, first_clause_chars=FIRST_CLAUSE_CHARS)
    return [*stream.feed(sentence), *stream.flush()][0]


async def voiced(voice: Voice, texts: Sequence[str]) -> AsyncIterator[SentenceVoiced]:
    """Yield each of ``texts`` as it was made into speech. Raises SynthesisError."""
    await voice.synthesize(_WARM)
    for text in texts:
        clause = spoken(first_clause(text, voice.language), voice.language)
        began = time.monotonic()
        await voice.synthesize(clause)
        clause_done = time.monotonic()
        speech = await voice.synthesize(spoken(text, voice.language))
        yield SentenceVoiced(
            text=text,
            clause=clause,
            clause_s=round(clause_done - began, 4),
            sound_s=round(speech.sound.seconds, 3),
            synthesis_s=round(time.monotonic() - clause_done, 4),
        )


def tts_figures(results: Sequence[SentenceVoiced], *, voice: str) -> TtsFigures:
    """Return the figures over ``results``."""
    return TtsFigures(
        voice=voice,
        sentences=len(results),
        sound_s=round(sum(result.sound_s for result in results), 1),
        clause_s=spread(result.clause_s for result in results),
        clause_chars=spread(len(result.clause) for result in results),
        sentence_s=spread(result.synthesis_s for result in results),
        real_time_factor=spread(r.synthesis_s / r.sound_s for r in results if r.sound_s),
    )
