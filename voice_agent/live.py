"""The assistant at the desk: hears, answers, and is silent at once when the wake word falls.

The shell around `voice_agent.conversation`: what happens goes in, and what it says is done.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voice_agent import conversation as talk
from voice_agent.audio.capture import Captured, Microphone
from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound
from voice_agent.audio.reference import Reference
from voice_agent.earcons import Earcons
from voice_agent.errors import DeviceError, VoiceAgentError
from voice_agent.events import (
    Answer,
    Cancelled,
    Error,
    Event,
    Listener,
    Partial,
    PlaybackStarted,
    SpeechEnded,
    SpeechStarted,
    Utterance,
    Wake,
)
from voice_agent.exchanges import Exchanges
from voice_agent.session import Session, Stages
from voice_agent.stt import Transcription
from voice_agent.turns.completeness import looks_complete
from voice_agent.turns.front_end import Addressed, FrontEndEvent, NothingSaid
from voice_agent.turns.partials import Partials

log = logging.getLogger(__name__)

_FIRST_RETRY_S = 1.0
_LAST_RETRY_S = 30.0
_CLEAN_UP_S = 3.0


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

    ``on_first_sample`` gets the moment of the microphone's first sample, on the loop's clock.
    """

    stages: Stages
    ears: Ears
    microphone: Microphone
    reference: Reference | None = None
    follow_up_s: float = 0.0
    earcons: Earcons = field(default_factory=lambda: Earcons(None))
    on_first_sample: Callable[[float], None] = lambda at_s: None


