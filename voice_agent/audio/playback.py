"""Sound to a loudspeaker, or into a file: gapless, silent at once when aborted."""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from voice_agent.audio import portaudio
from voice_agent.audio.devices import Device, choose
from voice_agent.audio.format import Sound, resample, write_wav
from voice_agent.errors import DeviceError

LATENCY_S = 0.08
"""Sound kept ready: under 0.04 s the beginning of sounds was lost (design.md)."""
LEAD_S = 0.04
"""Silence before the first sound of a stream: its first block was lost in most starts."""
LINGER_S = 2.0
"""The stream keeps running so long after a sound, so that the next one starts at once."""
LATE_S = 5.0
"""A device that is so late has stopped playing."""
_FADE_S = 0.01


class Speaker(Protocol):
    """Plays sounds one after another without a gap."""

    async def play(self, sound: Sound) -> int:
        """Play ``sound`` after those before it; return how many of its samples were heard.

        Returns when it has been heard to the end, or was aborted. A caller that is cancelled ends
        this sound alone. Raises DeviceError.
        """

    def abort(self) -> None:
        """Be silent now: drop the rest and all that waits."""

    @property
    def played_samples(self) -> int:
        """How many samples of all sounds have been heard, at each sound's own rate."""


class Tap(Protocol):
    """Gets what is sent to a loudspeaker."""

    def begin(self) -> None:
        """A new stream begins; what was sent before will not be heard any more."""

    def take(self, block: portaudio.Block, sent_at_s: float) -> None:
        """Take a copy of the next block; it was sent at a time on the loop's clock."""


@dataclass(eq=False)
class _Queued:
    """A sound at the device's rate on its way out; all positions are in frames of the stream."""

    sound: Sound
    samples: portaudio.Block
    heard: asyncio.Future[int]
    frames: int
    sent: int = 0
    starts_at: int = 0

    def cut(self, fade: int) -> None:
        """End it: with a fade of ``fade`` samples if it has begun, without a sound if not."""
        sent = self.sent
        rest = self.samples[sent : sent + fade] if sent else self.samples[:0]
        falling = np.linspace(1, 0, len(rest), dtype=np.float32)[:, None]
        self.samples = np.concatenate([self.samples[:sent], rest * falling])

    def own(self, samples: int) -> int:
        """Return a count of samples at the device's rate as one at the sound's own."""
        whole = self.frames
        return len(self.sound.samples) * min(max(samples, 0), whole) // whole if whole else 0


