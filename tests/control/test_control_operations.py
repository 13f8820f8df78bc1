"""The operations of the control socket on a live assistant, and the status that it tells."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fakes import FakeEars, FakeMicrophone, FakeSpeaker, FakeVoice
from scripted_research import Research

from voice_agent.control.operations import Control
from voice_agent.control.protocol import Refused
from voice_agent.conversation import State
from voice_agent.desk import Desk
from voice_agent.events import Cancelled, Error, HearsAgain, Unrecorded, Unspoken, Wake
from voice_agent.ledger import Ledger
from voice_agent.live import Live
from voice_agent.session import Stages


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with Ledger.open(tmp_path / "ledger.sqlite3") as ledger:
        stages = Stages(Research([]).loop, ledger, voice=FakeVoice(), speaker=FakeSpeaker())
        desk = Desk(stages, FakeEars(), FakeMicrophone(), devices={"input": "desk", "output": None})
        yield Live(desk, lambda _: None)


def control(live: Live | None = None, stopped: list[str] | None = None) -> Control:
    made = Control((stopped if stopped is not None else []).append, {"llm": "tiny"})
    if live is not None:
        made.uses(live)
    return made


@pytest.mark.parametrize("op", ["listen", "cancel", "mute", "unmute"])
def test_what_needs_a_listening_assistant_is_refused_while_it_starts(op: str) -> None:
    with pytest.raises(Refused) as refusal:
        control().perform(op)
    assert refusal.value.code == "starting"


def test_a_starting_assistant_tells_its_status() -> None:
    status = control().status()
    assert (status["state"], status["models"]) == ("starting", {"llm": "tiny"})
    assert status["memory_mb"] > 10


async def test_listen_and_cancel_do_what_they_say(live: Live) -> None:
    made = control(live)
    made.perform("listen")
    assert made.status()["state"] == "listening"
    made.perform("cancel")
    assert live.state is State.IDLE


def test_a_muted_assistant_does_not_listen(live: Live) -> None:
    made = control(live)
    made.perform("mute")
    assert made.status()["muted"]
    with pytest.raises(Refused) as refusal:
        made.perform("listen")
    assert refusal.value.code == "muted"
    made.perform("unmute")
    made.perform("listen")


def test_there_is_nothing_to_repeat_before_the_first_answer(live: Live) -> None:
    with pytest.raises(Refused) as refusal:
        control(live).repeat(lambda _: None)
    assert refusal.value.code == "nothing_to_repeat"


def test_a_stop_ends_the_program_in_every_state() -> None:
    stopped: list[str] = []
    control(stopped=stopped).perform("stop")
    assert stopped == ["stop"]


def test_the_status_counts_and_remembers_the_last_trouble(live: Live) -> None:
    made = control(live)
    made(Wake(word="alexa", score=np.float32(0.9).item()))
    made(Cancelled(turn=1, cause="wake", silence_s=0, stopped_s=0, heard_text=""))
    made(Error(stage="audio", message="The microphone is gone.", mend="Connect it."))
    status = made.status()
    assert status["counters"] == {
        "wakes": 1,
        "questions": 1,
        "answers": 0,
        "cancelled": 1,
        "errors": 1,
    }
    assert status["trouble"]["message"] == "The microphone is gone."
    assert status["devices"] == {"input": "desk", "output": None}


def test_the_status_tells_when_the_microphone_is_back(live: Live) -> None:
    made = control(live)
    made(Error(stage="audio", message="The microphone is gone.", mend="Connect it."))
    assert made.status()["trouble"]["over"] is False
    made(HearsAgain(gone_s=3.0))
    assert made.status()["trouble"]["over"] is True


def test_an_answer_that_could_not_be_heard_is_a_trouble(live: Live) -> None:
    made = control(live)
    made(Unspoken(turn=1, message="The loudspeaker is gone."))
    assert made.status()["trouble"]["message"] == "The loudspeaker is gone."
    assert made.status()["counters"]["errors"] == 0


def test_a_turn_that_could_not_be_recorded_is_a_trouble(live: Live) -> None:
    made = control(live)
    made(Unrecorded(turn=1, message="The ledger is full.", mend="Make space."))
    trouble = made.status()["trouble"]
    assert (trouble["stage"], trouble["message"]) == ("ledger", "The ledger is full.")
    assert made.status()["counters"]["errors"] == 0
