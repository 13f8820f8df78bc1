"""What the loudspeaker plays: taken out of the microphone's sound, and never a wake word."""

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.echo import LinearEchoCanceller
from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.turns import HOP_SAMPLES
from voice_agent.turns.preroll import PreRoll
from voice_agent.turns.wake_word import Detection, WakeWords

LISTENER_THRESHOLD = 0.3
"""The threshold of the wake words that listen to the loudspeaker: half a phrase is enough."""

LISTENER_REFRACTORY_S = 0.1
"""They follow a phrase to its end: its echo is heard from then on."""

_TINY = 1e-6
_LEVEL_MEMORY = 0.9
_OWN_SHARE = 0.35
"""Where less is left of a sound, it was an echo. Of who speaks meanwhile, nearly all is left."""

_KEPT_SAMPLES = 4 * SAMPLE_RATE_HZ
_LATEST_SAMPLES = int(0.5 * SAMPLE_RATE_HZ)
_AS_PLAYED = 0.7
"""So alike are what is heard and what was played only where the one is the other, delayed."""

_ECHO_SAMPLES = int(0.9 * SAMPLE_RATE_HZ)  # the canceller's tail, and what detections scatter


class OwnVoice:
    """The canceller, and wake words that listen to the loudspeaker alone.

    Until the canceller has learnt the room (one or two seconds of speech), and where a loudspeaker
    is too far from linear, an echo is left; a wake phrase that the assistant says itself is known
    by having been played just before. What is left of the echo hides a person's wake word a
    little, so ``threshold`` is the lower one that counts meanwhile.
    """

    def __init__(
        self, canceller: LinearEchoCanceller, words: WakeWords | None, *, threshold: float = 1.0
    ) -> None:
        self._canceller = canceller
        self._words = words
        self._threshold = threshold
        self._said: dict[str, int] = {}
        self._heard = self._left = 0.0
        self._microphone, self._playback = PreRoll(_KEPT_SAMPLES), PreRoll(_KEPT_SAMPLES)

    def clean(
        self, microphone: NDArray[np.float32], playback: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return ``microphone`` without the echo of ``playback``; see `LinearEchoCanceller`."""
        if self._words is not None:
            for own in self._words.feed(playback):
                self._said[own.word] = own.at
        self._microphone.append(microphone)
        self._playback.append(playback)
        cleaned = self._canceller.cancel(microphone, playback)
        self._heard = _LEVEL_MEMORY * self._heard + float(np.square(microphone).sum())
        self._left = _LEVEL_MEMORY * self._left + float(np.square(cleaned).sum())
        return cleaned

    @property
    def is_all(self) -> bool:
        """Whether what was heard in the last tenth of a second was an echo, and little else.

        What is left of it can sound like speech.
        """
        return self._canceller.active and self._left < _OWN_SHARE * self._heard

    def played(self, start: int, end: int) -> bool:
        """Whether what was heard from ``start`` to ``end`` is what was played just before.

        It is where the sound server lost some sound, and the echo comes when it is not expected.
        Positions count from the first hop that came to `clean`.
        """
        heard = _emphasised(self._microphone.between(start, end))
        reach = self._playback.between(start - _LATEST_SAMPLES, end)
        if len(heard) < HOP_SAMPLES or len(reach) < len(heard) or not reach.any():
            return False
        sent = _emphasised(reach)
        size = len(sent) + len(heard)
        alike = np.fft.irfft(np.fft.rfft(sent, size) * np.fft.rfft(heard, size).conj(), size)
        lags = len(sent) - len(heard) + 1
        energy = np.concatenate([[0.0], np.cumsum(np.square(sent, dtype=np.float64))])
        energies = energy[len(heard) :] - energy[:lags]
        most = np.sqrt(energies * float(np.square(heard).sum())) + _TINY
        return bool((alike[:lags] / most).max() > _AS_PLAYED)

    @property
    def threshold(self) -> float:
        """What a wake word's score must exceed now, if its own threshold is not lower."""
        return self._threshold if self._canceller.active else 1.0

    def said(self, detection: Detection) -> bool:
        """Whether what was detected is the echo of what was just played.

        Positions of both count from the first hop that came to `clean`.
        """
        at = self._said.get(detection.word)
        return at is not None and detection.at - at <= _ECHO_SAMPLES


def _emphasised(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``samples`` with their low tones weaker: all voices are alike in those."""
    return np.diff(samples, prepend=np.float32(0))
