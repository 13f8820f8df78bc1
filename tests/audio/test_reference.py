"""The echo canceller's reference: what was sent to the loudspeaker, at the time it is heard."""

import numpy as np
import pytest
from numpy.typing import NDArray

from voice_agent.audio.reference import PlayedSound

RATE_HZ = 48_000
BLOCK = 960


def tone(blocks: int) -> NDArray[np.float32]:
    """440 Hz, of shape (frames, 2)."""
    at = np.arange(blocks * BLOCK) / RATE_HZ
    return np.repeat(np.sin(2 * np.pi * 440 * at)[:, None], 2, axis=1).astype(np.float32)


def send(
    played: PlayedSound, sound: NDArray[np.float32], at_s: float, *, ahead_s: float = 0.0
) -> None:
    """A new stream, whose first blocks are asked for at once up to ``ahead_s``."""
    played.begin(RATE_HZ)
    for start in range(0, len(sound), BLOCK):
        played.take(sound[start : start + BLOCK], at_s + max(start / RATE_HZ - ahead_s, 0))


def test_it_is_silent_before_anything_was_played() -> None:
    assert not PlayedSound(RATE_HZ).played(5.0, 320).any()


def test_a_stream_that_is_sent_in_bursts_is_joined_without_a_gap() -> None:
    played = PlayedSound(RATE_HZ)
    send(played, tone(50), at_s=10.0, ahead_s=0.1)
    got = played.played(10.1, 4_800)
    at = np.arange(4_800) / 16_000
    phases = [
        np.angle(np.dot(part, np.exp(-2j * np.pi * 440 * t)))
        for part, t in (
            (got[:1_600], at[:1_600]),
            (got[-1_600:], at[-1_600:]),
        )
    ]
    assert np.abs(got).max() == pytest.approx(1.0, abs=0.02)
    assert phases[0] == pytest.approx(phases[1], abs=0.05)
    assert played.played(9.9, 1_600)[-320:].any()


def test_a_new_stream_begins_at_its_own_time() -> None:
    played = PlayedSound(RATE_HZ)
    send(played, tone(10), at_s=10.0)
    send(played, tone(10), at_s=11.0)
    got = np.abs(played.played(10.0, 20_800)).reshape(-1, 800).max(axis=1) > 0.5
    assert got[:3].all() and not got[4:18].any() and got[20:22].all()


def test_what_an_aborted_stream_had_sent_ahead_gives_way_to_the_next() -> None:
    played = PlayedSound(RATE_HZ)
    send(played, tone(50), at_s=10.0)
    send(played, np.zeros((25 * BLOCK, 2), np.float32), at_s=10.5)
    assert np.abs(played.played(10.55, 6_400)).max() < 0.01


def test_a_block_that_came_too_late_stands_where_it_was_heard() -> None:
    played = PlayedSound(RATE_HZ)
    send(played, tone(5), at_s=10.0)
    played.take(tone(5), 11.0)
    assert not played.played(10.3, 8_000).any()
    assert played.played(11.0, 800).any()


def test_a_long_silence_costs_no_memory() -> None:
    played = PlayedSound(RATE_HZ)
    send(played, tone(5), at_s=10.0)
    send(played, tone(5), at_s=100_000.0)
    assert played.played(100_000.0, 1_600).any()
    assert not played.played(10.0, 1_600).any()
