"""The conversation as a table: state and happening give the next state and what is to be done."""

from dataclasses import replace

import numpy as np
import pytest

from voice_agent.audio.format import Sound
from voice_agent.conversation import (
    Action,
    CancelRequested,
    CancelTurn,
    Conversation,
    Happening,
    Listen,
    ListenRequested,
    NothingHeard,
    Question,
    QuestionHeard,
    SoundBegan,
    SpeechBegan,
    StartTurn,
    State,
    StopListening,
    TurnEnded,
    Woken,
    step,
)

QUESTION = Question(Sound(np.zeros(10, np.float32), 16_000), spoken_until_s=1.0)
IDLE = Conversation(State.IDLE, turn=1)
LISTENING = Conversation(State.LISTENING, turn=1)
FOLLOW_UP = Conversation(State.LISTENING, turn=1, follow_up=True)
THINKING = Conversation(State.THINKING, turn=1)
SPEAKING = Conversation(State.SPEAKING, turn=1)
WAKE = CancelTurn("wake word")

TABLE: list[tuple[Conversation, Happening, Conversation, tuple[Action, ...]]] = [
    (IDLE, Woken(), LISTENING, ()),
    (LISTENING, Woken(), LISTENING, ()),
    (FOLLOW_UP, Woken(), LISTENING, ()),
    (THINKING, Woken(), LISTENING, (WAKE,)),
    (SPEAKING, Woken(), LISTENING, (WAKE,)),
    (IDLE, ListenRequested(), LISTENING, (Listen(),)),
    (LISTENING, ListenRequested(), LISTENING, (Listen(),)),
    (SPEAKING, ListenRequested(), LISTENING, (CancelTurn("listen"), Listen())),
    (FOLLOW_UP, SpeechBegan(), LISTENING, ()),
    (IDLE, SpeechBegan(), IDLE, ()),
    (LISTENING, NothingHeard(), IDLE, ()),
    (FOLLOW_UP, NothingHeard(), IDLE, ()),
    (SPEAKING, NothingHeard(), SPEAKING, ()),
    (LISTENING, QuestionHeard(QUESTION), replace(THINKING, turn=2), (StartTurn(2, QUESTION),)),
    (IDLE, QuestionHeard(QUESTION), IDLE, ()),
    (THINKING, QuestionHeard(QUESTION), THINKING, ()),
    (THINKING, SoundBegan(1), SPEAKING, ()),
    (THINKING, SoundBegan(0), THINKING, ()),
    (LISTENING, SoundBegan(1), LISTENING, ()),
    (THINKING, TurnEnded(1, answered=True), IDLE, ()),
    (SPEAKING, TurnEnded(1, answered=False), IDLE, ()),
    (THINKING, TurnEnded(0, answered=True), THINKING, ()),
    (LISTENING, TurnEnded(1, answered=True), LISTENING, ()),
    (IDLE, CancelRequested("cancel"), IDLE, ()),
    (LISTENING, CancelRequested("cancel"), IDLE, (StopListening(),)),
    (THINKING, CancelRequested("cancel"), IDLE, (CancelTurn("cancel"),)),
    (SPEAKING, CancelRequested("cancel"), IDLE, (CancelTurn("cancel"),)),
]


@pytest.mark.parametrize(("before", "happening", "after", "actions"), TABLE)
def test_the_table(
    before: Conversation, happening: Happening, after: Conversation, actions: tuple[Action, ...]
) -> None:
    assert step(before, happening) == (after, actions)


def test_after_an_answer_it_listens_for_a_while() -> None:
    after, actions = step(replace(SPEAKING, follow_up_s=6.0), TurnEnded(1, answered=True))
    assert (after.state, after.follow_up, actions) == (State.LISTENING, True, (Listen(6.0),))


def test_after_a_failure_it_does_not() -> None:
    after, actions = step(replace(SPEAKING, follow_up_s=6.0), TurnEnded(1, answered=False))
    assert (after.state, actions) == (State.IDLE, ())


@pytest.mark.parametrize(("state", "rests"), [(IDLE, True), (FOLLOW_UP, True), (LISTENING, False)])
def test_what_is_not_worth_waiting_for(state: Conversation, rests: bool) -> None:
    assert state.at_rest is rests
