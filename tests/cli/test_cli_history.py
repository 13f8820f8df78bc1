import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from voice_agent.cli.parser import run
from voice_agent.events import Answer, Round, ToolCall, ToolResult, WriteBegun
from voice_agent.ledger import Ledger

Output = pytest.CaptureFixture[str]
ANSWER = Answer(
    text="On Tuesday.",
    spoken="On Tuesday.",
    basis="complete",
    reason="none",
    sources=(),
    rounds=1,
    charged_tokens=10,
    answer_tokens=5,
)
STEPS = (
    Round(n=1, prompt_tokens=300, reused_tokens=200, output_tokens=20, reserved=612, charged=120),
    ToolCall(id="1.1", name="add_note", arguments={"text": "milk"}),
    WriteBegun(id="1.1", name="add_note", arguments={"text": "milk"}),
    ToolResult(id="1.1", status="ok", chars=8, new_evidence=0, text="Written."),
)


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "voice-agent" / "ledger.sqlite3"


@pytest.fixture
def turns(path: Path) -> list[int]:
    with Ledger.open(path) as ledger:
        ids = [ledger.begin_turn(q, kind="typed", language="en") for q in ("When?", "Why?")]
        ledger.step(ids[0], Round(n=1))
        ledger.end_turn(ids[0], ANSWER)
    return ids


def at_a_terminal(answer: str) -> int:
    """Run ``history delete --all`` with ``answer`` typed at a terminal; return its exit code."""
    keyboard, terminal = pty.openpty()
    os.write(keyboard, answer.encode())
    command = [sys.executable, "-m", "voice_agent", "history", "delete", "--all"]
    done = subprocess.run(command, stdin=terminal, capture_output=True, check=False)
    os.close(keyboard)
    os.close(terminal)
    return done.returncode


def test_turns_are_listed_newest_last(capsys: Output, turns: list[int]) -> None:
    assert run(["history", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [turn["question"] for turn in listed] == ["When?", "Why?"]
    assert "steps" not in listed[0]


def test_the_list_can_be_read_by_a_person(capsys: Output, turns: list[int]) -> None:
    assert run(["history", "--limit", "2"]) == 0
    out = capsys.readouterr().out
    assert "When?" in out and "On Tuesday." in out and "answered (complete)" in out


@pytest.mark.parametrize("command", ["history", "history conversations"])
def test_an_empty_history_says_so_and_succeeds(capsys: Output, command: str) -> None:
    assert run(command.split()) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "voice-agent: nothing has been asked yet.\n")


@pytest.mark.parametrize("command", ["history show 1 --json", "history --json show 1"])
def test_one_turn_is_shown_with_its_steps(capsys: Output, turns: list[int], command: str) -> None:
    assert run(command.split()) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert [step["kind"] for step in steps] == ["round", "answer"]


def test_a_person_sees_the_steps_too(capsys: Output, turns: list[int]) -> None:
    assert run(["history", "show", str(turns[0])]) == 0
    out = capsys.readouterr().out
    assert "question  When?" in out and "1  round" in out


def test_a_person_sees_rounds_calls_results_and_charges(capsys: Output, path: Path) -> None:
    with Ledger.open(path) as ledger:
        turn = ledger.begin_turn("When?", kind="typed", language="en")
        for event in STEPS:
            ledger.step(turn, event)
        ledger.end_turn(turn, replace(ANSWER, basis="forced", reason="time"))
    assert run(["history", "show", str(turn)]) == 0
    out = capsys.readouterr().out
    assert "answered (forced, time)" in out and "10 charged to research, 5 of the final" in out
    assert "round 1: 300 prompt tokens, 200 of them reused, 20 written" in out
    assert "612 reserved, 120 charged" in out
    assert 'call 1.1: add_note {"text": "milk"}' in out and "begun, it changes something" in out
    assert "result 1.1: ok, 0 new\n          Written." in out


def test_a_person_sees_that_a_writes_outcome_is_unknown(capsys: Output, path: Path) -> None:
    with Ledger.open(path) as ledger:
        turn = ledger.begin_turn("When?", kind="typed", language="en")
        ledger.step(turn, STEPS[2])
    assert run(["history", "show", str(turn)]) == 0
    assert "unknown   whether call 1.1 (add_note) was done" in capsys.readouterr().out


def test_conversations_are_listed_with_their_first_question(
    capsys: Output, turns: list[int]
) -> None:
    assert run(["history", "conversations", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["turns"], each["question"]) for each in listed] == [(1, "When?"), (1, "Why?")]
    assert run(["history", "conversations", "--limit", "1"]) == 0
    assert "1 turn  Why?" in capsys.readouterr().out


def test_the_turns_of_one_conversation_are_listed(capsys: Output, turns: list[int]) -> None:
    assert run(["history", "--conversation", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["question"] == "Why?"


def test_a_conversation_is_deleted_whole(path: Path, turns: list[int]) -> None:
    assert run(["history", "delete", "--conversation", "1", "--yes"]) == 0
    with Ledger.open(path) as ledger:
        assert [each.id for each in ledger.conversations()] == [2]
    assert b"When?" not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_a_conversation_that_is_not_there_is_named(capsys: Output) -> None:
    assert run(["history", "delete", "--conversation", "9", "--yes"]) == 1
    assert "There is no conversation 9." in capsys.readouterr().err


def test_a_turn_that_is_not_there_is_named(capsys: Output) -> None:
    assert run(["history", "show", "99"]) == 1
    assert "There is no turn 99." in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["0", "-1", "many", str(2**63)])
def test_a_limit_that_is_none_is_wrong_usage(limit: str) -> None:
    assert run(["history", "--limit", limit]) == 2


@pytest.mark.parametrize("arguments", [[], ["1", "--all"], ["--conversation", "1", "--all"]])
def test_delete_takes_a_turn_a_conversation_or_all(arguments: list[str]) -> None:
    assert run(["history", "delete", *arguments]) == 2


def test_one_turn_is_deleted(path: Path, turns: list[int]) -> None:
    assert run(["history", "delete", str(turns[0]), "--yes"]) == 0
    with Ledger.open(path) as ledger:
        assert [turn.question for turn in ledger.turns()] == ["Why?"]


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 130, 2)])
def test_a_person_is_asked_before_all_is_deleted(
    path: Path, turns: list[int], answer: str, code: int, left: int
) -> None:
    assert at_a_terminal(answer) == code
    with Ledger.open(path) as ledger:
        assert len(ledger.turns()) == left


@pytest.mark.parametrize("what", ["1", "--all", "--conversation=1"])
def test_the_recordings_of_deleted_turns_go_with_them(
    path: Path, turns: list[int], what: str
) -> None:
    folder = path.parent / "recordings"
    folder.mkdir()
    for turn in turns:
        (folder / f"turn-{turn}.wav").touch()
    assert run(["history", "delete", what, "--yes"]) == 0
    left = [] if what == "--all" else ["turn-2.wav"]
    assert [file.name for file in folder.iterdir()] == left


@pytest.mark.usefixtures("turns")
def test_the_turns_of_a_conversation_that_is_not_there(capsys: Output) -> None:
    assert run(["history", "--conversation", "99"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "There is no conversation 99." in err
