"""Interrupts the assistant with the wake word in every state, and measures what is heard."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from voice_agent.bench.assistant import ENDINGS, Told, VirtualDesk
from voice_agent.bench.clips import Clip
from voice_agent.bench.interruption import Interrupted, State, Take, silence, state_at
from voice_agent.bench.monitor import RATE_HZ
from voice_agent.bench.questions import Question

SLOWLY = {"VOICE_AGENT_TTS__RATE": "0.5", "VOICE_AGENT_CUES__VOLUME": "0"}
"""A short answer is over before a wake word is; spoken slowly it can be interrupted. Without cues
all that is heard is the answer."""
FORCED = {"VOICE_AGENT_RESEARCH__TOKEN_BUDGET": "1024"}
"""So few tokens end the research of a question that the documents do not answer."""

_TURN_S = 300.0
_WAKE_S = 5.0
_DETECTION_S = 0.15
_BEFORE_S = 1.0
_AROUND_WORD_S = 0.8
_REST_S = 0.5


@dataclass(frozen=True)
class _Triggered:
    """When to say the wake word: after an event, and seconds later."""

    names: tuple[str, ...]
    later_s: float


def run_on(questions: Sequence[Question]) -> str:
    """Return several questions as one that takes long to say and to transcribe."""
    return " and ".join(question.text.rstrip("?. ") for question in questions) + "?"


class Interruptions:
    """Asks, interrupts and watches the loudspeaker for ``watch_s``, one run after the other.

    The first question is answered without interruption: from it is learned how long the states
    last, so that the detection falls into the one that is aimed at. A wake word takes its time,
    so the state that it finds may be another; each run says which. ``long`` is asked where
    transcription is aimed at: that of a short question is over before a wake word is.
    """

    def __init__(
        self, desk: VirtualDesk, wake: Clip, *, watch_s: float, chance: random.Random
    ) -> None:
        self._desk = desk
        self._wake = wake
        self._watch_s = watch_s
        self._chance = chance
        self._first_text_s = 0.0
        self._writing_s = 0.0

    async def results(
        self, question: Clip, long: Clip, aims: Sequence[State], *, first: int = 1
    ) -> AsyncIterator[Interrupted]:
        """Yield what each interruption came to, numbered from ``first``."""
        await self._learn(question)
        for n, aim in enumerate(aims, first):
            yield await self._interrupt(n, aim, long if aim == "transcribing" else question)

    async def _learn(self, question: Clip) -> None:
        events = self._desk.events
        since = (await self._desk.ask(question.file)).since
        ending = await events.next(ENDINGS, since, _TURN_S)
        heard, text, sound = (
            events.first((name,), since)
            for name in ("transcript", "answer_text", "playback_started")
        )
        if heard and text and sound:
            self._first_text_s = text.at_s - heard.at_s
            self._writing_s = sound.at_s - text.at_s
        await asyncio.sleep(_REST_S if ending else 0)

    async def _interrupt(self, n: int, aim: State, question: Clip) -> Interrupted:
        events = self._desk.events
        since = (await self._desk.ask(question.file)).since
        await self._moment(aim, since)
        before = len(events.told)
        said_s = await self._desk.say(self._wake.file)
        wake = await events.next(("wake",), before, _WAKE_S)
        if wake is not None:
            await asyncio.sleep(self._watch_s)
        result = self._measured(n, aim, said_s, (since, before, wake))
        await self._rest(since)
        return result

    async def _moment(self, aim: State, since: int) -> None:
        """Wait for the moment to say the wake word in."""
        events, takes_s = self._desk.events, self._wake.seconds + _DETECTION_S
        trigger = self._trigger(aim)
        if aim == "generating":
            heard = await events.next(("transcript", *ENDINGS), since, _TURN_S)
            wait_s = self._first_text_s + 0.3 * self._writing_s - takes_s
            if heard is not None:
                await events.next(("answer_text",), since, max(wait_s, 0.0))
            return
        await events.next((*trigger.names, *ENDINGS), since, _TURN_S)
        await asyncio.sleep(trigger.later_s)

    def _trigger(self, aim: State) -> _Triggered:
        """Return when to say the wake word; the moments differ, not to find always the same one."""
        some_s = self._chance.uniform(0.0, 0.6)
        match aim:
            case "transcribing":
                return _Triggered(("utterance",), 0.0)
            case "processing a prompt":
                return _Triggered(("transcript",), some_s)
            case "final answer":
                return _Triggered(("finishing",), some_s / 2)
            case "follow-up":
                return _Triggered(ENDINGS, _REST_S + some_s)
        return _Triggered(("playback_started",), some_s)

    def _measured(
        self, n: int, aim: State, said_s: float, told: tuple[int, int, Told | None]
    ) -> Interrupted:
        since, before, wake = told
        desk, events = self._desk, self._desk.events
        from_s = said_s - _BEFORE_S
        detected_s = events.happened_s(wake) if wake else None
        until_s = (detected_s or said_s) + self._watch_s
        take = Take(
            spoken=desk.spoken.between(from_s, said_s + self._wake.seconds + _AROUND_WORD_S),
            heard=desk.heard.between(from_s, until_s),
            rate_hz=RATE_HZ,
            detected_s=None if detected_s is None else detected_s - from_s,
        )
        found = silence(take)
        turn = [(each.name, events.happened_s(each)) for each in events.told[since:]]
        cancelled = events.first(("cancelled",), before)
        return Interrupted(
            n=n,
            aim=aim,
            state=None if detected_s is None else state_at(turn, detected_s),
            detected=wake is not None,
            word_to_detection_s=found.word_to_detection_s,
            word_to_silence_s=found.word_to_silence_s,
            detection_to_silence_s=found.detection_to_silence_s,
            stopped_s=cancelled.event["stopped_s"] if cancelled else None,
            stale_s=found.stale_s,
        )

    async def _rest(self, since: int) -> None:
        """Let a turn that was not interrupted come to its end."""
        await self._desk.events.next(ENDINGS, since, _TURN_S)
        await asyncio.sleep(_REST_S)
