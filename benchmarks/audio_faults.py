"""What becomes of sound that fails: noticed after, healed after, lost turns, leaks.

    PYTHONPATH=. python benchmarks/audio_faults.py [--real N] [--stand-in N]

Real faults are made on a private sound server; those that need hardware on a stand-in behind the
seam of the sound devices. A turn is a sound of one second, played after each healing. No language
model takes part.
"""

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import numpy as np

from voice_agent.audio import portaudio
from voice_agent.audio.capture import Captured, DeviceMicrophone
from voice_agent.audio.format import Sound
from voice_agent.audio.playback import DeviceSpeaker
from voice_agent.bench.holding import Held, held
from voice_agent.bench.sound_server import SoundServer, sound_server
from voice_agent.bench.stand_in import StandIn
from voice_agent.errors import DeviceError
from voice_agent.events import Error, Event
from voice_agent.hearing import Hearing, Said

LIMIT_S = 60.0
WARM = 2
"""So many repetitions pass before memory and threads are counted."""
TURN = Sound(np.full(22_050, 0.2, np.float32), 22_050)


@dataclass
class Row:
    """One fault: seconds of each repetition, and what it cost."""

    fault: str
    noticed_s: list[float] = field(default_factory=list)
    healed_s: list[float] = field(default_factory=list)
    lost_turns: int = 0
    held: list[Held] = field(default_factory=list)

    def line(self) -> str:
        """Return it as a row of a Markdown table."""
        leaks = [last - first for first, last in zip(self.held[0], self.held[-1], strict=True)]
        spans = [
            f"{np.median(times):.2f} / {max(times):.2f} s" if times else "–"
            for times in (self.noticed_s, self.healed_s)
        ]
        counts = f"{self.lost_turns} | {leaks[0]} threads, {leaks[1]} files, {leaks[2]} kB"
        return f"| {self.fault} | {len(self.held)} | {' | '.join(spans)} | {counts} |"


class Desk:
    """A microphone that is listened to, and a loudspeaker, as the assistant has them."""

    def __init__(self, system: portaudio.SoundSystem) -> None:
        self.asleep_s = 0.0
        self.microphone = DeviceMicrophone(system=system, slept_s=lambda: self.asleep_s)
        self.speaker = DeviceSpeaker(system=system)
        self.speaker.look_again = self.microphone.look_again
        self.microphone.make_way = self.speaker.make_way
        self.events: list[Event] = []
        self.blocks = 0
        self.streams = 0
        said = Said(self.events.append, lambda name: None)
        self._hearing = Hearing(self.microphone, said, began=self._began)

    def _began(self, at_s: float) -> None:
        self.streams += 1

    def take(self, captured: Captured) -> None:
        """Count a block."""
        self.blocks += 1

    async def listen(self) -> None:
        """Hear, for ever."""
        async for captured in self._hearing.blocks(asyncio.Event()):
            self.take(captured)

    @property
    def errors(self) -> int:
        """How often trouble was told."""
        return sum(isinstance(event, Error) for event in self.events)


async def until(true: Callable[[], bool]) -> float:
    """Wait until ``true``; return how long it took, or at most `LIMIT_S`."""
    began_s = monotonic()
    for _ in range(round(LIMIT_S / 0.01)):
        if true():
            break
        await asyncio.sleep(0.01)
    return monotonic() - began_s


@dataclass
class Fault:
    """Something that goes wrong, and how it is mended; ``told`` is false for a healthy desk."""

    name: str
    make: Callable[[], Awaitable[None]]
    mend: Callable[[], Awaitable[None]]
    told: bool = True
    seconds: float = 1.0


async def repeat(fault: Fault, desk: Desk, times: int) -> Row:
    """Make the fault ``times`` times; mend it each time after ``fault.seconds`` of trouble."""
    row = Row(fault.name)
    for _ in range(times + WARM):
        errors, streams = desk.errors, desk.streams
        await fault.make()
        if fault.told:
            row.noticed_s.append(await until(lambda before=errors: desk.errors > before))
        await asyncio.sleep(fault.seconds)
        await fault.mend()
        row.healed_s.append(await until(lambda before=streams: desk.streams > before))
        row.lost_turns += await turn(desk)
        row.held.append(held())
    row.noticed_s, row.healed_s = row.noticed_s[WARM:], row.healed_s[WARM:]
    row.held = row.held[WARM:]
    return row


