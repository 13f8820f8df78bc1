"""What the assistant costs while nobody speaks to it: processor time and memory."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound, write_wav
from voice_agent.bench.assistant import VirtualDesk
from voice_agent.events import Event

Room = Literal["silence", "noise"]

SETTLE_S = 5.0
"""Left out at the beginning: what start-up leaves behind is done by then."""

_NOISE_LEVEL = 0.03  # -30 dBFS
_NOISE_S = 20


@dataclass(frozen=True, kw_only=True)
class Idle(Event):
    """The cost of waiting in one kind of room; ``cpu_share`` 1 is one core all the time.

    ``turns`` counts questions that were started, of which there should be none.
    """

    room: Room
    wall_s: float
    cpu_s: float
    cpu_share: float
    memory_start_mb: float
    memory_end_mb: float
    turns: int


async def idle_costs(desk: VirtualDesk, folder: Path, minutes: float) -> AsyncIterator[Idle]:
    """Yield the cost of ``minutes`` of silence, then of so many of white noise at -30 dBFS."""
    await asyncio.sleep(SETTLE_S)
    yield await _cost(desk, "silence", minutes)
    noise = folder / "noise.wav"
    samples = np.random.default_rng(1).standard_normal(_NOISE_S * SAMPLE_RATE_HZ)
    write_wav(noise, Sound((_NOISE_LEVEL * samples).astype(np.float32), SAMPLE_RATE_HZ))
    playing = asyncio.create_task(_again_and_again(desk, noise))
    await asyncio.sleep(SETTLE_S)
    try:
        yield await _cost(desk, "noise", minutes)
    finally:
        playing.cancel()
        await asyncio.wait([playing])


async def _again_and_again(desk: VirtualDesk, file: Path) -> None:
    while True:
        await desk.say(file)


async def _cost(desk: VirtualDesk, room: Room, minutes: float) -> Idle:
    loop, pid = asyncio.get_running_loop(), desk.process.pid
    told = len(desk.events.told)
    began_s, cpu_s, memory = loop.time(), cpu_seconds(pid), memory_mb(pid)
    await asyncio.sleep(60 * minutes)
    wall_s, used_s = loop.time() - began_s, cpu_seconds(pid) - cpu_s
    return Idle(
        room=room,
        wall_s=round(wall_s, 2),
        cpu_s=round(used_s, 2),
        cpu_share=round(used_s / wall_s, 4),
        memory_start_mb=memory,
        memory_end_mb=memory_mb(pid),
        turns=sum(each.name == "utterance" for each in desk.events.told[told:]),
    )


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process and its ended children have used (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process in millions of bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1)
