"""``doctor`` as a user runs it: with a real sound server, and on a machine without sound."""

import json
import os
import subprocess
import sys
from pathlib import Path

from voice_agent.bench.sound_server import sound_server


def doctor(env: dict[str, str], *args: str) -> tuple[int, dict[str, dict[str, str]]]:
    command = [sys.executable, "-m", "voice_agent", "doctor", "--quick", "--json", *args]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {row["check"]: row for row in rows}


def home(tmp_path: Path) -> dict[str, str]:
    homes = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG", "CACHE")}
    return os.environ | homes | {"XDG_RUNTIME_DIR": str(tmp_path)}


def test_with_a_sound_server_it_measures_the_microphone(tmp_path: Path) -> None:
    with sound_server(tmp_path) as server:
        code, found = doctor(home(tmp_path) | server.devices)
    levels = {name: row["level"] for name, row in found.items()}
    silent = levels.pop("microphone level")
    assert (silent, "digital silence" in found["microphone level"]["text"]) == ("mend", True)
    assert code == 1
    assert set(levels.values()) == {"good"}


def test_the_echo_path_is_measured_where_there_is_one(tmp_path: Path) -> None:
    with sound_server(tmp_path, echo=True) as server:
        _, found = doctor(home(tmp_path) | server.devices, "--echo")
    assert "ms after it was sent" in found["echo path"]["text"]


def test_an_empty_sound_configuration_ends_nothing_but_its_check(tmp_path: Path) -> None:
    (tmp_path / "empty.conf").write_text("")
    env = home(tmp_path) | {"ALSA_CONFIG_PATH": str(tmp_path / "empty.conf")}
    code, found = doctor(env)
    assert code == 1
    assert found["devices"]["level"] == "mend"
    assert found["service"]["level"] == "good"


def test_wrong_settings_are_a_finding_among_others(tmp_path: Path) -> None:
    code, found = doctor(home(tmp_path) | {"VOICE_AGENT_TTS__RATE": "9"})
    assert (code, found["settings"]["level"]) == (1, "mend")
    assert "tts.rate" in found["settings"]["text"]
    assert found["disk space"]["level"] == "good"
