"""Speech that is taken for its own echo: listened on, and told, so that nobody waits for more."""

import numpy as np
import pytest

from voice_agent.turns.endpointing import EndpointRules
from voice_agent.turns.front_end import FrontEnd, FrontEndEvent

LOUD, QUIET = 0.5, 0.0


class ByLevel:
    """A voice activity detector that takes every sound for speech."""

    def suspects(self, hop: np.ndarray) -> bool:
        return bool(hop.any())

    def confirms(self, hop: np.ndarray, *, suspected: bool = True) -> bool:
        return suspected and bool(hop.any())

    def forget(self) -> None:
        pass


class Ours:
    """The assistant's own voice, which was all that was heard as often as ``echoes`` says."""

    is_all = False
    threshold = 1.0

    def __init__(self, echoes: int) -> None:
        self.echoes = echoes

    def clean(self, microphone: np.ndarray, playback: np.ndarray) -> np.ndarray:
        return microphone

    def played(self, start: int, end: int) -> bool:
        self.echoes -= 1
        return self.echoes >= 0


def heard(echoes: int, *parts: tuple[float, float]) -> list[str]:
    """What is made of sounds, each a level and its seconds, where some are its own."""
    front = FrontEnd(None, ByLevel(), EndpointRules(), lambda: Ours(echoes))  # type: ignore[arg-type]
    front.feed(np.zeros(160, np.float32), np.full(160, LOUD, np.float32))
    front.listen(wait_s=4.0)
    events: list[FrontEndEvent] = []
    for level, seconds in parts:
        events += front.feed(np.full(int(seconds * 16_000), level, np.float32))
    return [type(event).__name__ for event in events]


SPEECH = ["SpeechStarted", "SpeechEnded"]


@pytest.mark.parametrize("echoes", [0, 1])
def test_only_an_echo_is_told_to_be_one(echoes: int) -> None:
    told = heard(echoes, (LOUD, 1.0), (QUIET, 1.0))
    assert told == [*SPEECH, "OwnSpeech" if echoes else "Addressed"]


def test_after_an_echo_an_utterance_is_listened_to() -> None:
    told = heard(1, (LOUD, 1.0), (QUIET, 1.0), (LOUD, 1.0), (QUIET, 1.0))
    assert told == [*SPEECH, "OwnSpeech", *SPEECH, "Addressed"]


def test_an_echo_does_not_lengthen_the_time_for_the_first_word() -> None:
    told = heard(1, (LOUD, 1.0), (QUIET, 3.2))
    assert told == [*SPEECH, "OwnSpeech", "NothingSaid"]
