"""A real assistant at a virtual desk: asked, interrupted and measured from recordings."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from voice_agent.bench.barge_in import run_on
from voice_agent.bench.clips import spoken_form
from voice_agent.bench.questions import Question

SMALL = {
    "VOICE_AGENT_LLM__MODEL": "qwen2.5-coder-0.5b-instruct",
    "VOICE_AGENT_STT__MODEL": "whisper-tiny.en",
}


def bench(tmp_path: Path, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    homes = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG")}
    return subprocess.run(
        [sys.executable, "-m", "voice_agent", "bench", *args],
        env=os.environ | homes | SMALL | env,
        capture_output=True,
        text=True,
    )


def events_of(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.timeout(1800)
def test_the_wake_word_while_a_question_is_answered_is_measured(tmp_path: Path) -> None:
    done = bench(tmp_path, "barge-in", "--runs", "2", "--watch", "2", "--json")
    *runs, figures = events_of(done)
    assert (done.returncode, [run["event"] for run in runs]) == (0, ["interrupted"] * 2)
    assert all(run["detected"] and run["state"] and not run["stale_s"] for run in runs)
    assert all(-0.3 < run["word_to_detection_s"] < 1 for run in runs)
    assert (figures["runs"], figures["missed"], figures["rows"][-1]["runs"]) == (2, 0, 2)


def test_without_pulseaudio_it_says_what_to_install(tmp_path: Path) -> None:
    done = bench(tmp_path, "idle", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (3, "")
    assert "apt install pulseaudio" in done.stderr


def test_a_recording_without_the_wake_word_is_refused(tmp_path: Path) -> None:
    question = Path(__file__).parents[2] / "examples" / "question.flac"
    done = bench(tmp_path, "latency", "--wake", str(question))
    assert done.returncode == 1
    assert "no wake word is detected" in done.stderr


def test_several_questions_become_one_long_one() -> None:
    asked = [Question("q1", "Which colour?"), Question("q2", "How many?")]
    assert run_on(asked) == "Which colour and How many?"


def test_a_wake_word_is_said_by_its_name_or_that_of_its_model() -> None:
    assert spoken_form("hey_jarvis") == "Hey Jarvis"
    assert spoken_form("/models/okay_computer.json") == "Okay Computer"
