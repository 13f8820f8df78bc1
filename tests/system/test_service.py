"""The systemd user service in a real systemd: installed, watched, restarted, stopped, removed."""

import re
import sys
from pathlib import Path

import pytest
from systemd_box import ROOT, run_in_systemd

SCRIPT = Path(__file__).parent / "service_life.sh"
LIMIT_S = 900
pytestmark = pytest.mark.timeout(LIMIT_S + 100)


@pytest.fixture(scope="module")
def life() -> dict[str, str]:
    """What a service's whole life showed: the lines ``name=value`` of its script."""
    script = SCRIPT.read_text().replace("@CHECKOUT@", str(ROOT))
    shown = run_in_systemd(script, limit_s=LIMIT_S)
    found = dict(re.findall(r"^(\w+)=(.*)$", shown, flags=re.MULTILINE))
    assert found.get("finished") == "yes", shown[-4_000:]
    sys.stdout.write(shown)
    return found


def test_it_is_ready_only_when_it_listens(life: dict[str, str]) -> None:
    assert life["while_starting"] == "activating"
    assert life["ready_state"] in ("preparing", "idle")
    assert "Listening for" in life["ready_text"]


def test_the_language_model_is_prepared_while_it_listens(life: dict[str, str]) -> None:
    if life["ready_state"] == "preparing":
        assert "being prepared" in life["ready_text"]
    assert "Listening for" in life["prepared_text"]
    assert "being prepared" not in life["prepared_text"]


def test_it_waits_for_a_sound_server_that_comes_later(life: dict[str, str]) -> None:
    assert life["without_sound"] == "activating waiting"
    assert life["with_sound"] == "active"


def test_killed_it_listens_again_in_fifteen_seconds(life: dict[str, str]) -> None:
    assert float(life["back_s"]) < 15
    assert life["after_kill"] == "idle"
    assert life["restarts_after_kill"] == "1"


def test_when_its_front_end_stands_still_it_is_restarted(life: dict[str, str]) -> None:
    assert life["after_standstill"] == "idle"
    assert life["restarts_after_standstill"] == "2"


def test_it_answers_a_question_and_logs_no_word_of_it(life: dict[str, str]) -> None:
    assert life["asked"] == "answer"
    assert int(life["logged_turns"]) >= 1
    assert life["logged_words"] == "0"


def test_asked_by_voice_it_answers_aloud_from_the_documents(life: dict[str, str]) -> None:
    assert life["voice_wake"] == "hey_jarvis"
    assert "boiler" in life["voice_transcript"].lower()
    assert life["voice_ending"] == "answer"
    assert life["voice_heard"]
    assert "heating-boiler-manual.md" in life["voice_sources"]
    assert int(life["voice_loudest"]) > 1_000


def test_a_signal_dumps_its_state_and_stacks(life: dict[str, str]) -> None:
    assert int(life["dumped_state"]) >= 1
    assert int(life["dumped_stacks"]) >= 1


def test_told_to_stop_it_ends_in_three_seconds_and_stays_ended(life: dict[str, str]) -> None:
    assert float(life["stop_s"]) < 3
    assert life["after_stop"] == "inactive"
    assert float(life["systemctl_stop_s"]) < 3


def test_uninstalled_it_leaves_nothing_but_data(life: dict[str, str]) -> None:
    assert life["unit_left"] == "no"
    assert life["socket_left"] == "no"
    places = {".cache/voice-agent", ".config/voice-agent", ".local/share/voice-agent"}
    assert not [file for file in life["left"].split() if not file.startswith(tuple(places))]


def test_nothing_of_the_socket_is_open_to_others(life: dict[str, str]) -> None:
    assert life["open_to_others"] == "no"
