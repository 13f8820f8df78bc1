"""``devices``: microphones and loudspeakers, how loud it is, and whether both work."""

import argparse
import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from voice_agent.cli.output import StandardOutput, Writable, say, say_row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voice_agent.audio.capture import DeviceMicrophone
    from voice_agent.audio.devices import Device
    from voice_agent.audio.format import Sound
    from voice_agent.audio.playback import DeviceSpeaker
    from voice_agent.cli.verbs import Verbs
    from voice_agent.settings import Settings

LEVEL_S = 10.0
"""So long the level is shown, unless a length is given."""
TEST_S = 3.0
"""So long the test records."""
QUIET_DBFS = -60.0
"""A peak under this is no sound that anybody made."""

_STEP_S = 0.2
_BAR_CHARS = 40
_TONE_HZ = (523.25, 659.25, 783.99)  # C major, a note after the other
_NOTE_S = 0.25


def add(verbs: "Verbs") -> None:
    """Add the verb ``devices``."""
    devices = verbs.add_parser(
        "devices",
        help="microphones and loudspeakers",
        description="Lists microphones and loudspeakers. The level and the test use those of "
        "audio.input_device and audio.output_device.",
    )
    which = devices.add_mutually_exclusive_group()
    which.add_argument(
        "--level",
        nargs="?",
        type=_seconds,
        const=LEVEL_S,
        metavar="SECONDS",
        help="show how loud the microphone hears (10 s)",
    )
    which.add_argument(
        "--test", action="store_true", help="play a sound, record for 3 s, play the recording"
    )
    devices.add_argument("--json", action="store_true", help="one JSON object a line")
    devices.set_defaults(run=_devices)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds


def _devices(args: argparse.Namespace) -> int:
    from voice_agent.cli.signals import until_signal
    from voice_agent.settings import load_settings

    if args.level is None and not args.test:
        return _list(json_lines=args.json)
    settings = load_settings().settings
    work = _test(settings, args.json) if args.test else _level(settings, args.level, args.json)
    return asyncio.run(until_signal(work, lambda cause: False))


def _list(*, json_lines: bool) -> int:
    from voice_agent.audio.portaudio import query

    found = query()
    for device in found:
        if json_lines:
            say_row(_row(device))
        else:
            say(_line(device))
    if not found and not json_lines:
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


async def _level(settings: "Settings", seconds: float, json_lines: bool) -> int:
    """Show the level five times a second, then what was lost."""
    from voice_agent.audio.capture import DeviceMicrophone

    with DeviceMicrophone(settings.audio.input_device) as microphone:
        if not json_lines:
            sys.stderr.write(f"voice-agent: {microphone.device.name}; Ctrl-C ends it.\n")
        meter = Meter(StandardOutput(), over=sys.stdout.isatty())
        at_s = 0.0
        async with aclosing(_stretches(microphone, seconds)) as stretches:
            async for samples in stretches:
                at_s = round(at_s + len(samples) / 16_000, 2)
                row = {"t_s": at_s, **levels(samples)}
                say_row(row) if json_lines else meter.show(row["rms_dbfs"], row["peak_dbfs"])
        lost = {"overruns": microphone.overruns, "dropped_blocks": microphone.dropped_blocks}
    if json_lines:
        say_row(lost)
    else:
        meter.end()
        say(f"{lost['overruns']} overruns, {lost['dropped_blocks']} dropped blocks")
    return 0


def levels(samples: "NDArray[np.float32]") -> dict[str, float]:
    """Return the levels of samples in [-1, 1], in dBFS."""
    from voice_agent.audio.level import peak_dbfs, rms_dbfs

    return {
        "rms_dbfs": round(rms_dbfs(samples), 1),
        "peak_dbfs": round(peak_dbfs(samples), 1),
    }


