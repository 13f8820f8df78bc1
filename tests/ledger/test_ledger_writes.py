"""Which writes have an outcome: research-loop.md, "Evidence and progress"."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent.events import ToolResult, ToolStatus, WriteBegun
from voice_agent.ledger import Ledger
from voice_agent.phrases import phrase

TESTS = Path(__file__).parent.parent
ASK = """
import asyncio, os, signal, sys
from pathlib import Path
from fakes import doing
from scripted_research import Research, call
from voice_agent.ledger import Ledger
from voice_agent.session import Session, Stages

folder, dies = Path(sys.argv[1]), sys.argv[2] == "dies"
with Ledger.open(folder / "ledger.sqlite3") as ledger:
    batch = [call("boiler"), call("milk", "note"), call("tyres")]
    research = Research(batch, ["I noted it."], timeout_s=10, in_doubt=ledger.in_doubt)
    research.asker.rest = None

    def write():
        with (folder / "note").open("a") as note:
            note.write("milk")
        research.clock.now_s += 11
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)

    research.note.meanwhile = doing(write)
    session = Session(Stages(research.loop, ledger), research.events.append)
    print(asyncio.run(session.ask("Note the milk, please.")).text, research.statuses, flush=True)
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "ledger.sqlite3") as ledger:
        yield ledger


def write(ledger: Ledger, outcome: ToolStatus | None, tool: str = "add_note") -> None:
    turn = ledger.begin_turn("Note it.", kind="typed", language="en")
    ledger.step(turn, WriteBegun(id="1.1", name=tool, arguments={"text": "milk"}))
    if outcome is not None:
        ledger.step(turn, ToolResult(id="1.1", status=outcome, chars=0, new_evidence=0))


@pytest.mark.parametrize(
    ("outcomes", "doubt"),
    [
        ([], False),
        ([None], True),
        (["ok"], False),
        (["error"], False),
        (["unknown"], True),
        ([None, "ok"], False),
        (["ok", None], True),
    ],
)
def test_a_write_without_an_outcome_is_in_doubt_until_the_next_one_has_one(
    ledger: Ledger, outcomes: list[ToolStatus | None], doubt: bool
) -> None:
    for outcome in outcomes:
        write(ledger, outcome)
    assert ledger.in_doubt("add_note") == ({"text": "milk"} if doubt else None)
    assert not ledger.in_doubt("delete_note")


def asked(folder: Path, how: str) -> subprocess.CompletedProcess[str]:
    """Let a program of its own answer the question that makes it write."""
    command = [sys.executable, "-c", ASK, str(folder), how]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_a_write_in_which_the_program_was_killed_is_not_done_again(tmp_path: Path) -> None:
    assert asked(tmp_path, "dies").returncode == -signal.SIGKILL
    with Ledger.open(tmp_path / "ledger.sqlite3") as ledger:
        assert ledger.turn(1).state == "interrupted"
        assert ledger.in_doubt("note") == {"query": "milk"}

    again = asked(tmp_path, "lives").stdout
    assert phrase("write_unknown", "en", action="note: milk") in again
    assert "['ok', 'declined', 'ok']" in again
    assert (tmp_path / "note").read_text() == "milk"


def test_what_time_left_over_beside_a_write_is_not_executed(tmp_path: Path) -> None:
    assert "['ok', 'ok', 'not_executed']" in asked(tmp_path, "lives").stdout
