"""PortAudio on a real sound server that hangs or dies, each time in a program of its own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent.bench.sound_server import SoundServer, sound_server

BEGIN = """
import asyncio, sys, time
from voice_agent.audio import portaudio
from voice_agent.audio.capture import DeviceMicrophone
from voice_agent.audio.devices import choose
from voice_agent.errors import DeviceError
from voice_agent.hearing import Hearing, Said

def tell(*words):
    print(*words, flush=True)

def microphone_stream(ended=lambda: None):
    device = choose(portaudio.query(), "", "input")
    return portaudio.open_input(
        device, lambda block, lost: None, latency_s=0.04, block_s=0.04, ended=ended)

"""
CLOSE = """
stream = microphone_stream()
stream.start()
tell("runs")
input()
began = time.monotonic()
stream.close()
tell("quick" if time.monotonic() - began < 0.5 else "slow")
"""
RESCAN = """
stream = microphone_stream()
tell(portaudio.rescan())
stream.close().result(10)
tell(portaudio.rescan(), bool(portaudio.query()))
"""
RATES = """
import sounddevice
device = choose(portaudio.query(), "", "input")
def only_44_100(rate_hz):
    if rate_hz != 44_100:
        raise sounddevice.PortAudioError("Invalid sample rate", -9997)
    return sounddevice.InputStream(device=device.number, samplerate=rate_hz)
def busy(rate_hz):
    raise sounddevice.PortAudioError("Device unavailable", -9985)
stream = portaudio._open(device, only_44_100)
tell(stream.rate_hz)
stream.close().result(10)
try:
    portaudio._open(device, busy)
except DeviceError as error:
    tell(error)
"""
HEAR = """
async def main():
    with DeviceMicrophone() as microphone:
        said = Said(lambda event: tell(type(event).__name__), lambda name: None)
        hearing = Hearing(microphone, said, began=lambda at_s: tell("hears"))
        async for captured in hearing.blocks(asyncio.Event()):
            pass

asyncio.run(main())
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SoundServer]:
    with sound_server(tmp_path) as server:
        yield server


def program(server: SoundServer, body: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BEGIN + body]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=server.env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_closing_and_the_end_of_the_program_wait_for_no_server(
    server: SoundServer, number: signal.Signals
) -> None:
    with program(server, CLOSE) as child:
        assert child.stdout and child.stdout.readline() == "runs\n"
        server.process.send_signal(number)
        output, complaints = child.communicate("\n", timeout=120)
        server.process.send_signal(signal.SIGCONT)
    assert (output, complaints, child.returncode) == ("quick\n", "", 0)


def test_devices_are_looked_for_again_when_no_stream_is_open(server: SoundServer) -> None:
    with program(server, RESCAN) as child:
        assert child.communicate(timeout=120) == ("False\nTrue True\n", "")


def test_a_device_is_opened_at_the_rate_it_can_and_a_busy_one_is_named(
    server: SoundServer,
) -> None:
    with program(server, RATES) as child:
        output, _ = child.communicate(timeout=120)
    assert output.startswith("44100\nThe device 'default' is busy")


def test_a_microphone_hears_again_when_the_server_is_back(server: SoundServer) -> None:
    with program(server, HEAR) as child:
        assert child.stdout and child.stdout.readline() == "hears\n"
        server.die()
        assert child.stdout.readline() == "Error\n"
        (server.folder / "native").unlink()
        with sound_server(server.folder):
            told = {child.stdout.readline() for _ in range(2)}
            child.kill()
    assert told <= {"hears\n", "HearsAgain\n", "Error\n"}
    assert told != {"Error\n"}
