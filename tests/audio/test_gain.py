"""What is played can be turned down and up again while it plays, and never clicks."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from voice_agent.audio.format import Sound, read_recording
from voice_agent.audio.gain import RAMP_S, Gain
from voice_agent.audio.outgoing import Outgoing, Queued
from voice_agent.audio.timeline import RATE_HZ, TimelineSpeaker

BLOCK = 80
TONE = np.full(8_000, 0.5, np.float32)
STEEPEST = 1 / (RAMP_S * 8_000)


class Device:
    """A loudspeaker's stream that is never opened."""

    rate_hz = 8_000
    active = True

    def close(self) -> None:
        pass


class Listener:
    """Whom a stream belongs to, and who taps it."""

    underruns = 0
    level = 1.0

    def __init__(self) -> None:
        self.tap = self
        self.blocks: list[np.ndarray] = []

    def begin(self, rate_hz: int) -> None:
        pass

    def take(self, block: np.ndarray, sent_at_s: float) -> None:
        self.blocks.append(block[:, 0].copy())

    def sent(self, item: Queued) -> None:
        pass

    def lost(self, out: Outgoing) -> None:
        pass


async def played(*levels: float) -> tuple[np.ndarray, Listener, Queued]:
    """What a tone is heard as where the level changes every tenth of a second."""
    loop = asyncio.get_running_loop()
    listener = Listener()
    listener.level = levels[0]
    out = Outgoing(listener, loop, latency_s=0.08)
    out.begin(Device())  # type: ignore[arg-type]  # what is used of a stream
    item = Queued(Sound(TONE, 8_000), loop.create_future())
    out.send(item)
    blocks = []
    for level in levels:
        listener.level = level
        for _ in range(10):
            block = np.zeros((BLOCK, 1), np.float32)
            out.fill(block, 0.05, False)
            blocks.append(block[:, 0])
    return np.concatenate(blocks), listener, item


def steps(samples: np.ndarray) -> float:
    """The greatest step from one sample to the next, in parts of the tone's level."""
    return float(np.abs(np.diff(samples)).max() / 0.5)


async def test_a_tone_is_turned_down_and_up_again_without_a_click() -> None:
    heard, _, _ = await played(1.0, 0.2, 1.0)
    sounding = heard[400:]
    assert steps(sounding) <= 1.01 * STEEPEST
    assert (sounding.min(), sounding[-1]) == (pytest.approx(0.1), pytest.approx(0.5))


async def test_what_interrupts_a_change_begins_where_it_is() -> None:
    gain = Gain(8_000)
    gain.change(0.0, 0)
    gain.change(1.0, 100)
    assert steps(0.5 * gain.factors(0, 1_000)) <= 1.01 * STEEPEST
    assert gain.is_full(1_000) and not gain.is_full(150)


async def test_the_echo_canceller_gets_what_is_really_heard() -> None:
    heard, listener, _ = await played(1.0, 0.2)
    assert np.array_equal(np.concatenate(listener.blocks), heard)


async def test_as_much_of_a_sound_counts_as_heard_however_loud_it_is() -> None:
    _, _, loud = await played(1.0, 1.0)
    _, _, soft = await played(1.0, 0.0)
    assert soft.sent == loud.sent > 0


async def test_a_stream_that_begins_while_it_is_turned_down_begins_so() -> None:
    heard, _, _ = await played(0.2)
    assert heard.max() == pytest.approx(0.1)


@pytest.mark.parametrize("aborted", [False, True])
async def test_a_file_holds_what_was_heard_and_after_an_abort_is_loud(
    tmp_path: Path, aborted: bool
) -> None:
    loop = asyncio.get_running_loop()
    with TimelineSpeaker(tmp_path / "out.wav") as speaker:
        speaker.begin(loop.time())
        speaker.turn_to(0.2)
        await asyncio.sleep(0.1)
        if aborted:
            speaker.abort()
            await asyncio.sleep(0.1)
        await speaker.play(Sound(np.full(RATE_HZ // 10, 0.5, np.float32), RATE_HZ))
        loudest = float(speaker.played(loop.time() - 0.2, 4_000).max())
    expected = pytest.approx(0.5 if aborted else 0.1, abs=0.01)
    assert loudest == expected
    assert float(np.abs(read_recording(tmp_path / "out.wav").samples).max()) == pytest.approx(
        loudest, abs=0.05
    )
