"""What is said of a microphone in trouble, when, and how often."""

import asyncio

import numpy as np
import pytest
from fakes import FakeMicrophone, FakeSpeaker, FakeVoice
from live_room import until

from voice_agent.audio.capture import Captured
from voice_agent.errors import DeviceError
from voice_agent.events import Error, Event, HearsAgain
from voice_agent.hearing import SILENT_S, SPOKEN_S, Hearing, Said
from voice_agent.phrases import Phrase, phrase
from voice_agent.remarks import Remarks


class Told:
    """A `Hearing` and what it tells."""

    def __init__(self) -> None:
        self.microphone = FakeMicrophone()
        self.events: list[Event] = []
        self.aloud: list[Phrase] = []
        said = Said(self.events.append, self.aloud.append)
        self.hearing = Hearing(self.microphone, said, began=lambda at_s: None, retry_s=0.001)
        self.stopping = asyncio.Event()
        self.heard: list[Captured] = []

    async def listen(self) -> None:
        async for captured in self.hearing.blocks(self.stopping):
            self.heard.append(captured)


async def test_a_short_outage_is_told_but_not_aloud() -> None:
    told = Told()
    task = asyncio.create_task(told.listen())
    told.microphone.fail(DeviceError("It is gone."))
    told.microphone.fail(DeviceError("It is gone."))
    told.microphone.hear()
    await until(lambda: bool(told.heard))
    task.cancel()
    assert [type(event) for event in told.events] == [Error, HearsAgain]
    assert told.aloud == []


async def test_a_long_outage_is_spoken_of_once_and_so_is_its_end() -> None:
    told = Told()
    task = asyncio.create_task(told.listen())
    told.microphone.fail(DeviceError("It is gone."))
    await asyncio.sleep(SPOKEN_S + 0.1)
    told.microphone.fail(DeviceError("It is gone."))
    await until(lambda: bool(told.aloud))
    told.microphone.hear()
    await until(lambda: bool(told.heard))
    task.cancel()
    assert [type(event) for event in told.events] == [Error, HearsAgain]
    assert told.aloud == ["deaf", "hears_again"]


async def test_digital_silence_is_measured_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told = Told()
    task = asyncio.create_task(told.listen())
    for _ in range(5):
        told.microphone.hear_nothing(SILENT_S / 4)
    await until(lambda: len(told.heard) == 5)
    await asyncio.sleep(0)
    assert told.hearing.silent_s >= SILENT_S
    told.microphone.hear()
    await until(lambda: told.hearing.silent_s == 0)
    task.cancel()
    assert caplog.text.count("digital silence") == 1


async def test_a_remark_is_spoken_and_can_be_cut_short() -> None:
    speaker, voice = FakeSpeaker(), FakeVoice()
    remarks = Remarks(voice, speaker)
    remarks.say("hears_again")
    await until(lambda: bool(speaker.sounds))
    remarks.drop()
    await until(lambda: speaker.cancelled == 1)
    assert voice.texts == [phrase("hears_again", "en")]


async def test_a_remark_without_a_loudspeaker_that_works_harms_nobody() -> None:
    speaker = FakeSpeaker(fault=DeviceError("It is gone."))
    remarks = Remarks(FakeVoice(), speaker)
    remarks.say("deaf")
    await asyncio.sleep(0.01)
    assert np.array_equal(speaker.sounds, [])
