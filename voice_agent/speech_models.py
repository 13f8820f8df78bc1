"""The models of speech by their names in the settings: speech to text, and the voice."""

import logging
from pathlib import Path

from voice_agent.catalogue import Catalogue, locate_weights
from voice_agent.engine import usable_cores
from voice_agent.errors import SynthesisError
from voice_agent.phrases import Phrase, phrase
from voice_agent.settings.voice import Stt
from voice_agent.speaking import in_sentences
from voice_agent.stt import WhisperTranscriber
from voice_agent.tts import PiperVoice

log = logging.getLogger(__name__)

_REMARKS: tuple[Phrase, ...] = ("fallback", "failed", "unrecorded", "no_record")


async def load_transcriber(stt: Stt, models: Path) -> WhisperTranscriber:
    """Load the speech model that ``stt`` names from the folder of all models.

    Raises ModelMissing and ModelMismatch.
    """
    weights = locate_weights(Catalogue.load().model(stt.model), models)
    return await WhisperTranscriber.load(weights.parent, threads=stt.thread_count(usable_cores()))


def load_voice(name: str, models: Path, *, rate: float = 1.0, volume: float = 1.0) -> PiperVoice:
    """Load the voice ``name`` from the folder of all models. Raises what `load_transcriber` does.

    Blocks while it loads.
    """
    weights = locate_weights(Catalogue.load().model(name), models)
    return PiperVoice.load(weights, rate=rate, volume=volume)


async def prepare_remarks(voice: PiperVoice, *, first_clause_chars: int = 0) -> None:
    """Have what is said where all else fails made into speech ahead, so that it needs no model.

    What begins an answer is made by its first clause, too (see `Speaking`).
    """
    language = voice.language
    try:
        for name in _REMARKS:
            remark = phrase(name, language)
            alone = in_sentences(remark, language, first_clause_chars=first_clause_chars)
            await voice.prepare(dict.fromkeys([*alone, *in_sentences(remark, language)]))
    except SynthesisError as error:
        log.warning("What is said after a failure could not be made ahead: %s", error)
