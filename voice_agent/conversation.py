"""The conversation as a pure function: a state and what happened give the next state and actions.

No sound, clock or task here: `voice_agent.live` does what the actions say, at once and in order.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import Enum

from voice_agent.audio.cues import Cue
from voice_agent.audio.format import Sound
from voice_agent.errors import VoiceAgentError
from voice_agent.stt import Transcription
from voice_agent.turn import NOTHING_SAID, STOP_PHRASE

_CUE_OF_CAUSE: dict[str, Cue] = {NOTHING_SAID: "no_speech", STOP_PHRASE: "cancelled"}


class State(Enum):
    """What the assistant does now."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"


@dataclass(frozen=True)
class Conversation:
    """The state: ``turn`` counts the questions so far; the last of them is the one that runs.

    ``follow_up``: we listen because an answer ended; ``begun``: and someone has begun to speak.
    ``cut``: the last question did not end by itself, as where a radio talks. ``asking``: we listen
    because the turn, which goes on, has asked the user, for ``answer_s`` at most.
    """

    state: State = State.IDLE
    turn: int = 0
    follow_up: bool = False
    begun: bool = False
    follow_up_s: float = 0.0
    cut: bool = False
    asking: bool = False
    answer_s: float = 8.0

    @property
    def answering(self) -> bool:
        """Whether a turn runs."""
        return self.asking or self.state in (State.THINKING, State.SPEAKING)

    @property
    def at_rest(self) -> bool:
        """Whether nothing goes on that is worth waiting for."""
        return self.state is State.IDLE or (self.follow_up and not self.begun)


@dataclass(frozen=True)
class Question:
    """A spoken question; ``spoken_until_s`` is when its last word ended, on the loop's clock.

    ``said`` is its text, where one is being made already. ``cut``: it was ended for its length.
    """

    sound: Sound
    spoken_until_s: float
    said: Awaitable[Transcription] | None = None
    cut: bool = False


@dataclass(frozen=True)
class Typed:
    """A typed question.

    ``began`` gets the id of its turn, the error for which it cannot begin, or None where something
    else came before it began.
    """

    text: str
    began: Callable[[int | VoiceAgentError | None], None]


@dataclass(frozen=True)
class Woken:
    """The wake word was heard; the front end listens to a question already."""


@dataclass(frozen=True)
class ListenRequested:
    """Someone asked us to listen, as if the wake word had been said."""


@dataclass(frozen=True)
class SpeechBegan:
    """Someone speaks to us."""


@dataclass(frozen=True)
class SpeechWasOurs:
    """What seemed to be someone's speech was the echo of what we had played."""


@dataclass(frozen=True)
class QuestionHeard:
    """A whole question was spoken."""

    question: Question


@dataclass(frozen=True)
class QuestionTyped:
    """A question was typed, whatever goes on."""

    question: Typed


@dataclass(frozen=True)
class NothingHeard:
    """We listened, and nobody spoke in time."""


@dataclass(frozen=True)
class SoundBegan:
    """The first sound of the answer of ``turn``."""

    turn: int


@dataclass(frozen=True)
class AskedBack:
    """``turn`` has asked the user, who has heard the question to its end.

    ``spent_s``: how much of the time for the answer is over, because what was heard was none.
    """

    turn: int
    spent_s: float = 0.0


@dataclass(frozen=True)
class TurnEnded:
    """``turn`` is over; ``answered``: with an answer that was heard to its end.

    ``cause`` is why it cancelled itself, if it did.
    """

    turn: int
    answered: bool
    cause: str = ""


@dataclass(frozen=True)
class TurnFailed:
    """``turn`` ended with an error; it says so, and then it is over."""

    turn: int


@dataclass(frozen=True)
class CancelRequested:
    """Someone asked us to stop, without another question."""

    cause: str


Happening = (
    Woken
    | ListenRequested
    | SpeechBegan
    | SpeechWasOurs
    | QuestionHeard
    | QuestionTyped
    | NothingHeard
    | SoundBegan
    | AskedBack
    | TurnFailed
    | TurnEnded
    | CancelRequested
)


@dataclass(frozen=True)
class CancelTurn:
    """Be silent, and stop all that the running turn does."""

    cause: str


@dataclass(frozen=True)
class Listen:
    """Expect a question; its first word within ``wait_s``, where that is given."""

    wait_s: float | None = None


@dataclass(frozen=True)
class StopListening:
    """Expect no question any more."""


@dataclass(frozen=True)
class StartTurn:
    """Answer ``question`` as turn number ``turn``."""

    turn: int
    question: Question | Typed


@dataclass(frozen=True)
class TakeAnswer:
    """Give the turn the answer to its question; None: there is none."""

    answer: Question | None


@dataclass(frozen=True)
class PlayCue:
    """Let ``cue`` be heard, in place of any other."""

    cue: Cue


@dataclass(frozen=True)
class DropCue:
    """Let no cue be heard any more."""


Action = CancelTurn | Listen | StopListening | StartTurn | TakeAnswer | PlayCue | DropCue


