"""Which texts are trusted, and what is kept of them."""

from dataclasses import replace

import pytest

from voice_agent.stt.decoding import (
    NOTHING,
    Decoded,
    can_be_trusted,
    compression_ratio,
    joined,
    says_twice,
    settled,
    token_allowance,
)

GOOD = Decoded(" How long is the boiler's warranty?", 9, -0.2, 0.01, 0.9)


def test_a_sure_and_short_text_is_trusted() -> None:
    assert can_be_trusted(GOOD, seconds=2)


@pytest.mark.parametrize(
    "poor",
    [
        replace(GOOD, tokens=token_allowance(2) + 1),
        replace(GOOD, tokens=0, text=""),
        replace(GOOD, compression_ratio=2.1),
        replace(GOOD, avg_logprob=-0.9),
        replace(GOOD, text=" Good bye. Good bye."),
    ],
)
def test_each_guard_asks_for_the_full_window(poor: Decoded) -> None:
    assert not can_be_trusted(poor, seconds=2)


def test_far_too_few_words_ask_for_the_full_window() -> None:
    assert not can_be_trusted(replace(GOOD, tokens=3, text=" 34."), seconds=5.3)


def test_one_short_word_is_enough_for_one_short_sound() -> None:
    assert can_be_trusted(replace(GOOD, tokens=1, text=" Yes"), seconds=1.2)


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("Au revoir. Au revoir.", True),
        ("We have eaten. Yes, we have, yes we have!", True),
        ("No, no.", True),
        ("I had had enough.", False),
        ("Twenty to ten", False),
        ("", False),
    ],
)
def test_what_ends_in_its_own_repetition_is_found(text: str, twice: bool) -> None:
    assert says_twice(text) is twice


def test_doubtful_speech_with_unsure_words_was_invented() -> None:
    assert settled(replace(GOOD, no_speech_prob=0.8, avg_logprob=-1.2)) == NOTHING


@pytest.mark.parametrize("figures", [{"no_speech_prob": 0.8}, {"avg_logprob": -1.2}])
def test_one_doubt_alone_takes_no_words_away(figures: dict[str, float]) -> None:
    assert settled(replace(GOOD, **figures)).text == GOOD.text


def test_a_phrase_said_many_times_over_is_kept_once() -> None:
    text = " Turn it off." + " Thank you." * 40
    looped = replace(GOOD, text=text, compression_ratio=compression_ratio(text))
    assert settled(looped).text == " Turn it off. Thank you."


def test_pieces_make_one_text_on_one_line() -> None:
    assert joined([GOOD, NOTHING, replace(GOOD, text=" Or\nthe oven's?")]).text == (
        "How long is the boiler's warranty? Or the oven's?"
    )


def test_languages_without_spaces_get_none() -> None:
    assert joined([replace(GOOD, text="你好"), replace(GOOD, text="世界")]).text == "你好世界"


def test_a_recording_is_as_good_as_its_worst_piece() -> None:
    assert joined([GOOD, replace(GOOD, avg_logprob=-0.7)]).avg_logprob == -0.7
