"""Playback on a real sound server, each time in a program of its own: PortAudio looks once."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from voice_agent.audio.format import Sound, read_recording, resample
from voice_agent.audio.playback import WavSpeaker
from voice_agent.bench.sound_server import RATE_HZ, SoundServer, read, sound_server
from voice_agent.errors import RecordingError

PLAY = """
import asyncio, sys
import numpy as np
from voice_agent.audio.format import Sound
from voice_agent.audio.playback import DeviceSpeaker
from voice_agent.errors import DeviceError
samples = np.load(sys.argv[1])
whole = Sound(samples, 22050)
half = Sound(samples[: len(samples) // 2], 22050), Sound(samples[len(samples) // 2 :], 22050)

async def main():
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    with sound_server(tmp_path) as server:
        yield server


def sweep(seconds: float) -> NDArray[np.float32]:
    """A tone that rises from 200 to 2,000 Hz, loud from its first sample on, at 22,050 Hz."""
    at = np.arange(int(seconds * 22_050)) / 22_050
    return (0.5 * np.cos(2 * np.pi * (200 + 900 * at / seconds) * at)).astype(np.float32)


def play(server: SoundServer, samples: NDArray[np.float32], body: str) -> tuple[str, Sound]:
    """Run ``body`` against the server; return its output and what the loudspeaker played."""
    np.save(server.folder / "samples.npy", samples)
    code = PLAY + "".join(f"    {line}\n" for line in body.splitlines()) + "asyncio.run(main())"
    command = [sys.executable, "-W", "error", "-c", code, str(server.folder / "samples.npy")]
    with server.recording(server.folder / "heard"):
        done = subprocess.run(command, env=server.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, Sound(read(server.folder / "heard"), RATE_HZ)


def loud(sound: Sound) -> NDArray[np.float32]:
    """From the first to the last sample that is not silence."""
    at = np.flatnonzero(np.abs(sound.samples) > 0.05)
    return sound.samples[at[0] : at[-1] + 1]


@pytest.mark.parametrize(
    "body",
    [
        "with DeviceSpeaker() as s:\n    print(await s.play(whole))",
        "with DeviceSpeaker() as s:\n    print(sum(await asyncio.gather(*map(s.play, half))))",
    ],
    ids=["one sound", "two sounds without a gap"],
)
def test_what_was_played_is_what_is_heard(server: SoundServer, body: str) -> None:
    samples = sweep(1.5)
    output, recorded = play(server, samples, body)
    expected = resample(samples, 22_050, RATE_HZ)
    got = loud(recorded)
    assert int(output) == len(samples)
    assert abs(len(got) - len(expected)) < 0.005 * RATE_HZ
    size = min(len(got), len(expected))
    best = max(np.corrcoef(got[n:size], expected[: size - n])[0, 1] for n in range(200))
    assert max(best, np.corrcoef(got[:size], expected[:size])[0, 1]) > 0.95


def test_abort_is_silent_and_knows_how_much_was_heard(server: SoundServer) -> None:
    output, recorded = play(
        server,
        sweep(6),
        "with DeviceSpeaker() as s:\n"
        "    task = asyncio.create_task(s.play(whole))\n"
        "    late = asyncio.create_task(s.play(whole))\n"
        "    await asyncio.sleep(1.0)\n"
        "    s.abort()\n"
        "    print(await task, await late, s.played_samples)\n"
        "    await asyncio.sleep(0.5)",
    )
    first, second, played = map(int, output.split())
    assert (second, played) == (0, first)
    assert abs(first / 22_050 - len(loud(recorded)) / RATE_HZ) < 0.15


def test_after_an_abort_the_next_sound_is_whole(server: SoundServer) -> None:
    output, recorded = play(
        server,
        sweep(1),
        "with DeviceSpeaker() as s:\n"
        "    task = asyncio.create_task(s.play(whole))\n"
        "    s.abort()\n"
        "    await task\n"
        "    print(await s.play(whole))",
    )
    assert int(output) == 22_050
    assert len(loud(recorded)) > 0.99 * RATE_HZ


def test_a_sound_that_nobody_wants_any_more_gives_way_to_the_next(server: SoundServer) -> None:
    output, recorded = play(
        server,
        sweep(6),
        "with DeviceSpeaker() as s:\n"
        "    begun, waiting = [asyncio.create_task(s.play(whole)) for _ in range(2)]\n"
        "    await asyncio.sleep(1.0)\n"
        "    begun.cancel()\n"
        "    waiting.cancel()\n"
        "    await asyncio.sleep(0)\n"
        "    print(await s.play(Sound(samples[:22050], 22050)), begun.cancelled())",
    )
    assert output.split() == ["22050", "True"]
    assert 1.8 < len(loud(recorded)) / RATE_HZ < 3.0


def test_a_sound_after_a_long_rest_is_whole(server: SoundServer) -> None:
    output, recorded = play(
        server,
        sweep(0.5),
        "with DeviceSpeaker() as s:\n"
        "    await s.play(whole)\n"
        "    await asyncio.sleep(2.5)\n"
        "    print(await s.play(whole))",
    )
    assert int(output) == 11_025
    assert np.count_nonzero(np.abs(recorded.samples) > 0.05) > 0.8 * RATE_HZ


def test_a_server_that_dies_is_an_error_and_no_endless_wait(server: SoundServer) -> None:
    np.save(server.folder / "samples.npy", sweep(60))
    code = PLAY + (
        "    with DeviceSpeaker() as s:\n"
        "        task = asyncio.create_task(s.play(whole))\n"
        "        await asyncio.sleep(1)\n"
        "        print('playing', flush=True)\n"
        "        try: await task\n"
        "        except DeviceError as error: print(error)\n"
        "asyncio.run(main())"
    )
    command = [sys.executable, "-c", code, str(server.folder / "samples.npy")]
    with subprocess.Popen(command, env=server.env, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "playing\n"
        server.die()
        assert "stopped playing" in child.stdout.read()


def test_a_server_that_is_gone_is_an_error_and_the_next_one_is_used(server: SoundServer) -> None:
    np.save(server.folder / "samples.npy", sweep(0.5))
    code = PLAY + (
        "    with DeviceSpeaker() as s:\n"
        "        await s.play(whole)\n"
        "        await asyncio.sleep(2.5)\n"
        "        print('resting', flush=True)\n"
        "        input()\n"
        "        try: await s.play(whole)\n"
        "        except DeviceError as error: print(error, flush=True)\n"
        "        input()\n"
        "        print(await s.play(whole), flush=True)\n"
        "asyncio.run(main())"
    )
    command = [sys.executable, "-c", code, str(server.folder / "samples.npy")]
    with subprocess.Popen(
        command, env=server.env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdin and child.stdout
        assert child.stdout.readline() == "resting\n"
        server.die()
        child.stdin.write("\n")
        child.stdin.flush()
        assert "cannot be used" in child.stdout.readline()
        (server.folder / "native").unlink()
        with sound_server(server.folder):
            child.stdin.write("\n")
            child.stdin.flush()
            assert child.stdout.readline() == "11025\n"


async def test_a_file_takes_the_place_of_the_loudspeaker(tmp_path: Path) -> None:
    with WavSpeaker(tmp_path / "said.wav", 22_050) as speaker:
        counts = [await speaker.play(Sound(sweep(0.5), 22_050)) for _ in range(2)]
    assert (counts, speaker.played_samples) == ([11_025, 11_025], 22_050)
    assert read_recording(tmp_path / "said.wav").seconds == pytest.approx(1.0, abs=0.01)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="missing"), WavSpeaker(tmp_path / "missing/a", 22_050):
        pass
