"""Where speech is, cut to what one window holds."""

import numpy as np
import pytest

from voice_agent.stt.pieces import LONGEST_PIECE_S, Span, audible, cut, pieces, speech_spans

SECOND = 16_000


def seconds(*spans: tuple[float, float]) -> list[Span]:
    return [(int(start * SECOND), int(end * SECOND)) for start, end in spans]


def ones(samples: np.ndarray) -> list[Span]:
    """Finds runs of ones."""
    edges = np.flatnonzero(np.diff(samples, prepend=0, append=0))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def sound(length_s: float, *speech: tuple[float, float]) -> np.ndarray:
    samples = np.zeros(int(length_s * SECOND), np.float32)
    for start, end in seconds(*speech):
        samples[start:end] = 1
    return samples


def test_spans_of_a_long_sound_are_found_at_their_places() -> None:
    speech = [(2, 5), (310, 320), (650, 651)]
    assert list(speech_spans(sound(700, *speech), ones)) == seconds(*speech)


def test_speech_over_a_border_between_stretches_stays_whole() -> None:
    assert list(speech_spans(sound(400, (10, 20), (290, 312)), ones)) == seconds(
        (10, 20), (290, 312)
    )


def test_speech_without_end_still_comes_to_an_end() -> None:
    assert list(speech_spans(sound(700, (0, 700)), ones)) == seconds(
        (0, 300), (300, 600), (600, 700)
    )


def test_nothing_holds_no_speech() -> None:
    assert list(speech_spans(np.zeros(0, np.float32), ones)) == []


def test_neighbours_share_a_piece_while_it_has_room() -> None:
    spans = seconds((0, 10), (20, 30), (40, 46), (50, 51))
    assert list(pieces(spans)) == [spans[:2], spans[2:]]


def test_a_span_longer_than_a_piece_comes_alone() -> None:
    spans = seconds((0, 1), (2, 2 + LONGEST_PIECE_S + 1), (40, 41))
    assert list(pieces(spans)) == [[span] for span in spans]


def test_no_speech_makes_no_piece() -> None:
    assert list(pieces([])) == []


def test_a_piece_leaves_out_what_lies_between_its_spans() -> None:
    samples = sound(10, (1, 2), (8, 9))
    assert cut(samples, seconds((1, 2), (8, 9))).tolist() == [1] * 2 * SECOND


@pytest.mark.parametrize(
    ("peak", "raised"), [(0.5, 0.5), (0.02, 0.1), (0.003, 0.06), (0.0001, 0.002), (0, 0)]
)
def test_very_quiet_sound_is_raised_within_bounds(peak: float, raised: float) -> None:
    assert audible(np.full(10, peak, np.float32)).max() == pytest.approx(raised)
