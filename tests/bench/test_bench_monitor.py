"""Recordings with the time of each sample."""

import numpy as np
import pytest

from voice_agent.bench.monitor import RATE_HZ, Recording

BLOCK = RATE_HZ // 50


def recorded(*delays_s: float, began_s: float = 100.0) -> Recording:
    """A recording in blocks of 20 ms that came so late, whose samples count the blocks."""
    recording = Recording()
    for n, delay_s in enumerate(delays_s):
        block = np.full(BLOCK, n, "<i2").tobytes()
        recording.add(block, began_s + (n + 1) * 0.02 + delay_s)
    return recording


def test_the_promptest_delivery_says_when_it_began() -> None:
    assert recorded(0.2, 0.0, 0.3, 0.1).began_s(100.0) == pytest.approx(100.0)


def test_what_came_long_ago_says_nothing_about_now() -> None:
    later = recorded(*[0.0] * 100, *[0.5] * 2_000)
    assert later.began_s(100.0) == pytest.approx(100.0)
    assert later.began_s(130.0) == pytest.approx(100.5)


def test_a_stretch_of_time_gives_its_samples() -> None:
    found = recorded(*[0.0] * 10).between(100.04, 100.08)
    assert list(np.round(found[[0, -1]] * 32768)) == [2, 3]
    assert len(found) == 2 * BLOCK


def test_where_nothing_was_recorded_there_is_silence() -> None:
    found = recorded(0.0, 0.0, 0.0).between(99.98, 100.10)
    assert not found[:BLOCK].any()
    assert not found[-BLOCK:].any()
    assert len(found) == 6 * BLOCK