async def turn(desk: Desk) -> int:
    """Play a turn; return 1 if it was lost."""
    try:
        return int(await desk.speaker.play(TURN) < len(TURN.samples))
    except DeviceError:
        return 1


async def vanishing(
    name: str, desk: Desk, times: int, *, away: Callable[[], None], back: Callable[[], None]
) -> Row:
    """Take the loudspeaker away in the middle of a turn; the next one should be heard."""
    row = Row(name)
    for _ in range(times + WARM):
        playing = asyncio.create_task(turn(desk))
        await asyncio.sleep(0.5)
        began_s = monotonic()
        away()
        await playing
        row.noticed_s.append(monotonic() - began_s)
        back()
        began_s = monotonic()
        row.lost_turns += await turn(desk)
        row.healed_s.append(monotonic() - began_s - TURN.seconds)
        row.held.append(held())
    row.noticed_s, row.healed_s = row.noticed_s[WARM:], row.healed_s[WARM:]
    row.held = row.held[WARM:]
    return row


class Server:
    """A private sound server that can be killed, stopped, and started anew."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened = ExitStack()
        self.start()

    def start(self) -> None:
        """Start it where the last one was."""
        (self._folder / "native").unlink(missing_ok=True)
        self.running: SoundServer = self._opened.enter_context(sound_server(self._folder))

    def die(self) -> None:
        """Kill it."""
        self.running.die()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.running.process.send_signal(number)

    def close(self) -> None:
        """End them all."""
        self._opened.close()


async def on_stand_ins(times: int) -> list[Row]:
    """Return the rows of what cannot be had without hardware."""
    system = StandIn()
    desk = Desk(system)

    async def plug() -> None:
        system.busy = system.stalled = False
        if not any(device.can("input") for device in system.there):
            system.plug("input")

    async def unplug() -> None:
        system.unplug("input")

    async def busy() -> None:
        system.busy = True
        system.unplug("input")

    async def stall() -> None:
        system.stalled = True

    async def sleep() -> None:
        desk.asleep_s += 3_600

    rows = []
    with desk.speaker:
        listening = asyncio.create_task(desk.listen())
        await until(lambda: desk.blocks > 0)
        few = max(times // 10, 1)
        for fault, count in (
            (Fault("microphone unplugged, back as another number", unplug, plug, seconds=0), times),
            (Fault("microphone busy", busy, plug), few),
            (Fault("microphone delivers nothing", stall, plug), few),
            (Fault("suspend and resume", sleep, plug, told=False, seconds=0), times),
        ):
            rows.append(await repeat(fault, desk, count))
        listening.cancel()
        rows.append(
            await vanishing(
                "loudspeaker unplugged in mid-answer",
                desk,
                few,
                away=lambda: system.unplug("output"),
                back=lambda: system.plug("output"),
            )
        )
    return rows


async def on_server(times: int, folder: Path) -> list[Row]:
    """Return the rows of what a private sound server can do."""
    server = Server(folder)
    os.environ.update(server.running.devices)
    desk = Desk(portaudio)

    async def die() -> None:
        server.die()

    async def start() -> None:
        server.start()

    async def hang() -> None:
        server.send(signal.SIGSTOP)

    async def go_on() -> None:
        server.send(signal.SIGCONT)

    rows = []
    with desk.speaker:
        listening = asyncio.create_task(desk.listen())
        await until(lambda: desk.blocks > 0)
        for fault in (
            Fault("server killed, started 1 s later", die, start),
            Fault("server hangs (SIGSTOP) 7 s longer than noticed", hang, go_on, seconds=7),
        ):
            rows.append(await repeat(fault, desk, times))
        listening.cancel()
        rows.append(
            await vanishing(
                "server killed in mid-answer", desk, times, away=server.die, back=server.start
            )
        )
    server.close()
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--real", type=int, default=20)
    parser.add_argument("--stand-in", type=int, default=200)
    args = parser.parse_args()
    print("| fault | repetitions | noticed (median / worst) | healed | lost turns | leaks |")
    print("|---|---|---|---|---|---|", flush=True)
    if args.stand_in:
        for row in asyncio.run(on_stand_ins(args.stand_in)):
            print(row.line(), flush=True)
    if args.real:
        with tempfile.TemporaryDirectory() as folder:
            for row in asyncio.run(on_server(args.real, Path(folder))):
                print(row.line(), flush=True)
    print(f"{threading.active_count()} threads of Python at the end.", file=sys.stderr)


if __name__ == "__main__":
    main()
