import numpy as np

from voice_agent.turns.preroll import PreRoll


def counted(start: int, end: int) -> np.ndarray:
    return np.arange(start, end, dtype=np.float32)


def test_what_was_heard_is_there_by_its_position() -> None:
    heard = PreRoll(100)
    heard.append(counted(0, 60))
    assert np.array_equal(heard.between(10, 20), counted(10, 20))


def test_the_ring_goes_round_many_times() -> None:
    heard = PreRoll(100)
    for start in range(0, 700, 70):
        heard.append(counted(start, start + 70))
    assert (heard.start, heard.end) == (600, 700)
    assert np.array_equal(heard.between(640, 700), counted(640, 700))


def test_what_is_gone_or_yet_to_come_is_left_out() -> None:
    heard = PreRoll(100)
    heard.append(counted(0, 90))
    heard.append(counted(90, 150))
    assert np.array_equal(heard.between(0, 1_000), counted(50, 150))
    assert not len(heard.between(0, 50))


def test_what_was_taken_out_does_not_change_later() -> None:
    heard = PreRoll(10)
    heard.append(counted(0, 10))
    taken = heard.between(0, 10)
    heard.append(counted(10, 20))
    assert np.array_equal(taken, counted(0, 10))
