import numpy as np
import pytest
from spoken import echo_of, noise, say, silence

from voice_agent.audio.echo import FRAME_SAMPLES, LinearEchoCanceller

ANSWER = "The boiler in the cellar was last serviced on the third of March by the plumber."


def cancelled(microphone: np.ndarray, playback: np.ndarray) -> np.ndarray:
    canceller = LinearEchoCanceller()
    frames = range(0, len(playback) - FRAME_SAMPLES + 1, FRAME_SAMPLES)
    return np.concatenate(
        [
            canceller.cancel(microphone[at : at + FRAME_SAMPLES], playback[at : at + FRAME_SAMPLES])
            for at in frames
        ]
    )


def level(samples: np.ndarray) -> float:
    return float(np.sqrt(np.square(samples).mean()))


def test_its_own_voice_is_taken_out_once_the_room_is_known() -> None:
    played = np.concatenate([say(ANSWER), silence(0.3), say(ANSWER)])
    heard = echo_of(played)
    last = slice(-len(say(ANSWER)) // 2, -FRAME_SAMPLES)
    assert level(cancelled(heard, played)[last]) < 0.2 * level(heard[last])


def test_who_speaks_meanwhile_is_left_in() -> None:
    played = np.concatenate([say(ANSWER), silence(0.3), say(ANSWER)])
    person = np.concatenate([silence(len(played) / 16_000 - 1.5), say("Alexa"), silence(2)])
    person = person[: len(played)]
    left = cancelled(echo_of(played) + person, played)
    word = slice(len(played) - 24_000, len(played) - 24_000 + len(say("Alexa")))
    correlation = np.corrcoef(left[word], person[word])[0, 1]
    assert correlation > 0.9


def test_nothing_changes_while_nothing_plays() -> None:
    heard = noise(2, 0.1)
    assert np.array_equal(cancelled(heard, silence(2))[-16_000:], heard[-16_000:])


def test_too_loud_sound_does_no_harm() -> None:
    assert np.isfinite(cancelled(noise(1, 9.0), noise(1, 9.0))).all()


def in_answers(*answers: np.ndarray) -> np.ndarray:
    return np.concatenate([part for answer in answers for part in (answer, silence(2))])


def test_a_room_is_learnt_in_two_seconds() -> None:
    played = say(ANSWER)
    heard = echo_of(played)
    after = slice(2 * 16_000, -FRAME_SAMPLES)
    assert level(cancelled(heard, played)[after]) < 0.2 * level(heard[after])


@pytest.mark.parametrize("loudness", [0.02, 5.0])
def test_quiet_and_loud_loudspeakers_are_learnt_alike(loudness: float) -> None:
    played = in_answers(say(ANSWER), say(ANSWER))
    heard = echo_of(played, level=loudness)
    last = slice(-len(say(ANSWER)) - 32_000, -32_000)
    assert level(cancelled(heard, played)[last]) < 0.2 * level(heard[last])


def test_what_was_learnt_is_kept_from_answer_to_answer() -> None:
    played = in_answers(say(ANSWER), say(ANSWER), say(ANSWER))
    heard = echo_of(played)
    begun = 2 * (len(say(ANSWER)) + 32_000)
    first_second = slice(begun, begun + 16_000)
    assert level(cancelled(heard, played)[first_second]) < 0.1 * level(heard[first_second])


@pytest.mark.parametrize("shift", [-200, 40, 200])
def test_an_answer_whose_echo_comes_at_another_time_is_followed(shift: int) -> None:
    played = in_answers(say(ANSWER), say(ANSWER), say(ANSWER))
    heard = echo_of(played)
    begun = 2 * (len(say(ANSWER)) + 32_000)
    heard[begun - 8_000 :] = np.roll(heard[begun - 8_000 :], shift)
    later = slice(begun + 16_000, begun + len(say(ANSWER)))
    assert level(cancelled(heard, played)[later]) < 0.15 * level(heard[later])


def test_who_speaks_in_a_pause_does_not_make_it_forget() -> None:
    played = in_answers(say(ANSWER), say(ANSWER))
    person = silence(len(played) / 16_000)
    pause = len(say(ANSWER)) + 4_000
    person[pause : pause + len(say("Alexa"))] = say("Alexa")
    heard = echo_of(played)
    last = slice(-len(say(ANSWER)) - 32_000, -32_000)
    assert level(cancelled(heard + person, played)[last]) < 0.1 * level(heard[last])


def test_an_echo_that_is_gone_leaves_no_ghost() -> None:
    played = np.concatenate([say(ANSWER), silence(0.3)])
    heard = echo_of(played)
    heard[-len(say(ANSWER)) // 2 :] = 0  # as where the sound server loses some
    last = slice(-len(say(ANSWER)) // 2, None)
    assert level(cancelled(heard, played)[last][1_600:-160]) < 0.001
