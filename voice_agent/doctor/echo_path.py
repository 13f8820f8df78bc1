"""Measures the way from the loudspeaker to the microphone, in a process of its own.

``python -m voice_agent.doctor.echo_path MICROPHONE LOUDSPEAKER`` plays a second of soft noise and
looks for it in what the microphone hears, by cross-correlation.
"""

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio import portaudio
from voice_agent.audio.devices import choose
from voice_agent.audio.format import resample
from voice_agent.errors import DeviceError

AUDIBLE = 8.0
"""So many times higher than what lies around it must the correlation's peak be."""
_NOISE_S = 1.0
_LISTEN_S = 2.5
_LEVEL = 0.1
_LIMIT_S = 30.0


@dataclass(frozen=True)
class EchoPath:
    """``delay_s`` from handing a sample to the system until it is heard; ``gain_db`` of the way.

    ``clear`` is how far the correlation's peak stands out. ``fault`` says why there is nothing.
    """

    delay_s: float = 0.0
    gain_db: float = 0.0
    clear: float = 0.0
    fault: str = ""


def measure(microphone: str, loudspeaker: str) -> EchoPath:
    """Return what a child process measures; it never raises."""
    command = [sys.executable, "-m", "voice_agent.doctor.echo_path", microphone, loudspeaker]
    try:
        child = subprocess.run(
            command, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return EchoPath(fault="The sound system does not answer.")
    lines = child.stdout.splitlines()
    if child.returncode or not lines:
        return EchoPath(fault=(child.stderr.splitlines() or ["The sound system failed."])[-1])
    return EchoPath(**json.loads(lines[-1]))


def located(
    played: NDArray[np.float32], heard: NDArray[np.float32], rate_hz: int
) -> tuple[float, float, float]:
    """Return the lag in s, the gain in dB and the clearness of ``played`` in ``heard``.

    Both are float32 of shape (n,) at ``rate_hz``. The method is plain cross-correlation.
    """
    size = 1 << (len(played) + len(heard) - 1).bit_length()
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size))
    found = np.abs(np.fft.irfft(spectrum, size)[: len(heard)])
    at = int(found.argmax())
    gain = float(found[at]) / float(np.square(played).sum())
    around = float(np.median(found)) + 1e-12
    return at / rate_hz, round(20 * float(np.log10(gain + 1e-10)), 1), float(found[at]) / around


def _measure(microphone: str, loudspeaker: str) -> EchoPath:
    devices = portaudio.query()
    heard, played = choose(devices, microphone, "input"), choose(devices, loudspeaker, "output")
    dice = np.random.default_rng(1)
    noise = dice.normal(0, _LEVEL, round(_NOISE_S * played.rate_hz)).astype(np.float32)
    blocks: list[portaudio.Block] = []
    moments: dict[str, float] = {}
    sent = 0

    def take(block: portaudio.Block, _lost: bool) -> None:
        moments.setdefault("heard", time.monotonic() - len(block) / heard.rate_hz)
        blocks.append(block.copy())

    def fill(block: portaudio.Block, _ahead_s: float, _late: bool) -> None:
        nonlocal sent
        moments.setdefault("sent", time.monotonic())
        part = noise[sent : sent + len(block)]
        block[:] = 0
        block[: len(part)] = part[:, np.newaxis]
        sent += len(block)

    _run(
        portaudio.open_input(heard, take, latency_s=0.04, block_s=0.02, ended=lambda: None),
        portaudio.open_output(played, fill, latency_s=0.08, ended=lambda: None),
    )
    if not blocks or "sent" not in moments:
        return EchoPath(fault="Nothing was played or heard.")
    recording = np.ascontiguousarray(np.concatenate(blocks).mean(axis=1), np.float32)
    lag_s, gain_db, clear = located(
        resample(noise, played.rate_hz, heard.rate_hz), recording, heard.rate_hz
    )
    delay_s = moments["heard"] + lag_s - moments["sent"]
    return EchoPath(round(delay_s, 3), gain_db, round(clear, 1))


def _run(listening: portaudio.Stream, playing: portaudio.Stream) -> None:
    try:
        listening.start()
        time.sleep(0.3)
        playing.start()
        time.sleep(_LISTEN_S)
    finally:
        for stream in (playing, listening):
            stream.close()


def main() -> None:
    """Print what was measured as JSON."""
    try:
        found = _measure(sys.argv[1], sys.argv[2])
    except DeviceError as error:
        found = EchoPath(fault=str(error))
    sys.stdout.write(json.dumps(asdict(found)) + "\n")


if __name__ == "__main__":
    main()
