"""A private PulseAudio without a sound card: what is played can be recorded, and the reverse."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voice_agent.errors import DeviceError

RATE_HZ = 48_000
MICROPHONE = "microphone"
LOUDSPEAKER = "loudspeaker"
"""The virtual devices: what is played to the one is heard, what the other plays can be recorded."""

_PROGRAMS = ("pulseaudio", "parec", "paplay")
_SETUP = """\
load-module module-native-protocol-unix auth-anonymous=1 socket={socket}
load-module module-null-sink sink_name=microphone rate=48000 channels=1
load-module module-null-sink sink_name=loudspeaker rate=48000 channels=2
load-module module-remap-source source_name=virtual_microphone master=microphone.monitor
set-default-sink loudspeaker
set-default-source virtual_microphone
"""
_ECHO = "load-module module-loopback source=loudspeaker.monitor sink=microphone latency_msec=20\n"
_ALSA = """\
</usr/share/alsa/alsa.conf>
pcm.!default {{ type pulse server "unix:{socket}" }}
ctl.!default {{ type pulse server "unix:{socket}" }}
"""


@dataclass(frozen=True)
class SoundServer:
    """Runs in a folder; a program reaches it with the variables of ``env``."""

    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def devices(self) -> dict[str, str]:
        """The variables that make a program use this server and nothing else."""
        return {
            "PULSE_SERVER": f"unix:{self.folder / 'native'}",
            "ALSA_CONFIG_PATH": str(self.folder / "alsa.conf"),
        }

    @property
    def env(self) -> dict[str, str]:
        """The environment of such a program, with settings of its own."""
        return os.environ | self.devices | {"XDG_CONFIG_HOME": str(self.folder / "config")}

    @contextmanager
    def recording(self, file: Path) -> Iterator[None]:
        """Record meanwhile what the loudspeaker plays; `read` gives it."""
        command = [
            "parec",
            "--device=loudspeaker.monitor",
            "--format=float32le",
            "--latency-msec=20",
        ]
        with file.open("wb") as raw:
            recorder = subprocess.Popen(
                [*command, f"--rate={RATE_HZ}", "--channels=1"], stdout=raw, env=self.env
            )
            try:
                _until(lambda: file.stat().st_size > 0)
                yield
                time.sleep(0.3)  # what is played reaches the monitor a little later
            finally:
                recorder.terminate()
                recorder.wait()

    def feed(self, file: Path) -> None:
        """Play a sound file into the microphone, to its end."""
        # with paplay's own latency the microphone would deliver in bursts
        command = ["paplay", "--device=microphone", "--latency-msec=20", str(file)]
        subprocess.run(command, env=self.env, check=True)

    @contextmanager
    def playing(self, file: Path) -> Iterator[None]:
        """Play a sound file into the microphone meanwhile."""
        command = ["paplay", f"--device={MICROPHONE}", "--latency-msec=20", str(file)]
        player = subprocess.Popen(command, env=self.env)
        try:
            yield
        finally:
            player.terminate()
            player.wait()

    def die(self) -> None:
        """End without a word, as in a crash."""
        self.process.kill()
        self.process.wait()


def read(file: Path) -> NDArray[np.float32]:
    """Return a recording as float32 of shape (n,) at `RATE_HZ`."""
    raw = file.read_bytes()
    return np.frombuffer(raw[: len(raw) // 4 * 4], np.float32)


def check_installed() -> None:
    """Raise DeviceError where PulseAudio and its tools are not installed."""
    if missing := [name for name in _PROGRAMS if shutil.which(name) is None]:
        raise DeviceError(
            f"A private sound server needs {', '.join(missing)}, which is not installed.",
            mend="Run 'sudo apt install pulseaudio pulseaudio-utils libasound2-plugins'.",
        )


@contextmanager
def sound_server(folder: Path, *, echo: bool = False) -> Iterator[SoundServer]:
    """Start a server in ``folder`` and end it; with ``echo`` the microphone hears the speaker.

    Raises DeviceError where PulseAudio is missing or does not start.
    """
    check_installed()
    socket = folder / "native"
    setup = _SETUP + (_ECHO if echo else "")
    (folder / "setup.pa").write_text(setup.format(socket=socket))
    (folder / "alsa.conf").write_text(_ALSA.format(socket=socket))
    env = os.environ | {"XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    command = ["pulseaudio", "-n", "-F", str(folder / "setup.pa"), "--exit-idle-time=-1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        _until(socket.exists)
        yield SoundServer(folder, process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait()


def _until(done: Callable[[], bool]) -> None:
    for _ in range(200):
        if done():
            return
        time.sleep(0.05)
    raise DeviceError(
        "The private sound server did not start.",
        mend="See what 'pulseaudio -n --exit-idle-time=-1 -v' says.",
    )
