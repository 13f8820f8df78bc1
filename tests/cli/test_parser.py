"""The command line: what is wrong is said in one line, with the documented exit code."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from voice_agent.cli.parser import build_parser, run
from voice_agent.errors import UsageError

Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "fly",
        "ask one two",
        "ask --fast",
        "ask --audio",
        "ask --out",
        "history --limit zero",
        "service logs -n 0",
    ],
)
def test_wrong_usage_is_one_line_and_2(capsys: Output, line: str) -> None:
    assert run(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("voice-agent: ") and err.count("\n") == 1
    assert "--help" in err


def test_wrong_usage_is_an_event_in_json(capsys: Output) -> None:
    assert run(["ask", "--json", "--fast"]) == 2
    event = json.loads(capsys.readouterr().out)
    assert (event["event"], event["stage"], event["turn"]) == ("error", "usage", None)


def test_debug_shows_where_it_failed() -> None:
    with pytest.raises(UsageError):
        run(["--debug", "ask", "--fast"])


def test_every_verb_explains_itself() -> None:
    groups = build_parser()._subparsers
    assert groups is not None
    verbs = groups._group_actions[0].choices
    assert verbs is not None and {"ask", "say", "library", "models", "settings"} <= set(verbs)
    for verb in verbs:
        with pytest.raises(SystemExit) as end:
            run([verb, "--help"])
        assert end.value.code == 0


def test_a_reader_that_leaves_is_no_fault() -> None:
    done = subprocess.run(
        f"{sys.executable} -m voice_agent settings list --json | head -c 1",
        shell=True,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_version_is_that_of_the_package(capsys: Output) -> None:
    package = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    with pytest.raises(SystemExit) as end:
        run(["--version"])
    assert end.value.code in (None, 0)
    assert capsys.readouterr().out == f"voice-agent {package['project']['version']}\n"