class DeviceSpeaker:
    """A loudspeaker. Used as a context manager; its device is open only while it plays.

    All methods are called on the event loop's thread; only `_fill` and `_ended` run on
    PortAudio's. There, ``tap`` gets each block and when it was sent, too. ``underruns`` counts how
    often the device ran out of samples while a sound was playing.
    """

    def __init__(self, device: str = "", *, latency_s: float = LATENCY_S) -> None:
        self._wanted = device
        self._latency_s = latency_s
        self._queue: deque[_Queued] = deque()
        self._waiting: list[_Queued] = []
        self._silent = False
        self._sent_frames = 0
        self._lead_frames = 0
        self._block_at = 0
        self._block_heard_in_s = 0.0
        self._block_time_s = 0.0
        self._played_samples = 0
        self._resting: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stream: portaudio.Stream | None = None
        self.tap: Tap | None = None
        self.underruns = 0

    def __enter__(self) -> Self:
        """Find the device and see that it opens; raises DeviceError."""
        self._device: Device = choose(portaudio.query(), self._wanted, "output")
        self._open().close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Be silent and give the device back."""
        self.abort()

    @property
    def device(self) -> Device:
        """The device in use."""
        return self._device

    @property
    def played_samples(self) -> int:
        """How many samples of all sounds have been heard, at each sound's own rate."""
        return self._played_samples

    async def play(self, sound: Sound) -> int:
        """Play ``sound`` after those before it; return how many of its samples were heard."""
        if not len(sound.samples):
            return 0
        self._loop = loop = asyncio.get_running_loop()
        samples = resample(sound.samples, sound.rate_hz, self._device.rate_hz)
        item = _Queued(sound, samples[:, None], loop.create_future(), len(samples))
        self._run()
        self._waiting.append(item)
        self._queue.append(item)
        ahead_s = sum(len(other.samples) for other in self._waiting) / self._device.rate_hz
        try:
            async with asyncio.timeout(ahead_s + LATE_S):
                return await item.heard
        except TimeoutError as error:
            self.abort()
            raise self._lost() from error
        except asyncio.CancelledError:
            item.cut(round(_FADE_S * self._device.rate_hz))
            raise

    def abort(self) -> None:
        """Be silent now: drop the rest and all that waits."""
        self._silent = True
        at = self._heard_frames()
        self._close()
        self._queue.clear()
        self._silent = False
        for item in self._waiting[:]:
            begun = item.sent > 0
            self._finish(item, at - item.starts_at if begun else 0)
        self._cancel_rest()

    def _open(self) -> portaudio.Stream:
        return portaudio.open_output(
            self._device, self._fill, latency_s=self._latency_s, ended=self._ended
        )

    def _run(self) -> None:
        """Have a stream running; a stopped one is never started again.

        PortAudio's restart of an ALSA stream whose server has died waits for ever; opening a new
        one fails properly, and succeeds once the server is back.
        """
        self._cancel_rest()
        if self._stream is not None and self._stream.active:
            return
        self._close()
        self._lead_frames = round(LEAD_S * self._device.rate_hz)
        self._stream = self._open()
        if self.tap is not None:
            self.tap.begin()
        self._stream.start()

    def _close(self) -> None:
        if self._stream is not None:
            self._stream.abort()
            self._stream.close()
            self._stream = None

    def _heard_frames(self) -> int:
        """Return how many frames have left the loudspeaker by now, from the last block's clock."""
        if self._loop is None:
            return 0
        since_s = self._loop.time() - self._block_time_s
        heard = self._block_at + (since_s - self._block_heard_in_s) * self._device.rate_hz
        return min(max(int(heard), 0), self._sent_frames)

    def _finish(self, item: _Queued, samples: int) -> None:
        if item not in self._waiting:
            return
        self._waiting.remove(item)
        own = item.own(samples)
        self._played_samples += own
        if self._loop is None or self._loop.is_closed():  # nobody waits any more
            return
        if not item.heard.done():
            item.heard.set_result(own)
        if not self._waiting:
            self._cancel_rest()
            self._resting = self._loop.call_later(LINGER_S, self._rest)

    def _rest(self) -> None:
        """Give the device back: nothing has been playing for a while."""
        if not self._waiting:
            self._close()

    def _cancel_rest(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None

    def _lost(self) -> DeviceError:
        return DeviceError(
            f"The loudspeaker {self._device.name!r} stopped playing.",
            mend="See that it is connected and that the sound server runs.",
        )

    def _fill(self, block: portaudio.Block, heard_in_s: float, underrun: bool) -> None:
        """Fill a block from the queue, then with silence (on PortAudio's thread)."""
        self.underruns += underrun and bool(self._queue) and self._queue[0].sent > 0
        loop, filled = self._loop, min(self._lead_frames, len(block))
        heard_in_s = heard_in_s if 0 < heard_in_s < 1 else self._latency_s
        if loop is not None:
            self._block_time_s = loop.time()
        self._block_at, self._block_heard_in_s = self._sent_frames, heard_in_s
        block[:filled] = 0
        self._lead_frames -= filled
        while self._queue and filled < len(block) and not self._silent:
            item = self._queue[0]
            if item.sent == 0:
                item.starts_at = self._sent_frames + filled
            part = item.samples[item.sent : item.sent + len(block) - filled]
            block[filled : filled + len(part)] = part
            filled += len(part)
            item.sent += len(part)
            if item.sent >= len(item.samples):
                self._queue.popleft()
                self._later(heard_in_s + filled / self._device.rate_hz, item)
        block[filled:] = 0
        self._sent_frames += len(block)
        if self.tap is not None:
            self.tap.take(block, self._block_time_s)

    def _later(self, delay_s: float, item: _Queued) -> None:
        """Finish ``item`` on the event loop when its last sample has been heard."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(
                self._loop.call_later, delay_s, self._finish, item, len(item.samples)
            )

    def _ended(self) -> None:
        """The stream has stopped (on PortAudio's thread): by us, or because the device is gone."""
        if self._loop is not None and not self._loop.is_closed() and not self._silent:
            self._loop.call_soon_threadsafe(self._fail_if_lost)

    def _fail_if_lost(self) -> None:
        if self._stream is None or self._stream.active:
            return
        for item in self._waiting[:]:
            if item.sent < len(item.samples) and not item.heard.done():
                item.heard.set_exception(self._lost())
                self._waiting.remove(item)
        self._queue.clear()


class WavSpeaker:
    """Collects sounds, and on exit writes them to a WAV file at the first one's rate."""

    def __init__(self, path: Path, rate_hz: int) -> None:
        self._path = path
        self._rate_hz = rate_hz
        self._sounds: list[Sound] = []
        self._played_samples = 0

    def __enter__(self) -> Self:
        """Begin with nothing."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write the file, also after an interruption; raises RecordingError."""
        samples = [sound.at(self._rate_hz).samples for sound in self._sounds]
        whole = np.concatenate(samples) if samples else np.zeros(0, np.float32)
        write_wav(self._path, Sound(whole, self._rate_hz))

    @property
    def played_samples(self) -> int:
        """How many samples of all sounds have been taken, at each sound's own rate."""
        return self._played_samples

    async def play(self, sound: Sound) -> int:
        """Take ``sound`` and return how many samples it has."""
        self._sounds.append(sound)
        self._played_samples += len(sound.samples)
        return len(sound.samples)

    def abort(self) -> None:
        """Nothing waits here."""


class Speakers:
    """Several speakers that play the same; the last one says what was heard."""

    def __init__(self, speakers: Sequence[Speaker]) -> None:
        self._speakers = speakers

    @property
    def played_samples(self) -> int:
        """How many samples the last speaker has played."""
        return self._speakers[-1].played_samples

    async def play(self, sound: Sound) -> int:
        """Play ``sound`` on all; return how many of its samples the last one let be heard."""
        heard = await asyncio.gather(*(speaker.play(sound) for speaker in self._speakers))
        return heard[-1]

    def abort(self) -> None:
        """Silence them all."""
        for speaker in self._speakers:
            speaker.abort()
