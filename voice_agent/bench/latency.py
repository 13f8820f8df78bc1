"""Asks questions at a virtual desk, one after the other, and records the answers."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import Sound
from voice_agent.bench.assistant import ENDINGS, VirtualDesk
from voice_agent.bench.clips import Clip
from voice_agent.bench.first_sound import AnsweredAloud, word_to_sound_s
from voice_agent.bench.judge import judge
from voice_agent.bench.monitor import RATE_HZ
from voice_agent.bench.questions import Question
from voice_agent.events import Timings
from voice_agent.stt import Transcriber

TURN_S = 600.0
"""A question that has no ending after so long is given up."""

_STARTED_EARLY_S = 0.05  # clocks of recording and assistant agree so well
_AFTER_QUESTION_S = 0.3
_TAIL_S = 0.5


@dataclass(frozen=True)
class Exchange:
    """A question that was asked aloud, what was heard of the answer (at 16 kHz), and times."""

    question: Question
    understood: str
    written: str
    failure: str
    answer: NDArray[np.float32]
    word_to_sound_s: float | None
    timings: Timings


@dataclass(frozen=True)
class Recorded:
    """What was heard of an answer, at 16 kHz from its first sound on, and how long it let wait."""

    answer: NDArray[np.float32]
    word_to_sound_s: float | None = None


async def exchanges(
    desk: VirtualDesk, asked: Sequence[tuple[Question, Clip]]
) -> AsyncIterator[Exchange]:
    """Ask each question after the wake word, in one conversation; yield what came of it."""
    for question, clip in asked:
        yield await _exchange(desk, question, clip)


async def _exchange(desk: VirtualDesk, question: Question, clip: Clip) -> Exchange:
    events = desk.events
    begun = await desk.ask(clip.file)
    ending = await events.next(ENDINGS, begun.since, TURN_S)
    started = events.first(("playback_started",), begun.since)
    started_s = None if started is None else events.happened_s(started) - _STARTED_EARLY_S
    recorded = await recorded_answer(desk, clip, begun.said_s, started_s)
    event: dict[str, Any] = ending.event if ending else {"message": "It never ended."}
    transcript = events.first(("transcript",), begun.since)
    return Exchange(
        question=question,
        understood=transcript.event["text"] if transcript else "",
        written=event.get("text", ""),
        failure=event.get("message", "") or event.get("cause", ""),
        answer=recorded.answer,
        word_to_sound_s=recorded.word_to_sound_s,
        timings=Timings(**event.get("timings", {})),
    )


async def recorded_answer(
    desk: VirtualDesk, clip: Clip, said_s: float, started_s: float | None
) -> Recorded:
    """Return the answer that the loudspeaker has just played to ``clip``, from the recordings.

    Both times are the event loop's: when saying the clip began, and before when no sound is the
    answer's; None: there was none.
    """
    await asyncio.sleep(_TAIL_S)
    until_s = asyncio.get_running_loop().time()
    if started_s is None:
        return Recorded(np.zeros(0, np.float32))
    heard = desk.heard.between(said_s, until_s)
    spoken = desk.spoken.between(said_s, said_s + clip.seconds + _AFTER_QUESTION_S)
    found = word_to_sound_s(spoken, heard, RATE_HZ, started_s - said_s)
    if found is None:
        return Recorded(np.zeros(0, np.float32))
    return Recorded(heard[round(found[1] * RATE_HZ) :], found[0])


async def judged(exchange: Exchange, transcriber: Transcriber, language: str) -> AnsweredAloud:
    """Return an exchange with the verdict on what was really heard."""
    heard = ""
    if len(exchange.answer):
        sound = Sound(exchange.answer, RATE_HZ)
        heard = (await transcriber.transcribe(sound, language=language)).text
    verdict = judge(exchange.question, heard)
    return AnsweredAloud(
        id=exchange.question.id,
        kind=exchange.question.kind,
        question=exchange.question.text,
        understood=exchange.understood,
        right=verdict.right,
        why=exchange.failure or verdict.why,
        heard_answer=heard,
        written_answer=exchange.written,
        word_to_sound_s=exchange.word_to_sound_s,
        timings=exchange.timings,
    )
