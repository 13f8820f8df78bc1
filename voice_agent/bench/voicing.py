"""Text to speech: how soon a first clause can be heard, and synthesis against speech in time."""

import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from voice_agent.bench.figures import Spread, spread
from voice_agent.events import Event
from voice_agent.speaking import in_sentences
from voice_agent.tts import Speech, Voice

_WARM = "This is said before anything is measured."


@dataclass(frozen=True, kw_only=True)
class SentenceVoiced(Event):
    """One sentence made into sound: whole, and its first clause and its rest apart.

    ``late_s`` is how long the rest is still being made when the clause has been heard. A sentence
    that is not divided has no ``rest``: its clause is all of it.
    """

    text: str
    clause: str
    rest: str
    clause_s: float
    late_s: float
    sound_s: float
    synthesis_s: float


@dataclass(frozen=True, kw_only=True)
class TtsFigures(Event):
    """Until the first sound of ``divided`` sentences: ``clause_s`` by clause, ``whole_s`` without.

    ``real_time_factor`` is synthesis per sound, of all sentences whole.
    """

    voice: str
    first_clause_chars: int
    sentences: int
    divided: int
    sound_s: float
    clause_s: Spread
    whole_s: Spread
    late_s: Spread
    clause_chars: Spread
    sentence_s: Spread
    real_time_factor: Spread


async def voiced(
    voice: Voice, texts: Sequence[str], *, first_clause_chars: int
) -> AsyncIterator[SentenceVoiced]:
    """Yield each of ``texts`` as it was made into speech. Raises SynthesisError."""
    await voice.synthesize(_WARM)
    for text in texts:
        pieces = in_sentences(text, voice.language, first_clause_chars=first_clause_chars)
        clause, rest = pieces[0], " ".join(pieces[1:])
        speech, synthesis_s = await _timed(voice, " ".join(pieces))
        clause_s, late_s = synthesis_s, 0.0
        if rest:
            alone, clause_s = await _timed(voice, clause)
            _, rest_s = await _timed(voice, rest)
            late_s = max(0.0, rest_s - alone.sound.seconds)
        yield SentenceVoiced(
            text=text,
            clause=clause,
            rest=rest,
            clause_s=round(clause_s, 4),
            late_s=round(late_s, 4),
            sound_s=round(speech.sound.seconds, 3),
            synthesis_s=round(synthesis_s, 4),
        )


async def _timed(voice: Voice, text: str) -> tuple[Speech, float]:
    began = time.monotonic()
    speech = await voice.synthesize(text)
    return speech, time.monotonic() - began


def tts_figures(
    results: Sequence[SentenceVoiced], *, voice: str, first_clause_chars: int
) -> TtsFigures:
    """Return the figures over ``results``."""
    divided = [result for result in results if result.rest]
    return TtsFigures(
        voice=voice,
        first_clause_chars=first_clause_chars,
        sentences=len(results),
        divided=len(divided),
        sound_s=round(sum(result.sound_s for result in results), 1),
        clause_s=spread(result.clause_s for result in divided),
        whole_s=spread(result.synthesis_s for result in divided),
        late_s=spread(result.late_s for result in divided),
        clause_chars=spread(len(result.clause) for result in divided),
        sentence_s=spread(result.synthesis_s for result in results),
        real_time_factor=spread(r.synthesis_s / r.sound_s for r in results if r.sound_s),
    )
