from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import FakeEars, FakeMicrophone, FakeSpeaker, FakeVoice
from scripted_research import Research

from voice_agent.control.reloading import TAKEN_UP, Reloading
from voice_agent.desk import Desk
from voice_agent.errors import SettingsError
from voice_agent.ledger import Ledger
from voice_agent.live import Live
from voice_agent.session import Stages
from voice_agent.settings import Settings
from voice_agent.settings.model import descriptions

OTHER_MODEL = '[llm]\nmodel = "qwen2.5-coder-0.5b-instruct"\n'


class Reloaded:
    """A live assistant with default settings, and a file that can be changed."""

    def __init__(self, ledger: Ledger, folder: Path) -> None:
        self.file = folder / "config.toml"
        self.told: list[Settings] = []
        stages = Stages(Research([]).loop, ledger, voice=FakeVoice(), speaker=FakeSpeaker())
        desk = Desk(stages, FakeEars(), FakeMicrophone())
        live = Live(desk, lambda _: None)
        self.reload = Reloading(
            Settings(), desk, live, env={}, file=self.file, told=self.told.append
        )


@pytest.fixture
def reloaded(tmp_path: Path) -> Iterator[Reloaded]:
    with Ledger.open(tmp_path / "ledger.sqlite3") as ledger:
        yield Reloaded(ledger, tmp_path)


def test_a_change_is_taken_up_or_needs_a_restart(reloaded: Reloaded) -> None:
    reloaded.file.write_text(
        '[listen]\nfollow_up_s = 0\n[llm]\nmodel = "qwen2.5-coder-0.5b-instruct"\n'
    )
    expected = {"taken_up": ["listen.follow_up_s"], "need_restart": ["llm.model"]}
    assert reloaded.reload() == expected
    assert reloaded.reload() == expected | {"taken_up": []}
    assert reloaded.told[-1].listen.follow_up_s == 0


def test_a_change_that_is_taken_back_needs_no_restart(reloaded: Reloaded) -> None:
    reloaded.file.write_text(OTHER_MODEL)
    reloaded.reload()
    reloaded.file.write_text("")
    assert reloaded.reload()["need_restart"] == []


def test_settings_that_cannot_be_used_change_nothing(reloaded: Reloaded) -> None:
    reloaded.file.write_text("[tts]\nrate = 9\n")
    with pytest.raises(SettingsError):
        reloaded.reload()
    reloaded.reload.on_signal()
    assert reloaded.told == []


def test_what_can_be_taken_up_are_settings() -> None:
    assert set(descriptions()) >= TAKEN_UP
