"""Asks questions through the real stages, over a library and a ledger that are thrown away."""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from voice_agent.audio.format import Sound
from voice_agent.bench.documents import fill_library
from voice_agent.bench.figures import Mode, QuestionAnswered
from voice_agent.bench.judge import Rule, judge
from voice_agent.bench.questions import Question
from voice_agent.daemon import Wanted, open_stages
from voice_agent.errors import SynthesisError
from voice_agent.events import Answer, Cancelled, Event, Timings, Transcript
from voice_agent.places import Places
from voice_agent.session import Session, Stages
from voice_agent.settings import Settings
from voice_agent.spoken_text import spoken
from voice_agent.turn import Ending


class SilentSpeaker:
    """A speaker that has heard every sound at once: speech is made, and nobody waits for it."""

    def __init__(self) -> None:
        self._played_samples = 0

    @property
    def played_samples(self) -> int:
        """How many samples of all sounds it was given."""
        return self._played_samples

    async def play(self, sound: Sound) -> int:
        """Take ``sound`` and return how many samples it has."""
        self._played_samples += len(sound.samples)
        return len(sound.samples)

    def abort(self) -> None:
        """Nothing waits here."""

    def turn_to(self, level: float) -> None:
        """Nobody hears how loud it is."""


@asynccontextmanager
async def open_bench(
    settings: Settings, places: Places, documents: Path, wanted: Wanted
) -> AsyncIterator[Stages]:
    """Open the stages over ``documents`` alone: models and caches are the user's, no more.

    Raises what `open_stages` raises, and UsageError when the folder holds no documents.
    """
    with tempfile.TemporaryDirectory(prefix="voice-agent-bench-") as folder:
        own = replace(places, config=Path(folder) / "config", data=Path(folder) / "data")
        await asyncio.to_thread(fill_library, own, documents)
        async with open_stages(settings, own, wanted) as stages:
            yield stages


class Bench:
    """Asks one question after another, each in a conversation of its own."""

    def __init__(self, stages: Stages, rule: Rule = judge) -> None:
        self._stages = stages
        self._rule = rule
        self._session: Session | None = None
        self.interrupted = False

    def cancel(self, cause: str) -> None:
        """End the question that is being answered; no other is asked."""
        self.interrupted = True
        if self._session is not None:
            self._session.cancel(cause)

    async def results(
        self, questions: Sequence[Question], modes: Sequence[Mode]
    ) -> AsyncIterator[QuestionAnswered]:
        """Yield the result of each question, in one mode after the other, until cancelled."""
        for mode, question in itertools.product(modes, questions):
            sound = await self._said(question) if mode == "spoken" else None
            if self.interrupted:
                return
            heard: list[str] = []
            ending = await self._ask(sound or question.text, heard)
            if isinstance(ending, Cancelled):
                return
            yield self._result(question, mode, ending, heard)

    async def _said(self, question: Question) -> Sound:
        """Return the question as the voice says it."""
        voice = self._stages.voice
        if voice is None:
            raise SynthesisError("There is no voice that could ask the questions.")
        return (await voice.synthesize(spoken(question.text, voice.language))).sound

    async def _ask(self, asked: str | Sound, heard: list[str]) -> Ending:
        def listen(event: Event) -> None:
            if isinstance(event, Transcript):
                heard.append(event.text)

        self._session = Session(self._stages, listen)
        try:
            if isinstance(asked, str):
                return await self._session.ask(asked)
            return await self._session.hear(asked)
        finally:
            self._session = None

    def _result(
        self, question: Question, mode: Mode, ending: Ending, heard: list[str]
    ) -> QuestionAnswered:
        answer = ending if isinstance(ending, Answer) else None
        text = answer.text if answer else ""
        verdict = self._rule(question, text)
        failure = "" if answer else getattr(ending, "message", "")
        return QuestionAnswered(
            turn=ending.turn,
            id=question.id,
            kind=question.kind,
            mode=mode,
            question=question.text,
            heard=" ".join(heard) if mode == "spoken" else None,
            right=verdict.right,
            why=failure or verdict.why,
            text=text,
            basis=answer.basis if answer else None,
            reason=answer.reason if answer else None,
            rounds=answer.rounds if answer else 0,
            charged_tokens=answer.charged_tokens if answer else 0,
            answer_tokens=answer.answer_tokens if answer else 0,
            sources=answer.sources if answer else (),
            timings=answer.timings if answer else Timings(),
        )
