"""What one stream to a loudspeaker plays: sounds one after another, then silence."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from voice_agent.audio import portaudio
from voice_agent.audio.format import Sound, resample
from voice_agent.audio.gain import Gain

LEAD_S = 0.04
"""Silence before the first sound of a stream: its first block was lost in most starts."""


class Tap(Protocol):
    """Gets what is sent to a loudspeaker."""

    def begin(self, rate_hz: int) -> None:
        """A new stream begins; what was sent before will not be heard any more."""

    def take(self, block: portaudio.Block, sent_at_s: float) -> None:
        """Take a copy of the next block; it was sent at a time on the loop's clock."""


def _no_frames() -> portaudio.Block:
    return np.zeros((0, 1), np.float32)


@dataclass(eq=False)
class Queued:
    """A sound on its way out, at the stream's rate once it has one; positions are in frames."""

    sound: Sound
    heard: "asyncio.Future[int]"
    samples: portaudio.Block = field(default_factory=_no_frames)
    frames: int = 0
    rate_hz: int = 0
    sent: int = 0
    starts_at: int = 0
    dropped: bool = False

    @property
    def whole(self) -> bool:
        """Whether all of it has been sent."""
        return self.rate_hz > 0 and self.sent >= len(self.samples)

    def convert(self, rate_hz: int) -> None:
        """Bring it to a stream's rate."""
        samples = resample(self.sound.samples, self.sound.rate_hz, rate_hz)
        self.frames, self.rate_hz = len(samples), rate_hz
        self.samples = samples[:0, None] if self.dropped else samples[:, None]

    def cut(self, fade_s: float) -> None:
        """End it: with a fade if it has begun, without a sound if not."""
        self.dropped = True
        sent, fade = self.sent, round(fade_s * self.rate_hz)
        rest = self.samples[sent : sent + fade] if sent else self.samples[:0]
        falling = np.linspace(1, 0, len(rest), dtype=np.float32)[:, None]
        self.samples = np.concatenate([self.samples[:sent], rest * falling])

    def own(self, samples: int) -> int:
        """Return a count of samples at the stream's rate as one at the sound's own."""
        whole = self.frames
        return len(self.sound.samples) * min(max(samples, 0), whole) // whole if whole else 0


class Player(Protocol):
    """Whom a stream belongs to; called on the event loop's thread."""

    tap: Tap | None
    underruns: int
    level: float

    def sent(self, item: Queued) -> None:
        """The last sample of ``item`` has been heard."""

    def lost(self, out: "Outgoing") -> None:
        """The stream has ended, by itself or by us."""


class Outgoing:
    """One stream, from its opening to its end: `fill` and `ended` run on PortAudio's thread."""

    def __init__(
        self, player: Player, loop: asyncio.AbstractEventLoop, *, latency_s: float
    ) -> None:
        self._player = player
        self._loop = loop
        self._latency_s = latency_s
        self._queue: deque[Queued] = deque()
        self._silent = False
        self._sent_frames = 0
        self._lead_frames = 0
        self._block_at = 0
        self._block_heard_in_s = 0.0
        self._block_time_s = loop.time()

    def begin(self, stream: portaudio.Stream) -> None:
        """Take the stream, which does not run yet."""
        self.stream = stream
        self._lead_frames = round(LEAD_S * stream.rate_hz)
        self._gain = Gain(stream.rate_hz, self._player.level)
        if self._player.tap is not None:
            self._player.tap.begin(stream.rate_hz)

    def send(self, item: Queued) -> None:
        """Play ``item`` after those before it."""
        item.convert(self.stream.rate_hz)
        self._queue.append(item)

    def end(self) -> None:
        """Be silent now, and give the device back."""
        self._silent = True
        self.stream.close()

    @property
    def idle_s(self) -> float:
        """How long ago the device last asked for sound."""
        return self._loop.time() - self._block_time_s

    def heard_frames(self) -> int:
        """Return how many frames have left the loudspeaker by now, from the last block's clock."""
        heard_s = self.idle_s - self._block_heard_in_s
        heard = self._block_at + heard_s * self.stream.rate_hz
        return min(max(int(heard), 0), self._sent_frames)

    def fill(self, block: portaudio.Block, heard_in_s: float, underrun: bool) -> None:
        """Fill a block from the queue, then with silence."""
        if self._silent:
            block[:] = 0
            return
        self._player.underruns += underrun and bool(self._queue) and self._queue[0].sent > 0
        filled = min(self._lead_frames, len(block))
        heard_in_s = heard_in_s if 0 < heard_in_s < 1 else self._latency_s
        self._block_time_s = self._loop.time()
        self._block_at, self._block_heard_in_s = self._sent_frames, heard_in_s
        block[:filled] = 0
        self._lead_frames -= filled
        while self._queue and filled < len(block) and not self._silent:
            filled += self._fill_from(self._queue[0], block[filled:], filled)
            if self._queue and self._queue[0].whole:
                done = self._queue.popleft()
                self._later(heard_in_s + filled / self.stream.rate_hz, done)
        block[filled:] = 0
        self._turn_down(block)
        self._sent_frames += len(block)
        if self._player.tap is not None:
            self._player.tap.take(block, self._block_time_s)

    def _fill_from(self, item: Queued, block: portaudio.Block, at: int) -> int:
        if item.sent == 0:
            item.starts_at = self._sent_frames + at
        part = item.samples[item.sent : item.sent + len(block)]
        block[: len(part)] = part
        item.sent += len(part)
        return len(part)

    def _turn_down(self, block: portaudio.Block) -> None:
        """Bring it to the player's level; how much of a sound was heard does not depend on it."""
        self._gain.change(self._player.level, self._sent_frames)
        if not self._gain.is_full(self._sent_frames):
            block *= self._gain.factors(self._sent_frames, len(block))[:, None]

    def _later(self, delay_s: float, item: Queued) -> None:
        """Say on the event loop when the last sample of ``item`` has been heard."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.call_later, delay_s, self._player.sent, item)

    def ended(self) -> None:
        """Say that the stream has stopped: by us, or because the device is gone."""
        if not self._loop.is_closed() and not self._silent:
            self._loop.call_soon_threadsafe(self._player.lost, self)
