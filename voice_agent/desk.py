"""What a live session works with: the stages, the listening front end, the microphone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voice_agent.asking_aloud import VoiceAsker
from voice_agent.audio.capture import Microphone
from voice_agent.audio.reference import Reference
from voice_agent.earcons import Earcons
from voice_agent.hearing import FIRST_RETRY_S
from voice_agent.session import Stages
from voice_agent.turns.front_end import FrontEndEvent


class Ears(Protocol):
    """The listening front end: see `voice_agent.turns.front_end.FrontEnd`."""

    def feed(
        self, samples: NDArray[np.float32], playback: NDArray[np.float32] | None = None
    ) -> Sequence[FrontEndEvent]:
        """Take the next sound, and what was played meanwhile; return what happened."""

    def listen(self, *, wait_s: float | None = None) -> None:
        """Expect a question."""

    def stop_listening(self) -> None:
        """Expect no question."""

    def so_far(self) -> NDArray[np.float32]:
        """Return the question as far as it has been heard; empty where none is expected."""

    def await_hint(self) -> None:
        """Expect a hint for this pause."""

    def hint(self, complete: bool | None) -> None:
        """Take whether the text up to this pause is a whole question."""

    @property
    def position_s(self) -> float:
        """How much has been heard."""


@dataclass
class Desk:
    """What a live session works with; without a ``reference`` no echo is cancelled.

    ``on_first_sample`` gets the moment of the microphone's first sample, on the loop's clock;
    ``on_heard`` is called after each of its blocks that has passed the whole front end.
    ``asker`` is the one that the stages' research asks; an answer is waited for ``answer_s``.
    ``retry_s`` is how soon a microphone that fails is tried again.
    ``devices`` are the names of the ``input`` and ``output`` in use.
    """

    stages: Stages
    ears: Ears
    microphone: Microphone
    reference: Reference | None = None
    follow_up_s: float = 0.0
    asker: VoiceAsker = field(default_factory=VoiceAsker)
    answer_s: float = 8.0
    earcons: Earcons = field(default_factory=lambda: Earcons(None))
    on_first_sample: Callable[[float], None] = lambda at_s: None
    on_heard: Callable[[], None] = lambda: None
    devices: Mapping[str, str | None] = field(
        default_factory=lambda: {"input": None, "output": None}
    )
    retry_s: float = FIRST_RETRY_S
