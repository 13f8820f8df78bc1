"""Checks of what is heard and spoken: sound server, devices, level of the microphone."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from voice_agent.audio.devices import Kind, choose
from voice_agent.audio.probe import Probe
from voice_agent.doctor.echo_path import AUDIBLE, EchoPath
from voice_agent.doctor.findings import Finding, fault, good
from voice_agent.errors import DeviceError

MEASURE_S = 2.0
SILENT_DB = -90.0
"""Below this even a quiet room's microphone delivers nothing but zeros."""
LOUD_DB = -35.0
CLIPPING_DB = -0.5
MOST_DELAY_S = 0.5
"""The canceller's tail: what comes later is not taken out."""


def server(env: Mapping[str, str] = os.environ) -> Finding:
    """Check that a sound server runs."""
    check = "sound server"
    if env.get("PULSE_SERVER"):
        return good(check, f"chosen by PULSE_SERVER: {env['PULSE_SERVER']}")
    runtime = Path(env.get("XDG_RUNTIME_DIR") or "/nonexistent")
    found = {"PulseAudio or its stand-in": "pulse/native", "PipeWire": "pipewire-0"}
    running = [name for name, socket in found.items() if (runtime / socket).exists()]
    if not running:
        return Finding(
            check,
            "note",
            "none runs for this user; ALSA's own devices are used.",
            "systemctl --user start pipewire pipewire-pulse, or pulseaudio",
        )
    return good(check, " and ".join(running))


def devices(found: Probe, microphone: str, loudspeaker: str) -> Iterator[Finding]:
    """Check that the microphone and the loudspeaker of the settings are there."""
    if found.fault and not found.devices:
        yield Finding(
            "devices",
            "mend",
            found.fault,
            "See that the sound server runs, and ALSA's configuration (ALSA_CONFIG_PATH).",
        )
        return
    yield _device(found, "input", microphone)
    yield _device(found, "output", loudspeaker)


def level(found: Probe) -> Finding:
    """Check what the microphone delivers while nobody speaks."""
    check = "microphone level"
    if found.noise_db is None or found.peak_db is None:
        text = found.fault or "not measured."
        return Finding(check, "mend", text, "Connect a microphone, or see what else is using it.")
    figures = f"noise floor {found.noise_db:.0f} dB, peak {found.peak_db:.0f} dB of full scale"
    if found.peak_db < SILENT_DB:
        mend = "Unmute it and turn it up: pactl set-source-mute @DEFAULT_SOURCE@ 0"
        return Finding(check, "mend", f"It delivers digital silence ({figures}).", mend)
    if found.peak_db > CLIPPING_DB:
        mend = "Turn it down: pactl set-source-volume @DEFAULT_SOURCE@ 70%"
        return Finding(check, "mend", f"It is overdriven ({figures}).", mend)
    if found.noise_db > LOUD_DB:
        mend = "Quieten the room, or turn the microphone down."
        return Finding(check, "note", f"The room or the microphone is loud ({figures}).", mend)
    return good(check, figures)


def echo(found: EchoPath) -> Finding:
    """Say what of the loudspeaker the microphone hears, and how much later."""
    check = "echo path"
    if found.fault:
        mend = "See the devices above."
        return Finding(check, "mend", found.fault, mend)
    if found.clear < AUDIBLE:
        return good(check, "the microphone does not hear the loudspeaker")
    figures = f"{found.gain_db:.0f} dB, {1000 * found.delay_s:.0f} ms after it was sent"
    if not 0 <= found.delay_s <= MOST_DELAY_S:
        mend = "Use a loudspeaker with a shorter delay; wireless ones may have a mode for it."
        return Finding(check, "note", f"It comes late: {figures}.", mend)
    return good(check, figures)


def _device(found: Probe, kind: Kind, wanted: str) -> Finding:
    check = "microphone" if kind == "input" else "loudspeaker"
    try:
        device = choose(found.devices, wanted, kind)
    except DeviceError as error:
        return fault(check, error)
    return good(check, f"{device.name!r} of {device.system}, {device.rate_hz} Hz")
