"""Standard output that is full, closed, or read no more: what is said, and what goes on."""

import asyncio
import errno
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fakes import FakeSpeaker, FakeVoice
from live_room import WAKE, Room
from scripted_research import Research

from voice_agent.cli.live_screen import LiveScreen
from voice_agent.cli.output import JsonLines, Output
from voice_agent.cli.screen import Screen
from voice_agent.errors import OutputError
from voice_agent.events import Answer, Cancelled, Wake
from voice_agent.ledger import Ledger
from voice_agent.live import Live
from voice_agent.session import Session, Stages

FULL = OutputError("The output cannot be written.")
GONE = BrokenPipeError(errno.EPIPE, "Broken pipe")
LONG = ["It is red.\nSo is", " the roof.\nAnd the", " door."]


class Failing(io.StringIO):
    """An output that takes so many writes, and then fails as told."""

    def __init__(self, writes: int, failure: Exception) -> None:
        super().__init__()
        self.left = writes
        self.failure = failure

    def write(self, text: str) -> int:
        self.left -= 1
        if self.left < 0:
            raise self.failure
        return super().write(text)


def program(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``line`` in a shell, where VA is the program, with nothing of ours at hand."""
    script = f'VA="{sys.executable} -m voice_agent"; {line}'
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "DATA", "CACHE")}
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), **homes}
    return subprocess.run(
        ["bash", "-c", script], env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "line", ["settings list", "settings list --json", "models list", "--help", "ask --help"]
)
def test_a_full_output_is_one_clear_line(tmp_path: Path, line: str) -> None:
    done = program(f"$VA {line} >/dev/full", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("voice-agent: The output cannot be written: No space left on dev")
    assert done.stderr.count("\n") == 1


def test_wrong_usage_is_told_from_a_full_output(tmp_path: Path) -> None:
    done = program("$VA settings get nothing --json >/dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("voice-agent: nothing: unknown") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("line", ["$VA settings list >&-", "$VA settings get tts.rate 2>&-"])
def test_a_closed_output_is_no_fault(tmp_path: Path, line: str) -> None:
    done = program(line, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_that_lacks_a_letter_gets_the_rest(tmp_path: Path) -> None:
    (tmp_path / "Bücher").mkdir()
    (tmp_path / "Bücher" / "a.md").write_text("# A\n\nThe letter.\n")
    done = program(f"export PYTHONIOENCODING=ascii; $VA library add '{tmp_path}/Bücher'", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{tmp_path}/B?cher: 1 document added." in done.stdout


@pytest.mark.parametrize("line", ["$VA settings list | head -c 1", "$VA --help | head -c 1"])
def test_a_reader_that_leaves_is_no_fault(tmp_path: Path, line: str) -> None:
    done = program(f"set -o pipefail; {line}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("failure", [FULL, GONE])
async def test_an_answer_that_is_still_heard_goes_on_when_the_output_fails(
    ledger: Ledger, failure: Exception
) -> None:
    output = Output(Failing(1, failure))
    stages = Stages(
        Research(LONG).loop, ledger, voice=FakeVoice(), speaker=FakeSpeaker(instant=True)
    )
    ending = await Session(stages, Screen(output)).ask("Which colour?")
    assert isinstance(ending, Answer) and ending.text.endswith("And the door.")
    assert [(turn.state, turn.text) for turn in ledger.turns(9)] == [("answered", ending.text)]
    with pytest.raises(type(failure)):
        output.check()


async def test_an_answer_that_nobody_reads_on_is_cancelled(ledger: Ledger) -> None:
    output = Output(Failing(1, FULL))
    session = Session(Stages(Research(LONG).loop, ledger), Screen(output))
    output.lost = lambda: session.cancel("output lost")
    assert isinstance(await session.ask("Which colour?"), Cancelled)
    assert ledger.turns(9)[0].state == "cancelled"


async def test_an_answer_that_was_whole_stays_one(ledger: Ledger) -> None:
    whole = sum(isinstance(part, str) for part in LONG)
    output = Output(Failing(whole, FULL))
    session = Session(Stages(Research(LONG).loop, ledger), Screen(output))
    output.lost = lambda: session.cancel("output lost")
    assert isinstance(await session.ask("Which colour?"), Answer)
    assert ledger.turns(9)[0].state == "answered"


async def test_where_nobody_reads_on_the_assistant_ends(ledger: Ledger) -> None:
    room, output = Room(ledger), Output(Failing(1, GONE))
    live = Live(room.desk, LiveScreen(output))
    output.lost = lambda: live.stop("output lost")
    listening = asyncio.create_task(live.run())
    await room.hears(WAKE)
    assert not listening.done()
    await room.hears(WAKE)
    await asyncio.wait_for(listening, 10)
    assert room.ears.coming == []


def test_an_output_that_works_is_passed_on_and_has_nothing_to_tell() -> None:
    stream = io.StringIO()
    output = Output(stream)
    JsonLines(output)(Wake(word="alexa", score=0.9))
    output.check()
    assert json.loads(stream.getvalue())["word"] == "alexa"
