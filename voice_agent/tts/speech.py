"""What a voice makes, and which of its words were heard."""

from dataclasses import dataclass
from typing import Protocol

from voice_agent.audio.format import Sound
from voice_agent.engine import StopFlag


@dataclass(frozen=True)
class SpokenWord:
    """One word as written, and the samples of the sound in which it is heard."""

    text: str
    start_samples: int
    end_samples: int


@dataclass(frozen=True)
class Speech:
    """A sound and its words, in order; the sample counts are at the sound's own rate."""

    sound: Sound
    words: tuple[SpokenWord, ...]


class Voice(Protocol):
    """Turns text into speech."""

    @property
    def language(self) -> str:
        """The language that it speaks, such as "en"."""

    async def synthesize(self, text: str, stop: StopFlag | None = None) -> Speech:
        """Return ``text`` as speech; empty speech where nothing can be said.

        After ``stop`` what has been made so far is returned. Raises SynthesisError.
        """

    def close(self) -> None:
        """Free the engine."""


def heard(speech: Speech, n_samples: int) -> str:
    """Return the words that had ended when ``n_samples`` of the speech had been played."""
    return " ".join(word.text for word in speech.words if word.end_samples <= n_samples)
