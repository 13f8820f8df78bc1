"""Cues on the loudspeaker: one at a time, gone at once, and only those that are wanted."""

import asyncio

import numpy as np
import pytest
from fakes import FakeSpeaker, a_while
from live_room import until

from voice_agent.audio.cues import cue_sound
from voice_agent.earcons import Earcons
from voice_agent.errors import DeviceError


async def test_a_cue_is_heard_and_nobody_waits_for_it() -> None:
    speaker = FakeSpeaker()
    earcons = Earcons(speaker, volume=0.5)
    earcons.play("wake")
    assert earcons.playing and not speaker.sounds
    await a_while()
    assert np.array_equal(speaker.sounds[0].samples, cue_sound("wake", 0.5).samples)
    speaker.advance(len(speaker.sounds[0].samples))
    await a_while()
    assert not earcons.playing


async def test_a_cue_takes_the_place_of_the_one_before() -> None:
    speaker = FakeSpeaker()
    earcons = Earcons(speaker)
    earcons.play("wake")
    await a_while()
    earcons.play("end_of_question")
    await a_while()
    assert speaker.cancelled == 1


async def test_a_dropped_cue_never_begins() -> None:
    speaker = FakeSpeaker()
    earcons = Earcons(speaker)
    earcons.play("error")
    earcons.drop()
    await a_while()
    assert (speaker.sounds, earcons.playing) == ([], False)


@pytest.mark.parametrize("earcons", [{"cues": ["error"]}, {"volume": 0.0}])
async def test_a_cue_that_is_switched_off_is_not_heard(earcons: dict[str, object]) -> None:
    speaker = FakeSpeaker(instant=True)
    Earcons(speaker, **earcons).play("wake")  # type: ignore[arg-type]  # one of two
    await a_while()
    assert speaker.sounds == []


async def test_thinking_is_heard_after_a_while_and_no_longer_than_it_lasts() -> None:
    speaker = FakeSpeaker(instant=True)
    earcons = Earcons(speaker, thinking_after_s=0.01, thinking_every_s=0.01)
    earcons.think(True)
    await until(lambda: len(speaker.sounds) >= 2)
    earcons.think(False)
    heard = len(speaker.sounds)
    await asyncio.sleep(0.05)
    assert len(speaker.sounds) == heard


async def test_a_short_thought_is_silent() -> None:
    speaker = FakeSpeaker(instant=True)
    earcons = Earcons(speaker, thinking_after_s=0.05)
    earcons.think(True)
    earcons.think(False)
    await asyncio.sleep(0.1)
    assert speaker.sounds == []


async def test_a_broken_loudspeaker_costs_only_the_cue() -> None:
    earcons = Earcons(FakeSpeaker(fault=DeviceError("Gone.")))
    earcons.play("wake")
    await a_while()
    assert not earcons.playing


async def test_without_a_loudspeaker_there_are_no_cues() -> None:
    earcons = Earcons(None)
    earcons.play("wake")
    assert not earcons.playing
