"""Every reply is kept, however it ended: research-loop.md, "Ending"."""

from pathlib import Path

import pytest
from fakes import Script, doing
from scripted_research import FACTS, Research, call

from voice_agent.errors import ModelError
from voice_agent.ledger import Ledger, Turn
from voice_agent.session import Session, Stages

LOOK = [call("boiler"), call("nothing there")]


async def kept(research: Research, ledger: Ledger) -> Turn:
    """The record of the one reply of ``research``."""
    session = Session(Stages(research.loop, ledger), research.events.append)
    await session.ask("How high is the boiler pressure?")
    (turn,) = ledger.turns()
    return ledger.turn(turn.id)


def everything_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


def steps(turn: Turn, kind: str) -> list[dict[str, object]]:
    return [step.data for step in turn.steps if step.kind == kind]


async def test_an_answered_reply_is_kept_whole(ledger: Ledger) -> None:
    turn = await kept(Research(LOOK, ["It is 1.5 bar."], prefetch="search"), ledger)
    assert (turn.question, turn.text) == ("How high is the boiler pressure?", "It is 1.5 bar.")
    assert (turn.basis, turn.reason, turn.rounds) == ("complete", "none", 1)
    assert [data["n"] for data in steps(turn, "round")] == [0, 1, 2]
    assert [data["id"] for data in steps(turn, "tool_call")] == ["prefetch", "1.1", "1.2"]
    assert [data["status"] for data in steps(turn, "tool_result")] == ["empty", "ok", "empty"]
    assert FACTS["boiler"] in str(steps(turn, "tool_result")[1]["text"])
    assert turn.timings["first_token"] is not None


async def test_reservations_and_charges_are_kept(ledger: Ledger) -> None:
    turn = await kept(Research(LOOK, ["It is 1.5 bar."]), ledger)
    rounds = steps(turn, "round")
    assert sum(int(str(data["charged"])) for data in rounds) == turn.charged_tokens
    assert all(int(str(r["reserved"])) > int(str(r["charged"])) > 0 for r in rounds)


async def test_a_forced_reply_keeps_its_notice_and_reason(ledger: Ledger) -> None:
    turn = await kept(Research(LOOK, ["It is 1.5 bar."], max_steps=2), ledger)
    assert (turn.basis, turn.reason) == ("forced", "steps")
    assert [data["reason"] for data in steps(turn, "finishing")] == ["steps"]


@pytest.mark.parametrize("script", [[ModelError("broken")], []])
async def test_a_fallback_is_kept(ledger: Ledger, script: list[ModelError]) -> None:
    turn = await kept(Research(LOOK, script, max_steps=2), ledger)
    assert (turn.basis, turn.reason) == ("fallback", "steps")
    assert FACTS["boiler"] in (turn.text or "")


async def test_a_cancelled_reply_keeps_what_was_streamed(ledger: Ledger) -> None:
    research = Research(LOOK)
    session = Session(Stages(research.loop, ledger), research.events.append)
    cancelled: Script = ["It is ", doing(lambda: session.cancel("wake")), "1.5 bar."]
    research.model.replies.append(cancelled)
    await session.ask("How high is the boiler pressure?")
    turn = ledger.turn(ledger.turns()[0].id)
    assert (turn.state, turn.reason, turn.text) == ("cancelled", "wake", "It is ")
    assert turn.timings["first_token"] is not None and turn.timings["answer_end"] is None
    assert [data["status"] for data in steps(turn, "tool_result")] == ["ok", "empty"]


async def test_a_failed_reply_keeps_its_evidence_and_what_was_streamed(ledger: Ledger) -> None:
    turn = await kept(Research(LOOK, ["It is", ModelError("out of memory")]), ledger)
    assert (turn.state, turn.error_stage, turn.text) == ("failed", "llm", "It is")
    assert "out of memory" in (turn.error_message or "")
    assert FACTS["boiler"] in str(steps(turn, "tool_result")[0]["text"])


async def test_a_reply_that_is_kept_can_be_deleted_whole(ledger: Ledger, tmp_path: Path) -> None:
    turn = await kept(Research(LOOK, ["It is 1.5 bar."]), ledger)
    ledger.delete(turn.id)
    on_disk = everything_in(tmp_path)
    assert b"boiler" not in on_disk and b"1.5 bar" not in on_disk
