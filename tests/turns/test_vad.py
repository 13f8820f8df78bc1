from pathlib import Path

import numpy as np
import pytest
from spoken import noise, say, silence

from voice_agent.audio.format import read_recording
from voice_agent.turns.vad import Vad

ENGLISH = Path(
    "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"
)
MUSIC = Path("/usr/share/asterisk/moh/reno_project-system.wav")


def speech_share(samples: np.ndarray) -> float:
    vad = Vad.load()
    hops = samples[: len(samples) // 160 * 160].reshape(-1, 160)
    return float(np.mean([vad.confirms(hop, suspected=vad.suspects(hop)) for hop in hops]))


@pytest.mark.parametrize("level", [1.0, 0.05, 0.01])
def test_a_person_is_heard_however_soft(level: float) -> None:
    samples = read_recording(ENGLISH).samples
    assert speech_share(samples * np.float32(level)) > 0.5


def test_our_own_voice_is_speech() -> None:
    assert speech_share(say("The boiler was last serviced in March.")) > 0.8


@pytest.mark.parametrize("level", [0.0, 0.001, 0.1])
def test_noise_and_silence_are_not(level: float) -> None:
    assert speech_share(noise(5, level)) == 0


def test_music_is_not() -> None:
    assert speech_share(read_recording(MUSIC).samples[: 20 * 16_000]) < 0.02


def test_silence_is_not_even_suspected() -> None:
    vad = Vad.load()
    hops = silence(2).reshape(-1, 160)
    assert not any([vad.suspects(hop) for hop in hops][50:])


def test_speech_ends_soon_after_its_last_sound() -> None:
    sound = np.concatenate([say("The boiler was last serviced in March."), silence(1)])
    vad = Vad.load()
    hops = sound[: len(sound) // 160 * 160].reshape(-1, 160)
    decisions = [vad.confirms(hop, suspected=vad.suspects(hop)) for hop in hops]
    last = int(np.nonzero(decisions)[0][-1])
    assert len(hops) - 100 - 30 < last < len(hops) - 100 + 25


def test_passages_do_not_depend_on_what_went_before() -> None:
    vad = Vad.load()
    hops = say("The boiler was last serviced in March.")[: 160 * 100].reshape(-1, 160)
    first = [vad.confirms(hop) for hop in hops]
    vad.forget()
    assert [vad.confirms(hop) for hop in hops] == first
