"""``say``: text to speech; ``devices``: microphones and loudspeakers."""

import argparse
import asyncio
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice_agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voice_agent.audio.devices import Device
    from voice_agent.audio.playback import Speaker
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Listener
    from voice_agent.settings import Settings
    from voice_agent.tts import PiperVoice


def add(verbs: "Verbs") -> None:
    """Add the verbs ``say`` and ``devices``."""
    say = verbs.add_parser("say", help="speak a text, as answers are spoken")
    say.add_argument("text", metavar="TEXT", nargs="?", help="what to say; without it, from stdin")
    say.add_argument("--out", type=Path, metavar="F", help="into this WAV file, not aloud")
    say.add_argument("--json", action="store_true", help="one JSON object a line")
    say.set_defaults(run=_say)
    devices = verbs.add_parser("devices", help="microphones and loudspeakers")
    devices.add_argument("--json", action="store_true", help="one JSON object a line")
    devices.set_defaults(run=_devices)


def _say(args: argparse.Namespace) -> int:
    from voice_agent.cli.output import JsonLines
    from voice_agent.settings import load_settings

    text = _text(args)
    settings = load_settings().settings
    listener: Listener = JsonLines(sys.stdout) if args.json else lambda event: None
    with _voice(settings) as voice, _speaker(args.out, settings, voice.rate_hz) as speaker:
        said = asyncio.run(_speak(text, voice, speaker, listener))
    if not said:
        sys.stderr.write("voice-agent: nothing in the text can be said.\n")
    return 0


def _text(args: argparse.Namespace) -> str:
    if args.text is not None:
        return str(args.text)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("There is no text.", mend="Give it after 'say', or through a pipe.")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


@contextmanager
def _voice(settings: "Settings") -> "Iterator[PiperVoice]":
    from voice_agent.catalogue import Catalogue, locate
    from voice_agent.places import places
    from voice_agent.tts import PiperVoice

    tts = settings.tts
    model = Catalogue.load().model(tts.voice)
    locate(model, places().models)
    voice = PiperVoice.load(model.weights(places().models), rate=tts.rate, volume=tts.volume)
    try:
        yield voice
    finally:
        voice.close()


@contextmanager
def _speaker(out: Path | None, settings: "Settings", rate_hz: int) -> "Iterator[Speaker]":
    from voice_agent.audio.playback import DeviceSpeaker, WavSpeaker

    if out is not None:
        with WavSpeaker(out, rate_hz) as file:
            yield file
        return
    audio = settings.audio
    latency_s = audio.output_latency_ms / 1000
    with DeviceSpeaker(audio.output_device, latency_s=latency_s) as device:
        yield device


async def _speak(text: str, voice: "PiperVoice", speaker: "Speaker", listener: "Listener") -> bool:
    """Say the text as an answer is said; return whether anything in it could be."""
    from voice_agent.engine import StopFlag
    from voice_agent.speaking import Speaking

    speaking = Speaking(voice, speaker, turn=None, stop=StopFlag(), emit=listener)
    speaking.feed(text)
    speaking.end()
    await speaking.run()
    return bool(speaking.spoken_text)


def _devices(args: argparse.Namespace) -> int:
    from voice_agent.audio.portaudio import query

    found = query()
    for device in found:
        line = json.dumps(_row(device), ensure_ascii=False) if args.json else _line(device)
        sys.stdout.write(line + "\n")
    if not found and not args.json:
        sys.stderr.write("voice-agent: there is no microphone and no loudspeaker here.\n")
    return 0


def _row(device: "Device") -> dict[str, Any]:
    return {
        "number": device.number,
        "name": device.name,
        "system": device.system,
        "inputs": device.inputs,
        "outputs": device.outputs,
        "rate_hz": device.rate_hz,
        "default_input": device.default_input,
        "default_output": device.default_output,
    }


def _line(device: "Device") -> str:
    uses = []
    if device.inputs:
        uses.append("microphone" + (" (default)" if device.default_input else ""))
    if device.outputs:
        uses.append("loudspeaker" + (" (default)" if device.default_output else ""))
    return f"{device.number:>3}  {device.name} · {device.system} · {', '.join(uses)}"
