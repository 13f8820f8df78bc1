"""Microphones: a recording at its true speed, and a device of a real sound server."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from voice_agent.audio.capture import RecordedMicrophone
from voice_agent.bench.sound_server import RATE_HZ, SoundServer, sound_server

LISTEN = """
import asyncio, sys
from contextlib import aclosing
import numpy as np
from voice_agent.audio.capture import DeviceMicrophone
from voice_agent.errors import DeviceError

async def main():
    parts, times = [], []
    with DeviceMicrophone(sys.argv[2]) as microphone:
        try:
            async with aclosing(microphone.blocks()) as blocks:
                async for captured in blocks:
                    if not parts:
                        print(microphone.device.rate_hz, flush=True)
                    parts.append(captured.samples)
                    times.append(captured.at_s)
                    if sum(map(len, parts)) >= 16_000 * float(sys.argv[3]):
                        break
        except DeviceError as error:
            print(error, flush=True)
    np.savez(sys.argv[1], sound=np.concatenate(parts), times=times, sizes=[len(p) for p in parts],
             lost=microphone.overruns + microphone.dropped_blocks)

asyncio.run(main())
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    with sound_server(tmp_path) as server:
        yield server


def listen(server: SoundServer, device: str, seconds: float) -> subprocess.Popen[str]:
    file = str(server.folder / "heard.npz")
    command = [sys.executable, "-W", "error", "-c", LISTEN, file, device, str(seconds)]
    return subprocess.Popen(command, env=server.env, stdout=subprocess.PIPE, text=True)


def sweep(seconds: float) -> NDArray[np.float32]:
    at = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    return (0.5 * np.sin(2 * np.pi * (300 + 600 * at) * at)).astype(np.float32)


@pytest.mark.parametrize("device", ["", "pulse"])
def test_what_is_played_into_the_microphone_is_heard_whole(
    server: SoundServer, device: str
) -> None:
    sound = sweep(1.0)
    soundfile.write(server.folder / "played.wav", sound, RATE_HZ)
    with listen(server, device, 4.0) as child:
        assert child.stdout and int(child.stdout.readline()) in (44_100, 48_000)
        server.feed(server.folder / "played.wav")
        child.communicate()
    heard = np.load(server.folder / "heard.npz")
    expected = sound[::3]
    found = np.correlate(heard["sound"], expected)
    match = heard["sound"][found.argmax() : found.argmax() + len(expected)]
    assert heard["lost"] == 0
    assert np.corrcoef(match, expected)[0, 1] > 0.95
    positions = np.concatenate([[0], np.cumsum(heard["sizes"])[:-1]]) / 16_000
    assert np.ptp(heard["times"] - positions) < 0.1


def test_a_server_that_dies_is_an_error(server: SoundServer) -> None:
    with listen(server, "", 60.0) as child:
        assert child.stdout
        child.stdout.readline()
        server.die()
        assert "delivers no sound" in child.communicate()[0]


async def test_a_recording_plays_at_its_true_speed_and_then_silence(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "asked.wav", np.full(4_800, 0.5, np.float32), 16_000)
    microphone = RecordedMicrophone(tmp_path / "asked.wav")
    began_s = asyncio.get_running_loop().time()
    parts: list[NDArray[np.float32]] = []
    async with aclosing(microphone.blocks()) as blocks:
        async for captured in blocks:
            parts.append(captured.samples)
            assert asyncio.get_running_loop().time() >= captured.at_s + 0.039
            if len(parts) == 10:
                break
    whole = np.concatenate(parts)
    assert captured.at_s >= began_s + 0.35
    assert microphone.ended
    assert np.count_nonzero(whole > 0.4) == 4_800
    assert not whole[4_800:].any()