class Meter:
    """Draws a level: over and over the same line on a terminal, a line each elsewhere."""

    def __init__(self, stream: Writable, *, over: bool) -> None:
        self._stream = stream
        self._over = over

    def show(self, rms_dbfs: float, peak_dbfs: float) -> None:
        """Draw the next level."""
        text = bar(rms_dbfs, peak_dbfs)
        self._stream.write(f"\r{text}" if self._over else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Leave the last level standing."""
        if self._over:
            self._stream.write("\n")


def bar(rms_dbfs: float, peak_dbfs: float) -> str:
    """Return a bar up to the RMS level with a mark at the peak, from -60 to 0 dBFS."""
    filled, mark = (_cell(level) for level in (rms_dbfs, peak_dbfs))
    cells = ["#" if n < filled else " " for n in range(_BAR_CHARS)]
    if mark:
        cells[mark - 1] = "|"
    clipped = "  too loud" if peak_dbfs > -0.1 else ""
    return (
        f"[{''.join(cells)}] rms {rms_dbfs:6.1f}  peak {peak_dbfs:6.1f} dBFS{clipped or ' ' * 10}"
    )


def _cell(level_dbfs: float) -> int:
    share = 1 - level_dbfs / QUIET_DBFS
    return round(_BAR_CHARS * min(max(share, 0.0), 1.0))


async def _stretches(
    microphone: "DeviceMicrophone", seconds: float
) -> "AsyncGenerator[NDArray[np.float32], None]":
    """Yield what is heard in stretches of a fifth of a second, float32 at 16 kHz."""
    import numpy as np

    from voice_agent.audio.format import SAMPLE_RATE_HZ

    left = round(seconds * SAMPLE_RATE_HZ)
    waiting = np.zeros(0, np.float32)
    async with aclosing(microphone.blocks()) as blocks:
        async for block in blocks:
            waiting = np.concatenate([waiting, block.samples])[:left]
            if len(waiting) >= min(_STEP_S * SAMPLE_RATE_HZ, left):
                left -= len(waiting)
                yield waiting
                waiting = waiting[:0]
            if left <= 0:
                return


async def _test(settings: "Settings", json_lines: bool) -> int:
    """Play three notes, record, play the recording; say what came of it."""
    import numpy as np

    from voice_agent.audio.capture import DeviceMicrophone
    from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound
    from voice_agent.audio.playback import DeviceSpeaker

    audio = settings.audio
    speaker = DeviceSpeaker(audio.output_device, latency_s=audio.output_latency_ms / 1000)
    with DeviceMicrophone(audio.input_device) as microphone, speaker:
        tell = (lambda text: None) if json_lines else say
        tell(f"Three notes on {speaker.device.name!r}.")
        await speaker.play(notes())
        tell(f"Say something: {microphone.device.name!r} is recorded for {TEST_S:g} s.")
        async with aclosing(_stretches(microphone, TEST_S)) as stretches:
            recorded = np.concatenate([samples async for samples in stretches])
        tell("This is the recording.")
        await speaker.play(Sound(recorded, SAMPLE_RATE_HZ))
        row = _outcome(recorded, microphone, speaker)
    if json_lines:
        say_row(row)
    else:
        say(_verdict(row))
    return 0 if row["heard_something"] else 1


def notes() -> "Sound":
    """Return three rising notes."""
    import numpy as np

    from voice_agent.audio.format import Sound

    rate_hz = 48_000
    at_s = np.arange(round(_NOTE_S * rate_hz)) / rate_hz
    soft = np.minimum(1.0, np.minimum(at_s, _NOTE_S - at_s) / 0.02)
    tones = [0.2 * soft * np.sin(2 * np.pi * tone_hz * at_s) for tone_hz in _TONE_HZ]
    return Sound(np.concatenate(tones).astype(np.float32), rate_hz)


def _outcome(
    recorded: "NDArray[np.float32]", microphone: "DeviceMicrophone", speaker: "DeviceSpeaker"
) -> dict[str, Any]:
    found = levels(recorded)
    return {
        "input_device": microphone.device.name,
        "output_device": speaker.device.name,
        **found,
        "heard_something": found["peak_dbfs"] > QUIET_DBFS,
        "overruns": microphone.overruns,
        "dropped_blocks": microphone.dropped_blocks,
        "underruns": speaker.underruns,
    }


def _verdict(row: dict[str, Any]) -> str:
    lost = (
        f"{row['overruns']} overruns, {row['dropped_blocks']} dropped blocks, "
        f"{row['underruns']} underruns"
    )
    level = f"rms {row['rms_dbfs']} dBFS, peak {row['peak_dbfs']} dBFS; {lost}."
    if not row["heard_something"]:
        return f"The microphone heard nothing: {level}\nIs it muted? Is another one meant?"
    return (
        f"The microphone works: {level}\nIf you heard notes and recording, so does the loudspeaker."
    )
