import numpy as np
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
