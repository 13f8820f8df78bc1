"""Microphone and loudspeaker find their way back by themselves, on devices that stand in."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
import pytest
from live_room import until

from voice_agent.audio.capture import LOST_S, Captured, DeviceMicrophone
from voice_agent.audio.format import Sound
from voice_agent.audio.playback import DeviceSpeaker
from voice_agent.bench.stand_in import StandIn
from voice_agent.errors import DeviceError
from voice_agent.events import Error, Event, HearsAgain
from voice_agent.hearing import Hearing, Said
from voice_agent.phrases import Phrase

SECOND = Sound(np.full(22_050, 0.5, np.float32), 22_050)


class Ear:
    """Hears by a stand-in, and keeps what it is told."""

    def __init__(self) -> None:
        self.system = StandIn()
        self.asleep_s = 0.0
        self.events: list[Event] = []
        self.aloud: list[Phrase] = []
        self.began: list[float] = []
        self.blocks: list[Captured] = []
        self.microphone = DeviceMicrophone(system=self.system, slept_s=lambda: self.asleep_s)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        said = Said(self.events.append, self.aloud.append)
        hearing = Hearing(self.microphone, said, began=self.began.append, retry_s=0.01)

        async def listen() -> None:
            async for captured in hearing.blocks(asyncio.Event()):
                self.blocks.append(captured)

        task = asyncio.create_task(listen())
        await until(lambda: bool(self.blocks))
        yield
        task.cancel()
        await asyncio.wait([task])

    async def hears_again(self, times: int = 1) -> None:
        await until(lambda: len([e for e in self.events if isinstance(e, HearsAgain)]) == times)


async def test_a_microphone_that_was_unplugged_is_found_under_another_number() -> None:
    ear = Ear()
    async with ear.listening():
        ear.system.unplug("input")
        await until(lambda: bool(ear.events))
        ear.system.plug("input")
        await ear.hears_again()
    assert [type(event) for event in ear.events] == [Error, HearsAgain]
    assert ear.microphone.device.number == 2


async def test_after_a_hundred_times_there_are_no_more_threads_than_after_the_first() -> None:
    ear, threads = Ear(), 0
    async with ear.listening():
        for time in range(1, 101):
            ear.system.unplug("input")
            ear.system.plug("input")
            await ear.hears_again(time)
            threads = threads or threading.active_count()
        assert threading.active_count() <= threads + 1
    await until(lambda: not ear.system.streams)


async def test_a_microphone_that_delivers_nothing_is_noticed_by_the_clock() -> None:
    ear = Ear()
    async with ear.listening():
        ear.system.stalled = True
        began_s = asyncio.get_running_loop().time()
        await until(lambda: bool(ear.events))
        assert asyncio.get_running_loop().time() - began_s < LOST_S + 2
        ear.system.stalled = False
        await ear.hears_again()


async def test_a_busy_microphone_is_tried_until_it_opens() -> None:
    ear = Ear()
    async with ear.listening():
        ear.system.busy = True
        ear.system.unplug("input")
        ear.system.plug("input")
        await until(lambda: len(ear.events) >= 2)
        ear.system.busy = False
        await ear.hears_again()


async def test_after_a_sleep_of_the_machine_the_microphone_is_opened_anew() -> None:
    ear = Ear()
    async with ear.listening():
        ear.asleep_s = 3_600.0
        await until(lambda: len(ear.began) == 2)
    assert ear.events == []


async def test_a_microphone_that_opens_at_another_rate_only_is_heard_in_real_time() -> None:
    ear = Ear()
    ear.system.rate_hz = 44_100
    async with ear.listening():
        await until(lambda: len(ear.blocks) >= 10)
    heard = sum(len(block.samples) for block in ear.blocks) / 16_000
    assert heard == pytest.approx(0.04 * len(ear.blocks), abs=0.05)


async def test_a_loudspeaker_that_vanishes_is_an_error_and_the_next_sound_is_heard() -> None:
    system = StandIn()
    with DeviceSpeaker(system=system) as speaker:
        playing = asyncio.create_task(speaker.play(SECOND))
        await until(lambda: any(block.any() for block in system.heard))
        system.unplug("output")
        with pytest.raises(DeviceError, match="stopped playing"):
            await playing
        system.plug("output")
        assert await speaker.play(SECOND) == 22_050


async def test_the_microphone_makes_way_for_a_search_for_the_loudspeaker() -> None:
    ear = Ear()
    with DeviceSpeaker(system=ear.system) as speaker:
        speaker.look_again = ear.microphone.look_again
        async with ear.listening():
            ear.system.unplug("output")
            ear.system.plug("output")
            with pytest.raises(DeviceError):
                await speaker.play(SECOND)
            await until(lambda: len(ear.began) == 2)
            assert await speaker.play(SECOND) == 22_050
    assert ear.events == []


async def test_a_loudspeaker_that_rests_makes_way_for_a_search_for_the_microphone() -> None:
    ear = Ear()
    with DeviceSpeaker(system=ear.system) as speaker:
        ear.microphone.make_way = speaker.make_way
        async with ear.listening():
            await speaker.play(SECOND)
            ear.system.unplug("input")
            ear.system.plug("input")
            await ear.hears_again()
    assert ear.microphone.device.number == 2


async def test_a_loudspeaker_that_asks_for_nothing_is_given_up() -> None:
    system = StandIn()
    with DeviceSpeaker(system=system) as speaker:
        playing = asyncio.create_task(speaker.play(SECOND))
        await until(lambda: bool(system.heard))
        system.stalled = True
        with pytest.raises(DeviceError, match="stopped playing"):
            await playing
        system.stalled = False
        assert await speaker.play(SECOND) == 22_050
