"""The events with which a turn ends, from what came of it."""

from dataclasses import replace

from voice_agent.errors import Cancelled, TranscriptionError
from voice_agent.events import Answer, Error, Timings
from voice_agent.research.loop import Reply
from voice_agent.turn import NOTHING_SAID, Turn


def nothing_said(turn: Turn, source: str | None) -> Error:
    """Return the error of a recording without words; at the microphone cancel ``turn``."""
    if source is None:
        turn.cancel(NOTHING_SAID)
        raise Cancelled("Nothing was said.")
    return Error(
        turn=turn.id,
        stage=TranscriptionError.stage,
        message=f"Nothing was said in {source}.",
        mend="Record a spoken question, or check the microphone's level.",
        file=source,
    )


def answered(turn: Turn, reply: Reply, spoken: str, timings: Timings) -> Answer:
    """Return what research replied, and what of it was made into speech, as the turn's answer."""
    return Answer(
        turn=turn.id,
        text=reply.ending.text,
        spoken=spoken,
        basis=reply.ending.basis,
        reason=reply.ending.reason,
        sources=reply.sources,
        rounds=reply.rounds,
        charged_tokens=reply.charged_tokens,
        answer_tokens=reply.ending.answer_tokens,
        timings=timings,
    )


def again(last: Answer, *, turn: int | None, spoken: str, timings: Timings) -> Answer:
    """Return ``last`` as the answer of another turn, which has cost no request."""
    return replace(
        last,
        turn=turn,
        t_s=None,
        spoken=spoken,
        rounds=0,
        charged_tokens=0,
        answer_tokens=0,
        timings=timings,
    )
