"""The assistant and a stock pipeline at one virtual desk, with small real models."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = {
    "VOICE_AGENT_LLM__MODEL": "qwen2.5-coder-0.5b-instruct",
    "VOICE_AGENT_STT__MODEL": "whisper-tiny.en",
}


def stock(tmp_path: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    homes = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG")}
    rows = ("--rows", str(tmp_path / "rows"), "--ids", "q01", "--json")
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "stock.py"), *rows, *args],
        env=os.environ | homes | SMALL | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.mark.timeout(1800)
def test_both_answer_the_same_question_aloud_and_are_not_asked_again(tmp_path: Path) -> None:
    done = stock(tmp_path)
    assert done.returncode == 0, done.stderr
    *rows, figures = map(json.loads, done.stdout.splitlines())
    assert sorted(row["pipeline"] for row in rows) == ["ours", "stock"]
    assert all(row["heard_answer"] and "filter" in row["understood"] for row in rows)
    assert all(row["word_to_sound_s"] > 0 for row in rows)
    (other,) = [row["timings"] for row in rows if row["pipeline"] == "stock"]
    assert 0.8 <= other["endpoint"] < other["transcript"] < other["first_token"]
    again = stock(tmp_path, "--minutes", "0")
    assert (again.returncode, json.loads(again.stdout)) == (0, figures)
