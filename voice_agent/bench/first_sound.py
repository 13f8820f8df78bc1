"""How long the answer lets wait, from the recordings; and where that time goes, by stage."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from voice_agent.bench.figures import Spread, spread
from voice_agent.bench.loudness import first_sound_s, frame_levels, sounds, word_end_s
from voice_agent.bench.waterfall import Stage, waterfall
from voice_agent.events import Event, Timings

STAGES = ("endpoint", "transcript", "first_token", "first_sentence", "first_sound")
"""The stages before the loudspeaker, in order, by the names of `Timings`."""
LOUDSPEAKER = "loudspeaker"
"""The last stage: until the recording of the loudspeaker holds the answer's first sound."""


@dataclass(frozen=True, kw_only=True)
class AnsweredAloud(Event):
    """One question at the desk: verdict, what was heard, and times in seconds.

    ``heard_answer`` is the transcript of the loudspeaker's recording, which is judged;
    ``word_to_sound_s`` is measured in the recordings, ``timings`` are the assistant's own.
    """

    id: str
    kind: str
    question: str
    understood: str
    right: bool
    why: str
    heard_answer: str
    written_answer: str
    word_to_sound_s: float | None
    timings: Timings


@dataclass(frozen=True)
class StageTimes:
    """When a stage was done, in seconds after the last word."""

    stage: str
    done_s: Spread


@dataclass(frozen=True, kw_only=True)
class Latency(Event):
    """The figures over all questions; ``stages`` are in order."""

    model: str
    questions: int
    right: int
    ready_s: float
    word_to_sound_s: Spread
    stages: tuple[StageTimes, ...]


def word_to_sound_s(
    question: NDArray[np.float32], heard: NDArray[np.float32], rate_hz: int, started_s: float
) -> tuple[float, float] | None:
    """Return the wait for the answer and where its first sound is, in seconds; None without one.

    Both recordings begin at the same moment; ``question`` ends before anything else is said.
    ``started_s`` is when the assistant gave the answer's first sound to the loudspeaker: what
    begins earlier, such as a cue, is not the answer.
    """
    last_word = word_end_s(frame_levels(question, rate_hz))
    first = first_sound_s(sounds(frame_levels(heard, rate_hz)), started_s)
    if last_word is None or first is None:
        return None
    return round(first - last_word, 4), first


def latency(results: Sequence[AnsweredAloud], *, model: str, ready_s: float) -> Latency:
    """Return the figures over ``results``."""
    waits = spread(r.word_to_sound_s for r in results if r.word_to_sound_s is not None)
    stages = [StageTimes(name, _over(results, name)) for name in STAGES]
    return Latency(
        model=model,
        questions=len(results),
        right=sum(result.right for result in results),
        ready_s=ready_s,
        word_to_sound_s=waits,
        stages=(*stages, StageTimes(LOUDSPEAKER, waits)),
    )


def picture(figures: Latency) -> str:
    """Return the figures as a waterfall in SVG."""
    stages = [
        Stage(each.stage.replace("_", " "), each.done_s.median, each.done_s.p95)
        for each in figures.stages
        if each.done_s.median is not None and each.done_s.p95 is not None
    ]
    title = f"From the last word to the first sound, n = {figures.questions}"
    return waterfall(f"{title} ({figures.model})", stages)


def _over(results: Sequence[AnsweredAloud], name: str) -> Spread:
    times = [asdict(result.timings)[name] for result in results]
    return spread(time for time in times if time is not None)