class Live:
    """Listens until it is stopped, or the recording in place of the microphone is over."""

    def __init__(self, desk: Desk, listener: Listener) -> None:
        self._desk = desk
        self._listener = listener
        self._session = Session(desk.stages, self._pass_on, exchanges=Exchanges())
        self._now = talk.Conversation(follow_up_s=desk.follow_up_s)
        self._earcons = desk.earcons
        transcriber = desk.stages.transcriber
        self._partials = (
            Partials(transcriber, desk.stages.language, self._understood) if transcriber else None
        )
        self._turn: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._began_s: float | None = None
        self._shift_s = 0.0
        self._trouble = ""

    @property
    def state(self) -> talk.State:
        """What it does now."""
        return self._now.state

    def listen(self) -> None:
        """Listen to a question, as if the wake word had been said."""
        self._step(talk.ListenRequested())

    def cancel(self, cause: str) -> None:
        """Be silent and stop what goes on."""
        self._step(talk.CancelRequested(cause))

    def stop(self, cause: str) -> None:
        """Cancel what goes on, and let `run` return."""
        self._stopping.set()
        self.cancel(cause)

    async def run(self) -> None:
        """Listen and answer. A microphone that fails is said once and tried again for ever."""
        retry_s = _FIRST_RETRY_S
        try:
            while not self._stopping.is_set():
                try:
                    await self._hear()
                    break
                except DeviceError as error:
                    retry_s = self._told(error, retry_s)
                await self._pause(retry_s)
        finally:
            await self._settle()

    async def _hear(self) -> None:
        first = True
        async with aclosing(self._desk.microphone.blocks()) as blocks:
            async for captured in blocks:
                if first:
                    self._begin(captured.at_s)
                    first = False
                self._take(captured)
                if self._stopping.is_set() or self._is_over():
                    return

    def _begin(self, at_s: float) -> None:
        """Note when this stream began; after a lost device positions go on with the clock."""
        if self._began_s is None:
            self._began_s = at_s
            self._desk.on_first_sample(at_s)
        self._trouble = ""
        self._shift_s = at_s - self._began_s - self._desk.ears.position_s

    def _is_over(self) -> bool:
        resting = self._turn is None or self._turn.done()
        quiet = resting and not self._earcons.playing
        return self._desk.microphone.ended and self._now.at_rest and quiet

    def _take(self, captured: Captured) -> None:
        reference, playback = self._desk.reference, None
        if reference is not None:
            playback = reference.played(captured.at_s, len(captured.samples))
        for event in self._desk.ears.feed(captured.samples, playback):
            self._heard(event)

    def _heard(self, event: FrontEndEvent) -> None:
        """Act first, tell then: silence does not wait for a listener."""
        if isinstance(event, Wake):
            self._forget_partial()
            self._step(talk.Woken())
        elif isinstance(event, SpeechStarted):
            self._forget_partial()
            self._step(talk.SpeechBegan())
        elif isinstance(event, SpeechEnded):
            self._paused()
        elif isinstance(event, NothingSaid):
            self._step(talk.NothingHeard())
        elif isinstance(event, Addressed):
            self._addressed(event)
        if isinstance(event, Event):
            self._listener(self._timed(event))

    def _addressed(self, event: Addressed) -> None:
        assert self._began_s is not None
        sound = Sound(event.samples, SAMPLE_RATE_HZ)
        utterance = self._timed(Utterance(start_s=event.start_s, end_s=event.end_s, t_s=event.t_s))
        self._listener(utterance)
        until_s = self._began_s + self._shift_s + event.end_s
        said = self._partials.take() if self._partials is not None else None
        self._step(talk.QuestionHeard(talk.Question(sound, until_s, said, event.cut)))

    def _paused(self) -> None:
        """Find out what has been said so far: it tells how long to wait for more."""
        samples = self._desk.ears.so_far()
        if self._partials is None or not len(samples):
            return
        if self._partials.begin(Sound(samples, SAMPLE_RATE_HZ)):
            self._desk.ears.await_hint()

    def _understood(self, text: Transcription) -> None:
        self._desk.ears.hint(looks_complete(text.text, text.language))
        self._listener(
            Partial(text=text.text, language=text.language, audio_s=text.audio_s, stt_s=text.stt_s)
        )

    def _forget_partial(self) -> None:
        if self._partials is not None:
            self._partials.drop()

    def _timed(self, event: Event) -> Event:
        """Return an event of the front end with its positions on the program's clock."""
        moved = {
            name: round(getattr(event, name) + self._shift_s, 4)
            for name in ("t_s", "start_s", "end_s")
            if getattr(event, name, None) is not None
        }
        return replace(event, **moved)

    def _pass_on(self, event: Event) -> None:
        """Take what the session tells, and pass it on."""
        if isinstance(event, PlaybackStarted):
            self._step(talk.SoundBegan(self._now.turn))
        elif isinstance(event, Error):
            self._step(talk.TurnFailed(self._now.turn))
        self._listener(event)

    def _step(self, happening: talk.Happening) -> None:
        self._now, actions = talk.step(self._now, happening)
        for action in actions:
            self._do(action)
        self._earcons.think(self._now.state is talk.State.THINKING)

    def _do(self, action: talk.Action) -> None:
        match action:
            case talk.CancelTurn(cause):
                self._session.cancel(cause)
                self._forget_partial()
            case talk.Listen(wait_s):
                self._forget_partial()
                self._desk.ears.listen(wait_s=wait_s)
            case talk.StopListening():
                self._forget_partial()
                self._desk.ears.stop_listening()
            case talk.PlayCue(cue):
                self._earcons.drop()
                if not self._stopping.is_set():
                    self._earcons.play(cue)
            case talk.DropCue():
                self._earcons.drop()
            case talk.StartTurn(turn, question):
                self._turn = asyncio.create_task(
                    self._answer(turn, question, after=self._turn), name=f"question-{turn}"
                )

    async def _answer(
        self, turn: int, question: talk.Question, *, after: asyncio.Task[None] | None
    ) -> None:
        """Answer ``question`` when the turn before it, which was cancelled, has come to its end."""
        if after is not None:
            await asyncio.wait([after])
        if self._now.turn != turn or not self._now.answering:
            return  # cancelled before it began
        answered, cause = False, ""
        try:
            ending = await self._session.hear(
                question.sound, spoken_until_s=question.spoken_until_s, said=question.said
            )
            answered = isinstance(ending, Answer)
            cause = ending.cause if isinstance(ending, Cancelled) else ""
        except VoiceAgentError as error:  # the ledger: a turn's own errors are its ending
            self._listener(
                Error(stage=error.stage, message=error.message, mend=error.mend, file=error.file)
            )
            self._step(talk.TurnFailed(turn))
        self._step(talk.TurnEnded(turn, answered, cause))

    def _told(self, error: DeviceError, retry_s: float) -> float:
        """Say what is wrong with the microphone, once; return how long to wait now."""
        if not self._trouble:
            retry_s = _FIRST_RETRY_S
        if self._trouble != error.message:
            self._listener(Error(stage=error.stage, message=error.message, mend=error.mend))
        self._trouble = error.message
        return min(2 * retry_s, _LAST_RETRY_S)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _settle(self) -> None:
        """Let the last turn come to its end, for as long as cleaning up may take."""
        self._earcons.think(False)
        self._earcons.drop()
        self._forget_partial()
        if self._turn is None or self._turn.done():
            return
        self._session.cancel("stopped")
        await asyncio.wait([self._turn], timeout=_CLEAN_UP_S)
        self._turn.cancel()
