"""Turns one after another: a question goes through the stages and comes out as an answer.

The shell around the stages: it begins a turn, hands events to whoever listens and to the ledger,
and speaks the answer while it is written.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from voice_agent.apologies import apology, say_after
from voice_agent.audio.format import Sound
from voice_agent.audio.playback import Speaker
from voice_agent.endings import again, answered, nothing_said
from voice_agent.errors import Cancelled, LedgerError, TranscriptionError
from voice_agent.events import (
    Answer,
    AnswerText,
    AskedBack,
    Error,
    Event,
    Finishing,
    Listener,
    PlaybackEnded,
    Round,
    Sentence,
    Timings,
    ToolCall,
    ToolResult,
    Transcript,
    Unrecorded,
    WriteBegun,
)
from voice_agent.exchanges import Exchanges
from voice_agent.ledger import Ledger
from voice_agent.ledger.entry import Entries, Entry
from voice_agent.ledger.recordings import Recordings
from voice_agent.ledger.records import Kind
from voice_agent.phrases import LANGUAGES, is_stop
from voice_agent.preparing import Answers
from voice_agent.repeating import asks_to_repeat
from voice_agent.research.loop import Inquiry, Reply
from voice_agent.speaking import Speaking, heard_out
from voice_agent.stt import Transcriber, Transcription
from voice_agent.tts import Voice
from voice_agent.turn import STOP_PHRASE, Ending, Turn, Watch

log = logging.getLogger(__name__)

_RECORDED = (Transcript, Round, ToolCall, WriteBegun, ToolResult, AskedBack, Finishing, Sentence)
"""The events that the ledger keeps of a running turn (pieces of text are in its end)."""


@dataclass
class Stages:
    """What a session works with. Without voice or speaker nothing is spoken.

    ``documents`` is how many the library holds; ``recordings`` keep what the microphone heard.
    ``first_clause_chars``: see `Speaking`.
    """

    research: Answers
    ledger: Ledger
    documents: int = 0
    transcriber: Transcriber | None = None
    voice: Voice | None = None
    speaker: Speaker | None = None
    language: str = "en"
    recordings: Recordings | None = None
    first_clause_chars: int = 0


@dataclass(frozen=True)
class _Spoken:
    """A spoken question, from a recording or the microphone; its text may be there already."""

    sound: Sound
    source: str | None = None
    said: Awaitable[Transcription] | None = None


class Session:
    """A conversation: at most one turn at a time, each with exactly one ending.

    ``exchanges`` are what it remembers of earlier turns; without them each question stands alone.
    """

    def __init__(
        self,
        stages: Stages,
        listener: Listener,
        clock: Callable[[], float] = time.monotonic,
        *,
        exchanges: Exchanges | None = None,
    ) -> None:
        self._stages = stages
        self._listener = listener
        self._clock = clock
        self._exchanges = exchanges
        self._entries = Entries(stages.ledger)
        self._entry = Entry(stages.ledger, None)
        self._turn: Turn | None = None
        self._speaking_now: Speaking | None = None
        self._last: Answer | None = None

    @property
    def can_repeat(self) -> bool:
        """Whether there is an answer that "repeat that" can mean."""
        return self._last is not None

    async def ask(
        self, question: str, *, began: Callable[[int | LedgerError], None] = lambda _: None
    ) -> Ending:
        """Answer a typed question.

        ``began`` gets the id of its turn, or the error for which the ledger cannot take it: that
        is its ending, too.
        """
        turn = self._begin(question, "typed")
        if (told := turn.id or self._entry.fault) is not None:
            began(told)
        return await self._run(turn, question)

    async def hear(
        self,
        sound: Sound,
        *,
        source: str | None = None,
        spoken_until_s: float | None = None,
        said: Awaitable[Transcription] | None = None,
    ) -> Ending:
        """Answer a spoken question; ``source`` names the recording it is from.

        ``spoken_until_s`` is when its last word ended, on the session's clock: timings count from
        there. ``said`` is what was understood of it, where that is being found out already. A
        recording without words is an error; at the microphone it is nothing, and words that only
        tell to stop cancel the turn.
        """
        turn = self._begin("", "spoken")
        ending = await self._run(turn, _Spoken(sound, source, said), zero=spoken_until_s)
        if source is None and turn.id is not None and self._stages.recordings is not None:
            self._stages.recordings.keep(turn.id, sound)
            self._stages.recordings.tidy_daily(self._stages.ledger.existing)
        return ending

    async def ask_back(self, question: str) -> bool:
        """Say ``question`` in the middle of the turn; return whether it was heard, once it was."""
        if self._turn is None or self._speaking_now is None:
            return False
        self._emit(self._turn, AskedBack(turn=self._turn.id, text=question))
        return await self._speaking_now.put(question)

    async def understand(self, sound: Sound, said: Awaitable[Transcription] | None) -> str:
        """Return what was said to the turn that runs: an answer to `ask_back`. See `hear`."""
        if self._turn is None:
            return ""
        try:
            return (await self._transcribe(self._turn, _Spoken(sound, said=said))).text
        except TranscriptionError as error:
            log.warning("The answer to a question could not be understood: %s", error)
            return ""

    def cancel(self, cause: str) -> None:
        """Cancel the turn that runs, if one does."""
        if self._turn is not None:
            self._turn.cancel(cause)

    def _begin(self, question: str, kind: Kind) -> Turn:
        """Begin a turn; one that the ledger cannot take has no id, and only fails."""
        language = self._stages.language
        self._entry = self._entries.begin(question, kind=kind, language=language)
        self._turn = turn = Turn(self._entry.turn, self._clock)
        turn.record = self._entry.add
        return turn

    async def _run(self, turn: Turn, asked: str | _Spoken, *, zero: float | None = None) -> Ending:
        watch = Watch(turn, turn.began if zero is None else zero)
        if zero is not None:
            watch.note("endpoint")
        ending = await turn.supervise(self._work(turn, watch, asked))
        fault = self._remember(turn, ending, watch.timings)
        if fault is not None:
            self._listener(Unrecorded(turn=turn.id, message=fault.message, mend=fault.mend))
        self._listener(ending)
        await self._apologise(turn, ending, recorded=fault is None)
        self._turn = self._speaking_now = None
        return ending

    def _remember(self, turn: Turn, ending: Ending, timings: Timings) -> LedgerError | None:
        """Keep what came of ``turn``; return what kept the ledger from it, if anything did."""
        heard = turn.heard_text()
        if isinstance(ending, Answer):
            self._last = ending
        elif heard:
            self._last = None  # "repeat that" would mean what was interrupted: the model's task
        if self._exchanges is not None:
            read = ending.text if isinstance(ending, Answer) and not ending.spoken else ""
            self._exchanges.add(turn.question, heard or read, self._clock())
        return self._entry.end(ending, streamed=turn.streamed, timings=timings, heard=heard)

    async def _work(self, turn: Turn, watch: Watch, asked: str | _Spoken) -> Answer | Error:
        language = self._stages.language
        if turn.id is None and self._entry.fault is not None:
            raise self._entry.fault
        if isinstance(asked, str):
            question = asked.strip()
        else:
            said = await self._transcribe(turn, asked)
            watch.note("transcript")
            question, language = said.text, said.language
            if not question:
                return nothing_said(turn, asked.source)
            if asked.source is None and is_stop(question):
                turn.cancel(STOP_PHRASE)
                raise Cancelled("We were told to stop.")
        turn.question = question
        speaking = self._speaking(turn, watch)
        if self._last is not None and asks_to_repeat(question):
            return await self._repeat(turn, watch, self._last, speaking)
        return await self._answer(turn, watch, question, language=language, speaking=speaking)

    async def _repeat(
        self, turn: Turn, watch: Watch, last: Answer, speaking: Speaking | None
    ) -> Answer:
        """Say the last answer once more; nothing is looked up or written anew."""
        watch.note("first_token")
        self._emit(turn, AnswerText(turn=turn.id, text=last.text))
        if speaking is not None:
            speaking.feed(last.spoken or last.text)
            speaking.end()
            await heard_out(asyncio.create_task(speaking.run()))
        watch.note("answer_end")
        spoken = speaking.spoken_text if speaking is not None else ""
        return again(last, turn=turn.id, spoken=spoken, timings=watch.timings)

    async def _transcribe(self, turn: Turn, spoken: _Spoken) -> Transcription:
        if self._stages.transcriber is None:
            raise TranscriptionError("There is no speech-to-text model.")
        if spoken.said is not None:
            said = await asyncio.shield(spoken.said)
        else:
            said = await self._stages.transcriber.transcribe(
                spoken.sound, language=self._stages.language, stop=turn.stop
            )
        self._emit(
            turn,
            Transcript(
                turn=turn.id,
                text=said.text,
                language=said.language,
                audio_s=said.audio_s,
                stt_s=said.stt_s,
                file=spoken.source,
            ),
        )
        return said

    def _speaking(self, turn: Turn, watch: Watch) -> Speaking | None:
        stages = self._stages
        if stages.voice is None or stages.speaker is None:
            return None
        speaking = Speaking(
            stages.voice,
            stages.speaker,
            turn=turn.id,
            stop=turn.stop,
            emit=lambda event: self._emit(turn, event),
            first_clause_chars=stages.first_clause_chars,
        )
        speaking.on_first_sentence = lambda: watch.note("first_sentence")
        speaking.on_first_sound = lambda: watch.note("first_sound")
        turn.silenced_by(stages.speaker.abort)
        turn.heard_text = lambda: speaking.heard_text
        self._speaking_now = speaking
        return speaking

    async def _answer(
        self,
        turn: Turn,
        watch: Watch,
        question: str,
        *,
        language: str,
        speaking: Speaking | None,
    ) -> Answer:
        def emit(event: Event) -> None:
            if isinstance(event, AnswerText):
                watch.note("first_token")
                if speaking is not None:
                    speaking.feed(event.text)
            self._emit(turn, event)

        inquiry = Inquiry(
            question=question,
            turn=turn.id,
            stop=turn.stop,
            emit=emit,
            language=language if language in LANGUAGES else "en",
            history=self._exchanges.messages(self._clock()) if self._exchanges else (),
            conversation=self._entries.conversation,
        )
        reply = await self._speak_while(self._stages.research.reply(inquiry), speaking)
        watch.note("answer_end")
        spoken = speaking.spoken_text if speaking is not None else ""
        return answered(turn, reply, spoken, watch.timings)

    async def _speak_while(
        self, writing: Coroutine[Any, Any, Reply], speaking: Speaking | None
    ) -> Reply:
        """Speak the answer while it is written; what was written before a failure, too."""
        if speaking is None:
            return await writing
        talk = asyncio.create_task(speaking.run())
        try:
            return await writing
        except asyncio.CancelledError:
            talk.cancel()
            raise
        finally:
            speaking.end()
            await heard_out(talk)

    async def _apologise(self, turn: Turn, ending: Ending, *, recorded: bool) -> None:
        stages, name = self._stages, apology(ending, recorded=recorded)
        if name is not None and stages.voice is not None and stages.speaker is not None:
            await say_after(turn, name, stages.voice, stages.speaker, emit=self._listener)

    def _emit(self, turn: Turn, event: Event) -> None:
        """Pass an event of ``turn`` on; of a cancelled turn only what was heard is told.

        The ledger keeps what came of a write that ran on when its turn was cancelled, and what the
        request in which it was cancelled has cost, too.
        """
        if turn.cancelled and isinstance(event, ToolResult | Round):
            turn.record(event)
        if turn.cancelled and not isinstance(event, PlaybackEnded):
            return
        if isinstance(event, AnswerText):
            turn.streamed += event.text
        if isinstance(event, _RECORDED):
            turn.record(event)
        self._listener(event)
