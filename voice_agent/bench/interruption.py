"""What one interruption came to, from the recordings of microphone and loudspeaker."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from voice_agent.bench.figures import Spread, spread
from voice_agent.bench.loudness import frame_levels, last_sound_s, sounding_s, word_end_s
from voice_agent.events import Event

State = Literal[
    "transcribing", "processing a prompt", "generating", "speaking", "final answer", "follow-up"
]
STATES: tuple[State, ...] = get_args(State)

STALE_AFTER_S = 1.0
"""What sounds so long after the detection belongs to a turn that is cancelled: it is stale."""

_JUST_BEFORE_S = 0.25  # the pause between two words of an answer


@dataclass(frozen=True)
class Take:
    """The recordings around one wake word, both from the same moment on; positions in seconds.

    Samples are float32 of shape (n,) at ``rate_hz``. ``spoken`` ends before the next word is said
    into the microphone; ``detected_s`` is None where the wake word was missed.
    """

    spoken: NDArray[np.float32]
    heard: NDArray[np.float32]
    rate_hz: int
    detected_s: float | None


@dataclass(frozen=True, kw_only=True)
class Interrupted(Event):
    """One interruption: what it aimed at, the state in which the wake word was detected, times.

    The three times are None where nothing sounded. ``stopped_s`` is the assistant's own figure
    (model and tools stopped, after the detection); ``stale_s`` counts the seconds of sound that
    came later than it may.
    """

    n: int
    aim: State
    state: State | None
    detected: bool
    word_to_detection_s: float | None
    word_to_silence_s: float | None
    detection_to_silence_s: float | None
    stopped_s: float | None
    stale_s: float


@dataclass(frozen=True)
class Row:
    """The figures of one state, or of all (None), over ``runs`` interruptions that were heard."""

    state: State | None
    runs: int
    word_to_detection_s: Spread
    word_to_silence_s: Spread
    detection_to_silence_s: Spread
    stopped_s: Spread
    stale: int


@dataclass(frozen=True, kw_only=True)
class BargeIn(Event):
    """The figures of all interruptions; ``missed`` wake words were not detected."""

    runs: int
    missed: int
    watched_s: float
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Silence:
    """Times in seconds: see `Interrupted`."""

    word_to_detection_s: float | None
    word_to_silence_s: float | None
    detection_to_silence_s: float | None
    stale_s: float


def silence(take: Take) -> Silence:
    """Return how soon the loudspeaker fell silent, and what sounded after that.

    The word ends with its last 10 ms frame less than 26 dB below its loudest one.
    """
    word_end = word_end_s(frame_levels(take.spoken, take.rate_hz))
    detected = take.detected_s
    if word_end is None or detected is None:
        return Silence(None, None, None, 0.0)
    levels = frame_levels(take.heard, take.rate_hz)
    last = last_sound_s(levels, detected + STALE_AFTER_S)
    stale_s = sounding_s(levels, detected + STALE_AFTER_S)
    if last is None or last < detected - _JUST_BEFORE_S:
        return Silence(round(detected - word_end, 4), None, None, stale_s)
    return Silence(
        round(detected - word_end, 4),
        round(last - word_end, 4),
        round(last - detected, 4),
        stale_s,
    )


def state_at(events: Iterable[tuple[str, float]], moment_s: float) -> State | None:
    """Return the state of a turn at a moment, from its events (name, time) in order.

    None before the question was heard to its end, and after the turn was cancelled.
    """
    state: State | None = None
    finishing = False
    for name, at_s in events:
        if at_s >= moment_s:
            break
        finishing = finishing or name == "finishing"
        state = _after(name, state, finishing=finishing)
    return state


def _after(name: str, state: State | None, *, finishing: bool) -> State | None:
    match name:
        case "utterance":
            return "transcribing"
        case "transcript":
            return "processing a prompt"
        case "finishing":
            return "final answer" if state != "speaking" else state
        case "answer_text" if state != "speaking":
            return "final answer" if finishing else "generating"
        case "playback_started":
            return "speaking"
        case "answer":
            return "follow-up"
        case "cancelled" | "error":
            return None
    return state


def barge_in(results: Sequence[Interrupted], watched_s: float) -> BargeIn:
    """Return the figures over ``results``: a row for each state, and one for all."""
    detected = [result for result in results if result.detected]
    rows = [_row(state, [r for r in detected if r.state == state]) for state in STATES]
    return BargeIn(
        runs=len(results),
        missed=len(results) - len(detected),
        watched_s=watched_s,
        rows=(*rows, _row(None, detected)),
    )


def _row(state: State | None, results: Sequence[Interrupted]) -> Row:
    def over(name: str) -> Spread:
        values: list[Any] = [getattr(result, name) for result in results]
        return spread(value for value in values if value is not None)

    return Row(
        state=state,
        runs=len(results),
        word_to_detection_s=over("word_to_detection_s"),
        word_to_silence_s=over("word_to_silence_s"),
        detection_to_silence_s=over("detection_to_silence_s"),
        stopped_s=over("stopped_s"),
        stale=sum(result.stale_s > 0 for result in results),
    )
