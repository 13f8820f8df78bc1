"""What the doctor says of each thing: good, or the exact mend."""

from pathlib import Path

import numpy as np
import pytest

from voice_agent.audio.devices import Device
from voice_agent.audio.probe import Probe, has_microphone
from voice_agent.doctor import Finding, program, service, sound, worst
from voice_agent.doctor.echo_path import AUDIBLE, EchoPath, located
from voice_agent.places import Places
from voice_agent.settings import Settings

DESK = Device(0, "Desk", "ALSA", 1, 2, 48_000, default_input=True, default_output=True)


def places(folder: Path) -> Places:
    return Places(*(folder / name for name in ("config", "data", "cache", "run", "models")))


def test_the_python_and_libraries_of_this_machine_are_good() -> None:
    assert (program.python().level, program.system_packages().level) == ("good", "good")


def test_the_libraries_that_are_looked_for_are_those_that_set_up_installs() -> None:
    listed = (Path(__file__).parents[2] / "setup" / "packages.txt").read_text()
    installed = {line.split()[0] for line in listed.splitlines() if " run " in line}
    mend = program.system_packages(lambda library: None).mend
    named = mend.removeprefix("sudo apt install ").split()
    assert named and set(named) <= installed


def test_a_missing_model_is_mended_by_its_download(tmp_path: Path) -> None:
    findings = list(program.models(Settings(), places(tmp_path)))
    assert [finding.level for finding in findings] == ["mend"] * 3
    assert "voice-agent models pull whisper-base" in findings[0].mend


def test_the_build_is_proved_with_the_real_model(tmp_path: Path, models_dir: Path) -> None:
    settings = Settings.model_validate({"llm": {"model": "qwen2.5-coder-0.5b-instruct"}})
    here = Places(tmp_path, tmp_path, tmp_path, tmp_path, models_dir)
    found = program.build(settings, here)
    assert found.level == "good", found
    assert int(found.text.split()[1]) > 600


def test_a_server_that_does_not_answer_is_named() -> None:
    llm = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "remote_model": "m"}
    found = program.provider(Settings.model_validate({"llm": llm}))
    assert (found.level, "127.0.0.1:9" in found.text) == ("mend", True)


def test_disk_space_is_looked_at_where_the_data_will_be(tmp_path: Path) -> None:
    assert str(tmp_path) in program.disk(places(tmp_path)).text


def test_a_place_for_the_data_that_cannot_be_written_is_mended(tmp_path: Path) -> None:
    here = places(tmp_path)
    here.data.touch()
    found = program.disk(here)
    assert (found.level, found.text) == ("mend", f"{here.data} cannot be written.")
    assert f"mv '{here.data}'" in found.mend


@pytest.mark.parametrize(
    ("noise_db", "peak_db", "level", "words"),
    [
        (-60.0, -40.0, "good", "noise floor -60 dB"),
        (-200.0, -200.0, "mend", "digital silence"),
        (-50.0, 0.0, "mend", "overdriven"),
        (-30.0, -20.0, "note", "loud"),
    ],
)
def test_the_microphones_level_is_judged(
    noise_db: float, peak_db: float, level: str, words: str
) -> None:
    found = sound.level(Probe((DESK,), noise_db, peak_db))
    assert (found.level, words in found.text) == (level, True)


def test_an_echo_is_located_in_noise() -> None:
    dice = np.random.default_rng(3)
    played = dice.normal(0, 0.1, 16_000).astype(np.float32)
    heard = dice.normal(0, 0.01, 40_000).astype(np.float32)
    assert located(played, heard, 16_000)[2] < AUDIBLE
    heard[4_000:20_000] += 0.5 * played
    lag_s, gain_db, clear = located(played, heard, 16_000)
    assert (lag_s, round(gain_db), clear > AUDIBLE) == (0.25, -6, True)


def test_an_echo_that_comes_too_late_is_noted() -> None:
    assert sound.echo(EchoPath(delay_s=0.7, gain_db=-6, clear=50)).level == "note"
    assert sound.echo(EchoPath(delay_s=0.1, gain_db=-6, clear=50)).level == "good"
    assert sound.echo(EchoPath(clear=2)).level == "good"


def test_a_device_that_was_chosen_and_is_missing_is_named() -> None:
    microphone, loudspeaker = sound.devices(Probe((DESK,)), "headset", "")
    assert (microphone.level, loudspeaker.level) == ("mend", "good")
    assert "'headset'" in microphone.text
    assert not has_microphone(Probe((DESK,)), "headset")


def test_a_sound_system_that_died_is_a_finding() -> None:
    (found,) = sound.devices(Probe(fault="PortAudio died by signal 6."), "", "")
    assert found.level == "mend"


def test_no_assistant_and_no_unit_are_no_fault(tmp_path: Path) -> None:
    assert service.control(places(tmp_path)).level == "good"
    assert service.unit(Settings(), tmp_path / "none.service").level == "good"


def test_a_unit_of_other_settings_is_to_be_installed_again(tmp_path: Path) -> None:
    (tmp_path / "voice-agent.service").write_text("[Service]\n")
    found = service.unit(Settings(), tmp_path / "voice-agent.service")
    assert (found.level, found.mend) == ("mend", "voice-agent service install")


def test_the_worst_finding_counts() -> None:
    findings = [Finding("a", "good", ""), Finding("b", "mend", ""), Finding("c", "note", "")]
    assert (worst(findings), worst(findings[:1])) == ("mend", "good")
