"""What is left when the program is killed while it writes."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from voice_agent.ledger import Ledger
from voice_agent.ledger.writer import is_running, name_of_process, this_process

WRITE_FOREVER = """
import sys
from itertools import count
from pathlib import Path
from voice_agent.events import Sentence
from voice_agent.ledger import Ledger

with Ledger.open(Path(sys.argv[1])) as ledger:
    turn = ledger.begin_turn("When?", kind="typed", language="en")
    for n in count(1):
        ledger.step(turn, Sentence(n=n, text="word " * 2000))
        sys.stdout.write(f"{n}\\n")
        sys.stdout.flush()
"""


def killed_while_writing(path: Path, after: int) -> int:
    """Return the number of the last step that the killed program knew to be written."""
    command = [sys.executable, "-c", WRITE_FOREVER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        for _ in range(after):
            program.stdout.readline()
        program.kill()
        return after + len(program.stdout.read().split())


@pytest.mark.parametrize("after", [1, 7, 40])
def test_a_killed_program_loses_at_most_the_step_it_was_writing(tmp_path: Path, after: int) -> None:
    path = tmp_path / "ledger.sqlite3"
    written = killed_while_writing(path, after)
    with Ledger.open(path) as ledger:
        (turn,) = ledger.turns()
        steps = ledger.turn(turn.id).steps
    assert turn.state == "interrupted"
    assert [step.n for step in steps] == list(range(1, len(steps) + 1))
    assert len(steps) in (written, written + 1)
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_this_process_runs() -> None:
    assert is_running(this_process())


@pytest.mark.parametrize("name", ["", "1:0:x", "999999999:1:x", "x:y"])
def test_a_process_of_another_start_or_name_does_not(name: str) -> None:
    assert not is_running(name)


def test_a_process_that_ended_does_not_run() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as program:
        name = name_of_process(program.pid)
        assert name and is_running(name)
    assert not is_running(name)
