"""The assistant at the desk: hears, answers, and is silent at once when the wake word falls.

The shell around `voice_agent.conversation`: what happens goes in, and what it says is done.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

import numpy as np

from voice_agent import conversation as talk
from voice_agent.audio.capture import Captured
from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound
from voice_agent.desk import Desk
from voice_agent.errors import VoiceAgentError
from voice_agent.events import (
    Answer,
    Asked,
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
from voice_agent.hearing import Hearing, Said
from voice_agent.phrases import Phrase, phrase
from voice_agent.preparing import Preparing
from voice_agent.remarks import Remarks
from voice_agent.session import Session
from voice_agent.stt import Transcription
from voice_agent.turn import Ending
from voice_agent.turns.completeness import looks_complete
from voice_agent.turns.front_end import Addressed, FrontEndEvent, NothingSaid, OwnSpeech
from voice_agent.turns.partials import Partials

log = logging.getLogger(__name__)

Began = Callable[[int | VoiceAgentError | None], None]

_CLEAN_UP_S = 3.0


class Live:
    """Listens until it is stopped, or the recording in place of the microphone is over."""

    def __init__(self, desk: Desk, listener: Listener) -> None:
        self._desk = desk
        self._listener = listener
        self._session = Session(desk.stages, self._pass_on, exchanges=Exchanges())
        self._now = talk.Conversation(follow_up_s=desk.follow_up_s, answer_s=desk.answer_s)
        desk.asker.use(self._session, listen=self._await_answer, hears=lambda: not self._muted)
        self._earcons = desk.earcons
        transcriber = desk.stages.transcriber
        self._partials = (
            Partials(transcriber, desk.stages.language, self._understood) if transcriber else None
        )
        self._turn: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._began_s: float | None = None
        self._shift_s = 0.0
        self._remarks = Remarks(desk.stages.voice, desk.stages.speaker)
        self._hearing = Hearing(
            desk.microphone, Said(listener, self._remark), began=self._begin, retry_s=desk.retry_s
        )
        self._muted = False

    @property
    def state(self) -> talk.State:
        """What it does now."""
        return self._now.state

    @property
    def muted(self) -> bool:
        """Whether silence is heard in place of the microphone."""
        return self._muted

    @property
    def heard_s(self) -> float:
        """How much has been heard."""
        return self._desk.ears.position_s

    @property
    def preparing(self) -> bool:
        """Whether a question would have to wait for the language model."""
        research = self._desk.stages.research
        return isinstance(research, Preparing) and research.goes_on

    @property
    def silent_s(self) -> float:
        """How long the microphone has delivered nothing but digital silence."""
        return self._hearing.silent_s

    @property
    def devices(self) -> dict[str, str | None]:
        """The names of the ``input`` and ``output`` in use."""
        return dict(self._desk.devices)

    @property
    def documents(self) -> int:
        """How many documents the library holds."""
        return self._desk.stages.documents

    def listen(self) -> None:
        """Listen to a question, as if the wake word had been said."""
        self._step(talk.ListenRequested())

    def ask(self, text: str, began: Began) -> None:
        """Answer a typed question in place of what goes on; ``began`` as in `talk.Typed`."""
        self._step(talk.QuestionTyped(talk.Typed(text, began)))

    def repeat(self, began: Began) -> bool:
        """Say the last answer again, as `ask` does; return False where there is none."""
        if not self._session.can_repeat:
            return False
        self.ask(phrase("repeat", self._desk.stages.language), began)
        return True

    def follow_up(self, seconds: float) -> None:
        """Listen so long after an answer, from the next one on."""
        self._now = replace(self._now, follow_up_s=seconds)

    def mute(self) -> None:
        """Hear nothing until `unmute`; an answer goes on."""
        self._muted = True
        if self._now.state is talk.State.LISTENING:
            self.cancel("mute")

    def unmute(self) -> None:
        """Hear again."""
        self._muted = False

    def cancel(self, cause: str) -> None:
        """Be silent and stop what goes on."""
        self._step(talk.CancelRequested(cause))

    def stop(self, cause: str) -> None:
        """Cancel what goes on, and let `run` return."""
        self._stopping.set()
        self.cancel(cause)

    async def run(self) -> None:
        """Listen and answer. A microphone that fails is said once and tried again for ever."""
        try:
            await self._hear()
        finally:
            await self._settle()

    async def _hear(self) -> None:
        async with aclosing(self._hearing.blocks(self._stopping)) as blocks:
            async for captured in blocks:
                self._take(captured)
                if self._stopping.is_set() or self._is_over():
                    return

    def _begin(self, at_s: float) -> None:
        """Note when this stream began; after a lost device positions go on with the clock."""
        if self._began_s is None:
            self._began_s = at_s
            self._desk.on_first_sample(at_s)
        self._shift_s = at_s - self._began_s - self._desk.ears.position_s

    def _remark(self, name: Phrase) -> None:
        if self._now.at_rest and not self._stopping.is_set():
            self._remarks.say(name)

    def _is_over(self) -> bool:
        resting = self._turn is None or self._turn.done()
        quiet = resting and not self._earcons.playing
        return self._desk.microphone.ended and self._now.at_rest and quiet

    def _take(self, captured: Captured) -> None:
        reference, playback = self._desk.reference, None
        if reference is not None:
            playback = reference.played(captured.at_s, len(captured.samples))
        samples = np.zeros_like(captured.samples) if self._muted else captured.samples
        for event in self._desk.ears.feed(samples, playback):
            self._heard(event)
        self._desk.on_heard()

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
        elif isinstance(event, OwnSpeech):
            self._forget_partial()
            self._step(talk.SpeechWasOurs())
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

    def _await_answer(self, spent_s: float) -> bool:
        """Listen to the answer to a question of the turn that runs; return whether we do.

        ``spent_s``: how much of the time for it is over.
        """
        self._step(talk.AskedBack(self._now.turn, spent_s))
        return self._now.asking

    def _paused(self) -> None:
        """Find out what has been said so far: it tells how long to wait for more."""
        samples = self._desk.ears.so_far()
        if self._partials is None or not len(samples):
            return
        if self._partials.begin(Sound(samples, SAMPLE_RATE_HZ)):
            self._desk.ears.await_hint()

    def _understood(self, text: Transcription) -> None:
        whole = self._desk.asker.completes(text.text)
        self._desk.ears.hint(whole or looks_complete(text.text, text.language))
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
        if not self._now.at_rest:
            self._remarks.drop()

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
            case talk.TakeAnswer(answer):
                self._desk.asker.take(answer)
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
        self,
        turn: int,
        question: talk.Question | talk.Typed,
        *,
        after: asyncio.Task[None] | None,
    ) -> None:
        """Answer ``question`` when the turn before it, which was cancelled, has come to its end."""
        if after is not None:
            await asyncio.wait([after])
        if self._now.turn != turn or not self._now.answering:
            if isinstance(question, talk.Typed):
                question.began(None)
            return  # cancelled before it began
        ending = await self._ending(question)
        cause = ending.cause if isinstance(ending, Cancelled) else ""
        self._step(talk.TurnEnded(turn, isinstance(ending, Answer), cause))

    async def _ending(self, question: talk.Question | talk.Typed) -> Ending:
        if isinstance(question, talk.Typed):
            typed = question

            def began(turn: int | VoiceAgentError) -> None:
                typed.began(turn)
                if isinstance(turn, int):
                    self._listener(Asked(turn=turn, text=typed.text))

            return await self._session.ask(typed.text, began=began)
        return await self._session.hear(
            question.sound, spoken_until_s=question.spoken_until_s, said=question.said
        )

    async def _settle(self) -> None:
        """Let the last turn come to its end, for as long as cleaning up may take."""
        self._earcons.think(False)
        self._earcons.drop()
        self._remarks.drop()
        self._forget_partial()
        if self._turn is None or self._turn.done():
            return
        self._session.cancel("stopped")
        await asyncio.wait([self._turn], timeout=_CLEAN_UP_S)
        self._turn.cancel()
