"""What the set-up installs is pinned, told and complete."""

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
SETUP = ROOT / "setup"
LOCK = (SETUP / "requirements.lock").read_text()


def project() -> dict[str, list[str]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"run": table["dependencies"], **table["optional-dependencies"]}


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=~\[ ]", line)[0].lower() for line in requirements}


def test_the_lock_pins_everything_that_the_project_asks_for() -> None:
    pinned = names(re.findall(r"^[a-z]\S*==", LOCK, re.M))
    assert names([line for group in project().values() for line in group]) <= pinned


def test_every_pin_has_a_hash_and_no_address() -> None:
    pins = re.split(r"\n(?=[a-z])", LOCK)[1:]
    assert pins and all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in LOCK


def test_every_system_package_says_what_for_and_why() -> None:
    lines = (SETUP / "packages.txt").read_text().splitlines()
    rows = [line.split(maxsplit=2) for line in lines if not line.startswith("#")]
    assert all(len(row) == 3 and row[1] in ("run", "test") for row in rows)


def test_scripts_are_sound_bash() -> None:
    for script in (SETUP / "prepare", SETUP / "system_packages", ROOT / ".ci" / "run"):
        subprocess.run(["bash", "-n", script], check=True)


def test_a_build_that_dies_by_a_signal_is_named_with_its_mend() -> None:
    text = runpy.run_path(str(SETUP / "prove_llama.py"))["death"](4)
    assert "SIGILL" in text and "CMAKE_ARGS=-DGGML_NATIVE=OFF make setup" in text


def test_progress_is_the_build_tools_latest_step() -> None:
    latest_step = runpy.run_path(str(SETUP / "build_llama.py"))["latest_step"]
    assert latest_step(b"[33/83] g++ -c a.cpp\n[34/83] g++") == "step 34 of 83"
    assert latest_step(b"-- Configuring done\n") is None


def test_the_build_of_llama_cpp_runs_on_this_processor(models_dir: Path) -> None:
    model = next(models_dir.glob("qwen2.5-coder-0.5b-instruct/*.gguf"))
    command = [sys.executable, SETUP / "prove_llama.py", model]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "read 600 tokens" in done.stdout


def test_a_proof_that_fails_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    command = [sys.executable, SETUP / "prove_llama.py", broken]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "The proof failed" in done.stderr
