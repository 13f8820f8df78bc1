"""The conversation as a table: state and happening give the next state and what is to be done."""

from dataclasses import replace

import numpy as np
import pytest

from voice_agent.audio.format import Sound
from voice_agent.conversation import (
    Action,
    AskedBack,
    CancelRequested,
    CancelTurn,
    Conversation,
    DropCue,
    Happening,
    Listen,
    ListenRequested,
    NothingHeard,
    PlayCue,
    Question,
    QuestionHeard,
    SoundBegan,
    SpeechBegan,
    SpeechWasOurs,
    StartTurn,
    State,
    StopListening,
    TakeAnswer,
    TurnEnded,
    TurnFailed,
    Woken,
    step,
)
from voice_agent.turn import NOTHING_SAID, STOP_PHRASE

QUESTION = Question(Sound(np.zeros(10, np.float32), 16_000), spoken_until_s=1.0)
IDLE = Conversation(State.IDLE, turn=1)
LISTENING = Conversation(State.LISTENING, turn=1)
FOLLOW_UP = Conversation(State.LISTENING, turn=1, follow_up=True)
BEGUN = replace(FOLLOW_UP, begun=True)
THINKING = Conversation(State.THINKING, turn=1)
SPEAKING = Conversation(State.SPEAKING, turn=1)
ASKING = Conversation(State.LISTENING, turn=1, asking=True)
WAKE = CancelTurn("wake word")
READY, STOPPED = PlayCue("wake"), PlayCue("cancelled")

TABLE: list[tuple[Conversation, Happening, Conversation, tuple[Action, ...]]] = [
    (IDLE, Woken(), LISTENING, (READY,)),
    (LISTENING, Woken(), LISTENING, (READY,)),
    (FOLLOW_UP, Woken(), LISTENING, (READY,)),
    (THINKING, Woken(), LISTENING, (WAKE, READY)),
    (SPEAKING, Woken(), LISTENING, (WAKE, DropCue())),
    (IDLE, ListenRequested(), LISTENING, (Listen(), READY)),
    (LISTENING, ListenRequested(), LISTENING, (Listen(), READY)),
    (SPEAKING, ListenRequested(), LISTENING, (CancelTurn("listen"), Listen(), DropCue())),
    (FOLLOW_UP, SpeechBegan(), BEGUN, ()),
    (BEGUN, NothingHeard(), IDLE, (PlayCue("no_speech"),)),
    (BEGUN, SpeechWasOurs(), FOLLOW_UP, ()),
    (BEGUN, Woken(), LISTENING, (READY,)),
    (LISTENING, SpeechBegan(), LISTENING, ()),
    (LISTENING, SpeechWasOurs(), LISTENING, ()),
    (ASKING, SpeechWasOurs(), ASKING, ()),
    (IDLE, SpeechBegan(), IDLE, ()),
    (LISTENING, NothingHeard(), IDLE, (PlayCue("no_speech"),)),
    (FOLLOW_UP, NothingHeard(), IDLE, ()),
    (SPEAKING, NothingHeard(), SPEAKING, ()),
    (
        LISTENING,
        QuestionHeard(QUESTION),
        replace(THINKING, turn=2),
        (StartTurn(2, QUESTION), PlayCue("end_of_question")),
    ),
    (IDLE, QuestionHeard(QUESTION), IDLE, ()),
    (THINKING, QuestionHeard(QUESTION), THINKING, ()),
    (THINKING, SoundBegan(1), SPEAKING, (DropCue(),)),
    (THINKING, SoundBegan(0), THINKING, ()),
    (LISTENING, SoundBegan(1), LISTENING, ()),
    (THINKING, TurnEnded(1, answered=True), IDLE, ()),
    (SPEAKING, TurnEnded(1, answered=False), IDLE, ()),
    (THINKING, TurnEnded(1, answered=False, cause=STOP_PHRASE), IDLE, (STOPPED,)),
    (THINKING, TurnEnded(1, answered=False, cause=NOTHING_SAID), IDLE, (PlayCue("no_speech"),)),
    (LISTENING, TurnEnded(1, answered=False, cause=STOP_PHRASE), LISTENING, ()),
    (THINKING, TurnFailed(1), SPEAKING, (PlayCue("error"),)),
    (LISTENING, TurnFailed(1), LISTENING, ()),
    (THINKING, TurnEnded(0, answered=True), THINKING, ()),
    (LISTENING, TurnEnded(1, answered=True), LISTENING, ()),
    (IDLE, CancelRequested("cancel"), IDLE, ()),
    (LISTENING, CancelRequested("cancel"), IDLE, (StopListening(), STOPPED)),
    (FOLLOW_UP, CancelRequested("cancel"), IDLE, (StopListening(),)),
    (THINKING, CancelRequested("cancel"), IDLE, (CancelTurn("cancel"), STOPPED)),
    (SPEAKING, CancelRequested("cancel"), IDLE, (CancelTurn("cancel"), STOPPED)),
    (SPEAKING, AskedBack(1), ASKING, (DropCue(), Listen(8.0))),
    (SPEAKING, AskedBack(0), SPEAKING, ()),
    (LISTENING, AskedBack(1), LISTENING, ()),
    (ASKING, SpeechBegan(), ASKING, ()),
    (ASKING, SoundBegan(1), ASKING, ()),
    (
        ASKING,
        QuestionHeard(QUESTION),
        THINKING,
        (TakeAnswer(QUESTION), PlayCue("end_of_question")),
    ),
    (ASKING, NothingHeard(), THINKING, (TakeAnswer(None),)),
    (ASKING, Woken(), LISTENING, (WAKE, READY)),
    (ASKING, ListenRequested(), LISTENING, (CancelTurn("listen"), Listen(), READY)),
    (ASKING, CancelRequested("cancel"), IDLE, (CancelTurn("cancel"), StopListening(), STOPPED)),
    (THINKING, AskedBack(1, 5.5), ASKING, (DropCue(), Listen(2.5))),
    (THINKING, AskedBack(1, 8.0), THINKING, ()),
    (ASKING, TurnFailed(1), SPEAKING, (StopListening(), PlayCue("error"))),
    (ASKING, TurnEnded(1, answered=True), IDLE, (StopListening(),)),
]


@pytest.mark.parametrize(("before", "happening", "after", "actions"), TABLE)
def test_the_table(
    before: Conversation, happening: Happening, after: Conversation, actions: tuple[Action, ...]
) -> None:
    assert step(before, happening) == (after, actions)


def test_after_an_answer_it_listens_for_a_while() -> None:
    after, actions = step(replace(SPEAKING, follow_up_s=6.0), TurnEnded(1, answered=True))
    assert (after.state, after.follow_up, actions) == (State.LISTENING, True, (Listen(6.0),))


def test_where_someone_never_stops_talking_it_does_not() -> None:
    radio, _ = step(replace(LISTENING, follow_up_s=6.0), QuestionHeard(replace(QUESTION, cut=True)))
    after, actions = step(radio, TurnEnded(radio.turn, answered=True))
    assert (after.state, actions) == (State.IDLE, ())


def test_after_a_failure_it_does_not() -> None:
    after, actions = step(replace(SPEAKING, follow_up_s=6.0), TurnEnded(1, answered=False))
    assert (after.state, actions) == (State.IDLE, ())


@pytest.mark.parametrize(
    ("state", "rests"),
    [(IDLE, True), (FOLLOW_UP, True), (BEGUN, False), (LISTENING, False), (ASKING, False)],
)
def test_what_is_not_worth_waiting_for(state: Conversation, rests: bool) -> None:
    assert state.at_rest is rests