def step(now: Conversation, happening: Happening) -> tuple[Conversation, tuple[Action, ...]]:
    """Return what ``happening`` makes of ``now``, and what is to be done, in this order.

    What does not fit the state is late or stale, and changes nothing.
    """
    match happening:
        case Woken():
            return _listening(now), (*_cancelling(now, "wake word"), _ready(now))
        case ListenRequested():
            return _listening(now), (*_cancelling(now, "listen"), Listen(), _ready(now))
        case QuestionTyped(question):
            thinking, starting = _thinking(now, question)
            return thinking, (*_making_way(now), *starting)
        case CancelRequested(cause):
            return _cancelled(now, cause)
        case SoundBegan(turn) if now.state is State.THINKING and turn == now.turn:
            return replace(now, state=State.SPEAKING), (DropCue(),)
        case AskedBack(turn, spent_s) if now.answering and turn == now.turn:
            return _asking(now, now.answer_s - spent_s)
        case TurnFailed(turn) if now.answering and turn == now.turn:
            failed = replace(now, state=State.SPEAKING, asking=False)
            return failed, (*_no_answer(now), PlayCue("error"))
        case TurnEnded(turn, answered, cause) if now.answering and turn == now.turn:
            after, actions = _ended(now, answered, cause)
            return after, (*_no_answer(now), *actions)
    if now.asking:
        return _while_asking(now, happening)
    return _while_listening(now, happening) if now.state is State.LISTENING else (now, ())


def _asking(now: Conversation, left_s: float) -> tuple[Conversation, tuple[Action, ...]]:
    if left_s <= 0:
        return now, ()
    return replace(_listening(now), asking=True), (DropCue(), Listen(left_s))


def _while_asking(
    now: Conversation, happening: Happening
) -> tuple[Conversation, tuple[Action, ...]]:
    thinking = replace(now, state=State.THINKING, asking=False)
    match happening:
        case NothingHeard():
            return thinking, (TakeAnswer(None),)
        case QuestionHeard(answer):
            radio = replace(thinking, cut=now.cut or answer.cut)
            return radio, (TakeAnswer(answer), PlayCue("end_of_question"))
    return now, ()


def _while_listening(
    now: Conversation, happening: Happening
) -> tuple[Conversation, tuple[Action, ...]]:
    match happening:
        case SpeechBegan():
            return replace(now, begun=now.follow_up), ()
        case SpeechWasOurs():
            return replace(now, begun=False), ()
        case NothingHeard():
            return _idle(now), () if now.at_rest else (PlayCue("no_speech"),)
        case QuestionHeard(question):
            thinking, actions = _thinking(now, question)
            return replace(thinking, cut=question.cut), (*actions, PlayCue("end_of_question"))
    return now, ()


def _thinking(
    now: Conversation, question: Question | Typed
) -> tuple[Conversation, tuple[Action, ...]]:
    turn = now.turn + 1
    thinking = replace(_listening(now), state=State.THINKING, turn=turn, cut=False)
    return thinking, (StartTurn(turn, question),)


def _ended(
    now: Conversation, answered: bool, cause: str
) -> tuple[Conversation, tuple[Action, ...]]:
    """Listen on after an answer, but not where someone speaks who never stops: a radio."""
    if not answered or now.cut or now.follow_up_s <= 0:
        cue = _CUE_OF_CAUSE.get(cause)
        return _idle(now), (PlayCue(cue),) if cue else ()
    return replace(_listening(now), follow_up=True), (Listen(now.follow_up_s),)


def _making_way(now: Conversation) -> tuple[Action, ...]:
    """End what goes on for a typed question; nobody who listens needs to be told."""
    stopping = (StopListening(),) if now.state is State.LISTENING else ()
    return (*_cancelling(now, "ask"), *stopping, DropCue())


def _cancelled(now: Conversation, cause: str) -> tuple[Conversation, tuple[Action, ...]]:
    if now.at_rest:
        return _idle(now), (StopListening(),) if now.follow_up else ()
    stopping = (StopListening(),) if now.state is State.LISTENING else ()
    return _idle(now), (*_cancelling(now, cause), *stopping, PlayCue("cancelled"))


def _no_answer(now: Conversation) -> tuple[Action, ...]:
    """End the listening to an answer that nobody waits for any more."""
    return (StopListening(),) if now.asking else ()


def _cancelling(now: Conversation, cause: str) -> tuple[CancelTurn, ...]:
    return (CancelTurn(cause),) if now.answering else ()


def _ready(now: Conversation) -> PlayCue | DropCue:
    """Who silences an answer hears by the silence that we listen."""
    return DropCue() if now.state is State.SPEAKING else PlayCue("wake")


def _listening(now: Conversation) -> Conversation:
    return replace(now, state=State.LISTENING, follow_up=False, begun=False, asking=False)


def _idle(now: Conversation) -> Conversation:
    return replace(now, state=State.IDLE, follow_up=False, begun=False, asking=False)
