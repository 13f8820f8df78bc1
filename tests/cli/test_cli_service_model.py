"""The service whose language model cannot be loaded: it says so and ends, it is no silent shell."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import voice_agent
from voice_agent.bench.sound_server import sound_server
from voice_agent.catalogue import Catalogue

NAME = "qwen2.5-coder-0.5b-instruct"


@pytest.fixture
def env(tmp_path: Path, models_dir: Path) -> Iterator[dict[str, str]]:
    """An installed program, a microphone, and the models but for the language model."""
    shutil.copytree(Path(voice_agent.__file__).parent, tmp_path / "program/voice_agent")
    models = tmp_path / "DATA/voice-agent/models"
    models.mkdir(parents=True)
    for name in ("whisper-base", "en_US-joe-medium"):
        (models / name).symlink_to((models_dir / name).resolve())
    homes = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "CACHE")}
    own = {
        "VOICE_AGENT_LLM__MODEL": NAME,
        "XDG_RUNTIME_DIR": str(tmp_path),
        "PYTHONPATH": str(tmp_path / "program"),
        "NOTIFY_SOCKET": str(tmp_path / "systemd"),
    }
    with sound_server(tmp_path) as server:
        yield os.environ | homes | own | server.devices


def service(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    return subprocess.run(
        [sys.executable, "-m", "voice_agent", "run", "--service"],
        env=env,
        cwd=env["PYTHONPATH"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def verified_but_not_a_model(models: Path) -> None:
    """What only loading finds: a file that counts as verified and holds nothing."""
    listed = Catalogue.load().model(NAME).files[0]
    folder = models / NAME
    folder.mkdir()
    with (folder / listed.path).open("wb") as weights:
        weights.truncate(listed.size_bytes)
    stamp = [listed.size_bytes, (folder / listed.path).stat().st_mtime_ns, listed.sha256]
    (folder / ".verified.json").write_text(json.dumps({listed.path: stamp}))


def heard_by(systemd: socket.socket) -> str:
    systemd.setblocking(False)
    told = []
    while True:
        try:
            told.append(systemd.recv(4096).decode())
        except BlockingIOError:
            return "\n".join(told)


def test_a_model_that_does_not_load_is_named_and_the_service_ends(env: dict[str, str]) -> None:
    verified_but_not_a_model(Path(env["XDG_DATA_HOME"]) / "voice-agent/models")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(env["NOTIFY_SOCKET"])
        done = service(env)
        told = heard_by(systemd)
    assert done.returncode == 1
    assert "is not a GGUF model that can be loaded" in done.stderr
    assert f"models pull {NAME}" in done.stderr
    assert "Traceback" not in done.stderr
    assert told.endswith("STOPPING=1")


def test_a_model_that_is_missing_is_named_before_anything_listens(env: dict[str, str]) -> None:
    done = service(env)
    assert done.returncode == 3
    assert f"Run 'voice-agent models pull {NAME}'" in done.stderr
    assert "Listening" not in done.stderr
