"""What the loudspeaker plays: taken out of the microphone's sound, and never a wake word."""

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.echo import LinearEchoCanceller
from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.turns.wake_word import Detection, WakeWords

LISTENER_THRESHOLD = 0.3
"""The threshold of the wake words that listen to the loudspeaker: half a phrase is enough."""

LISTENER_REFRACTORY_S = 0.1
"""They follow a phrase to its end: its echo is heard from then on."""

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

    def clean(
        self, microphone: NDArray[np.float32], playback: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return ``microphone`` without the echo of ``playback``; see `LinearEchoCanceller`."""
        if self._words is not None:
            for own in self._words.feed(playback):
                self._said[own.word] = own.at
        return self._canceller.cancel(microphone, playback)

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
