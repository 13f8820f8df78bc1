"""What is said into the virtual microphone: the wake word and questions, as sound files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound, read_recording, write_wav
from voice_agent.errors import RecordingError, UsageError
from voice_agent.settings import Settings
from voice_agent.spoken_text import spoken
from voice_agent.tts import Voice
from voice_agent.turns.wake_word import WakeWords

GAP_S = 0.25
"""The pause between wake word and question."""

_QUIET_S = 1.0
_ATTEMPTS = 8
_LEVEL = 0.5
_SILENT = 0.02


@dataclass(frozen=True)
class Clip:
    """A sound file, how long it is, and where in it the last part (the question) begins."""

    file: Path
    seconds: float
    question_s: float = 0.0


class Clips:
    """Says texts with ``voice`` into files in ``folder``, each after the wake word."""

    def __init__(self, folder: Path, voice: Voice, wake: NDArray[np.float32]) -> None:
        self._folder = folder
        self._voice = voice
        self._wake = wake

    def wake(self) -> Clip:
        """Return the wake word alone."""
        return self._written("wake", self._wake)

    async def question(self, name: str, text: str) -> Clip:
        """Return the wake word and the question ``text``."""
        said = await said_alone(self._voice, text)
        gap = np.zeros(round(GAP_S * SAMPLE_RATE_HZ), np.float32)
        clip = self._written(name, np.concatenate([self._wake, gap, said]))
        return Clip(clip.file, clip.seconds, (len(self._wake) + len(gap)) / SAMPLE_RATE_HZ)

    def _written(self, name: str, samples: NDArray[np.float32]) -> Clip:
        file = self._folder / f"{name}.wav"
        write_wav(file, Sound(samples, SAMPLE_RATE_HZ))
        return Clip(file, len(samples) / SAMPLE_RATE_HZ)


async def wake_sound(
    settings: Settings, voice: Voice, recorded: Path | None
) -> NDArray[np.float32]:
    """Return a wake word that the detector hears: ``recorded``, or else as the voice says it.

    Float32 of shape (n,) at 16 kHz, without silence around it. The voice says nothing twice in
    the same way, so it may try more than once. Raises RecordingError and UsageError.
    """
    words = settings.wake.words
    if recorded is not None:
        samples = _trimmed(read_recording(recorded).samples)
        if not _detected(settings, samples):
            raise RecordingError(
                f"In {recorded} no wake word is detected ({' or '.join(words)}).",
                mend="Record one of them alone, near the microphone; 'replay FILE' says what is "
                "detected in a recording.",
                file=recorded,
            )
        return samples
    phrase = spoken_form(words[0])
    for _ in range(_ATTEMPTS):
        samples = await said_alone(voice, f"{phrase}.")
        if _detected(settings, samples):
            return samples
    raise UsageError(
        f"The wake word {phrase!r} is not detected as the voice says it.",
        mend="Record it once and give the recording with --wake FILE.",
    )


def spoken_form(word: str) -> str:
    """Return a wake word, a built-in name or the path of a model, as it is said."""
    return Path(word).stem.replace("_", " ").title()


async def said_alone(voice: Voice, text: str) -> NDArray[np.float32]:
    """Return ``text`` as the voice says it, float32 of shape (n,) at 16 kHz, trimmed."""
    speech = await voice.synthesize(spoken(text, voice.language))
    return _trimmed(speech.sound.at(SAMPLE_RATE_HZ).samples)


def _trimmed(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sound without the silence around it, at a level of its own."""
    peak = float(np.abs(samples).max()) if len(samples) else 0.0
    if peak == 0:
        return samples
    loud = np.flatnonzero(np.abs(samples) > _SILENT * peak)
    return np.asarray(samples[loud[0] : loud[-1] + 1] * (_LEVEL / peak), np.float32)


def _detected(settings: Settings, samples: NDArray[np.float32]) -> bool:
    wake = settings.wake
    quiet = np.zeros(round(_QUIET_S * SAMPLE_RATE_HZ), np.float32)
    parts: Sequence[NDArray[np.float32]] = [quiet, quiet, samples, quiet]
    words = WakeWords.load(wake.words, threshold=wake.threshold, refractory_s=wake.refractory_s)
    return bool(words.feed(np.concatenate(parts)))
