"""What a virtual device plays, recorded from its monitor, and when each sample was there."""

import asyncio
from bisect import bisect_left
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import numpy as np
from numpy.typing import NDArray

from voice_agent.bench.sound_server import SoundServer
from voice_agent.errors import DeviceError

RATE_HZ = 16_000

_BYTES = 2
_NEAR_S = 10.0
_FIRST_SOUND_S = 20.0


class Recording:
    """16-bit mono sound at `RATE_HZ` as it came, on the clock of its arrivals.

    A sample's time is that of the promptest delivery within ten seconds: a busy machine delivers
    late, never early. Two recordings by the same means can so be laid side by side.
    """

    def __init__(self) -> None:
        self._raw = bytearray()
        self._arrivals: list[float] = []
        self._begins: list[float] = []

    def add(self, block: bytes, at_s: float) -> None:
        """Take the next samples, little-endian, the last of which was there at ``at_s``."""
        self._raw += block
        self._arrivals.append(at_s)
        self._begins.append(at_s - len(self._raw) / _BYTES / RATE_HZ)

    def began_s(self, near_s: float) -> float:
        """Return when its first sample was there, judged by what came around ``near_s``."""
        low = bisect_left(self._arrivals, near_s - _NEAR_S)
        high = bisect_left(self._arrivals, near_s + _NEAR_S)
        return min(self._begins[low:high] or self._begins[-1:])

    def between(self, from_s: float, to_s: float) -> NDArray[np.float32]:
        """Return the samples of a stretch of time, float32 of shape (n,); silence where none came.

        The first one is that of ``from_s``.
        """
        start = round((from_s - self.began_s(from_s)) * RATE_HZ)
        size = max(round((to_s - from_s) * RATE_HZ), 0)
        samples = np.zeros(size, np.float32)
        low, high = max(start, 0), min(max(start + size, 0), len(self._raw) // _BYTES)
        part = np.frombuffer(bytes(self._raw[_BYTES * low : _BYTES * high]), "<i2")
        at = max(-start, 0)
        samples[at : at + len(part)] = part / np.float32(32768)
        return samples


@asynccontextmanager
async def recording(server: SoundServer, sink: str) -> AsyncIterator[Recording]:
    """Record what ``sink`` plays meanwhile. Raises DeviceError when nothing comes."""
    process = await asyncio.create_subprocess_exec(
        "parec",
        f"--device={sink}.monitor",
        "--format=s16le",
        f"--rate={RATE_HZ}",
        "--channels=1",
        "--latency-msec=20",
        stdout=asyncio.subprocess.PIPE,
        env=server.env,
    )
    assert process.stdout is not None
    recorded, running = Recording(), asyncio.Event()
    reading = asyncio.create_task(_read(process.stdout, recorded, running))
    try:
        async with asyncio.timeout(_FIRST_SOUND_S):
            await running.wait()
        yield recorded
    except TimeoutError as error:
        raise DeviceError(f"The virtual device {sink!r} gave no sound.") from error
    finally:
        reading.cancel()
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _read(stream: asyncio.StreamReader, recorded: Recording, running: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    while block := await stream.read(1 << 16):
        recorded.add(block, loop.time())
        running.set()
