"""Looks for sound devices in a process of its own: ``python -m voice_agent.audio.probe``.

PortAudio ends the whole process on some broken configurations of ALSA, and a process that has
used it once does not see devices that come later. A child does not mind either.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np

from voice_agent.audio.devices import Device, choose
from voice_agent.errors import DeviceError

_LIMIT_S = 20.0
_SETTLING_S = 0.3


@dataclass(frozen=True)
class Probe:
    """What was found: the devices, and of the microphone the levels, where they were asked for.

    ``noise_db`` and ``peak_db`` are in dB of full scale, None without a measurement. ``fault``
    says why nothing could be found out.
    """

    devices: tuple[Device, ...] = ()
    noise_db: float | None = None
    peak_db: float | None = None
    fault: str = ""


def probe(microphone: str = "", *, measure_s: float = 0.0) -> Probe:
    """Return what a child process finds; with ``measure_s`` it listens to ``microphone`` so long.

    It never raises: what went wrong is the probe's ``fault``.
    """
    command = [sys.executable, "-m", "voice_agent.audio.probe", microphone, str(measure_s)]
    try:
        child = subprocess.run(
            command, capture_output=True, text=True, timeout=measure_s + _LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Probe(fault="The sound system does not answer.")
    if child.returncode < 0:
        return Probe(fault=f"PortAudio died by signal {-child.returncode}.")
    lines = child.stdout.splitlines()
    if child.returncode or not lines:
        return Probe(fault=(child.stderr.splitlines() or ["The probe failed."])[-1])
    found = json.loads(lines[-1])
    return Probe(
        tuple(Device(**row) for row in found["devices"]),
        found["noise_db"],
        found["peak_db"],
        found["fault"],
    )


def has_microphone(found: Probe, wanted: str) -> bool:
    """Return whether the microphone that is wanted ("": any) is there."""
    try:
        choose(found.devices, wanted, "input")
    except DeviceError:
        return False
    return True


def _look(microphone: str, measure_s: float) -> Probe:
    """Look for devices, in this process."""
    from voice_agent.audio import portaudio

    try:
        devices = tuple(portaudio.query())
    except DeviceError as error:
        return Probe(fault=str(error))
    if not measure_s:
        return Probe(devices)
    try:
        noise_db, peak_db = _measure(choose(devices, microphone, "input"), measure_s)
    except DeviceError as error:
        return Probe(devices, fault=str(error))
    return Probe(devices, noise_db, peak_db)


def _measure(device: Device, seconds: float) -> tuple[float, float]:
    """Return the noise floor (the 10th percentile of 20 ms levels) and the peak, in dB."""
    from voice_agent.audio import portaudio

    blocks: list[portaudio.Block] = []
    stream = portaudio.open_input(
        device,
        lambda block, _lost: blocks.append(block.copy()),
        latency_s=0.04,
        block_s=0.02,
        ended=lambda: None,
    )
    try:
        stream.start()
        time.sleep(_SETTLING_S + seconds)
    finally:
        stream.close()
    heard = blocks[round(_SETTLING_S / 0.02) :]
    if not heard:
        raise DeviceError(f"The microphone {device.name!r} delivers no sound.")
    levels = [_db(float(np.sqrt(np.mean(np.square(block))))) for block in heard]
    peak = max(float(np.abs(block).max()) for block in heard)
    return float(np.percentile(levels, 10)), _db(peak)


def _db(level: float) -> float:
    return round(20 * float(np.log10(max(level, 1e-10))), 1)


def main() -> None:
    """Print the probe as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("microphone")
    parser.add_argument("measure_s", type=float)
    args = parser.parse_args()
    sys.stdout.write(json.dumps(asdict(_look(args.microphone, args.measure_s))) + "\n")


if __name__ == "__main__":
    main()
