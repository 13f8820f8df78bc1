"""Sound for the tests of the listening front end, made by the project's own voice."""

import asyncio
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.tts import PiperVoice

Samples = NDArray[np.float32]
VOICE = "en_US-joe-medium"
MODELS = Path(__file__).parent.parent / "models"


@cache
def say(text: str) -> Samples:
    """Return ``text`` spoken, float32 of shape (n,) at 16 kHz, without the silence around it."""
    return asyncio.run(_spoken(text))


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * SAMPLE_RATE_HZ), np.float32)


def noise(seconds: float, level: float) -> Samples:
    samples = np.random.default_rng(7).standard_normal(round(seconds * SAMPLE_RATE_HZ))
    return (level * samples).astype(np.float32)


def echo_of(samples: Samples, *, level: float = 0.5, room_s: float = 0.2) -> Samples:
    """Return ``samples`` as the microphone hears them: 40 ms later, from all sides of a room."""
    n = int(room_s * SAMPLE_RATE_HZ)
    decay = np.exp(-6 * np.arange(n) / n)
    room = np.random.default_rng(3).standard_normal(n) * decay
    room[0] = 3
    heard = np.convolve(samples, room / np.abs(room).sum() * 4)[: len(samples)]
    return np.concatenate([silence(0.04), level * heard])[: len(samples)].astype(np.float32)


async def _spoken(text: str) -> Samples:
    onnxruntime.set_seed(7)  # the voice says nothing twice in the same way
    voice = PiperVoice.load(MODELS / VOICE / f"{VOICE}.onnx")
    try:
        samples = (await voice.synthesize(text)).sound.at(SAMPLE_RATE_HZ).samples
    finally:
        voice.close()
    loud = np.nonzero(np.abs(samples) > 0.03 * np.abs(samples).max())[0]
    return samples[loud[0] : loud[-1] + 1]
