"""Sound to a loudspeaker, or into a file: gapless, silent at once when aborted."""

import asyncio
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from voice_agent.audio import portaudio
from voice_agent.audio.devices import Device
from voice_agent.audio.format import Sound, write_wav
from voice_agent.audio.opening import Opening, finish
from voice_agent.audio.outgoing import Outgoing, Queued, Tap
from voice_agent.errors import DeviceError

LATENCY_S = 0.08
"""Sound kept ready: under 0.04 s the beginning of sounds was lost (design.md)."""
LINGER_S = 2.0
"""The stream keeps running so long after a sound, so that the next one starts at once."""
LATE_S = 5.0
"""A device that is so late has stopped playing."""
STALL_S = 2.5
"""A device that asks for nothing for so long has stopped, too."""
LOOK_AGAIN_S = 20.0
"""The microphone makes way for a search at most so often: it is deaf for a moment."""
_CHECK_S = 0.5
_FADE_S = 0.01


class Speaker(Protocol):
    """Plays sounds one after another without a gap."""

    async def play(self, sound: Sound) -> int:
        """Play ``sound`` after those before it; return how many of its samples were heard.

        Returns when it has been heard to the end, or was aborted. A caller that is cancelled ends
        this sound alone. Raises DeviceError.
        """

    def abort(self) -> None:
        """Be silent now: drop the rest and all that waits. What comes then is loud again."""

    def turn_to(self, level: float) -> None:
        """Let what is played be heard at ``level`` from now on, by a ramp; 1 is as it is."""

    @property
    def played_samples(self) -> int:
        """How many samples of all sounds have been heard, at each sound's own rate."""


class DeviceSpeaker:
    """A loudspeaker. Used as a context manager; its device is open only while it plays.

    All methods are called on the event loop's thread, and none waits for the device. ``tap`` gets
    each block and when it was sent. ``underruns`` counts how often the device ran out of samples
    while a sound was playing. A device that fails costs what was to be played; the next sound has
    it looked for again. ``look_again`` is called where that needs the microphone to make way.
    """

    def __init__(
        self,
        device: str = "",
        *,
        latency_s: float = LATENCY_S,
        system: portaudio.SoundSystem = portaudio,
    ) -> None:
        self._latency_s = latency_s
        self._system = system
        self._opening = Opening(system, device, "output")
        self._out: Outgoing | None = None
        self._starting: asyncio.Task[None] | None = None
        self._waiting: list[Queued] = []
        self._played_samples = 0
        self._resting: asyncio.TimerHandle | None = None
        self._asked_s = -math.inf
        self.tap: Tap | None = None
        self.look_again: Callable[[], None] = lambda: None
        self.underruns = 0
        self.level = 1.0

    def __enter__(self) -> Self:
        """Find the device and see that it opens; raises DeviceError."""
        self._device = self._opening.at_once(
            lambda device: self._system.open_output(
                device, lambda *_: None, latency_s=self._latency_s, ended=lambda: None
            )
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Be silent and give the device back."""
        out = self._out
        self.abort()
        if out is not None:
            finish(out.stream)

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
        item = Queued(sound, asyncio.get_running_loop().create_future())
        self._waiting.append(item)
        self._run(item)
        ahead_s = sum(other.sound.seconds for other in self._waiting)
        try:
            async with asyncio.timeout(ahead_s + LATE_S + 2 * portaudio.PATIENCE_S):
                return await self._heard(item)
        except TimeoutError as error:
            raise self._gone() from error
        except asyncio.CancelledError:
            item.cut(_FADE_S)
            raise

    async def _heard(self, item: Queued) -> int:
        while True:
            await asyncio.wait([item.heard], timeout=_CHECK_S)
            if item.heard.done():
                return item.heard.result()
            if self._out is not None and self._out.idle_s > STALL_S:
                raise self._gone()

    def abort(self) -> None:
        """Be silent now: drop the rest and all that waits."""
        at = self._out.heard_frames() if self._out is not None else 0
        self._close()
        for item in self._waiting[:]:
            self._finish(item, at - item.starts_at if item.sent > 0 else 0)
        self._cancel_rest()
        self.level = 1.0

    def turn_to(self, level: float) -> None:
        """Let what is played be heard at ``level`` from now on, by a ramp; 1 is as it is."""
        self.level = level

    def _run(self, item: Queued) -> None:
        """Send ``item`` to a stream that runs; a stopped one is never started again.

        PortAudio's restart of an ALSA stream whose server has died waits for ever; opening a new
        one fails properly, and succeeds once the server is back.
        """
        self._cancel_rest()
        if self._out is not None and self._out.stream.active:
            self._out.send(item)
        elif self._starting is None:
            self._close()
            self._starting = asyncio.create_task(self._start(), name="speaker-opening")

    async def _start(self) -> None:
        """Open a stream and send it what waits; where that fails, so does all that waits."""
        out = Outgoing(self, asyncio.get_running_loop(), latency_s=self._latency_s)

        def open_(device: Device) -> portaudio.Stream:
            stream = self._system.open_output(
                device, out.fill, latency_s=self._latency_s, ended=out.ended
            )
            out.begin(stream)
            return stream

        try:
            self._device, _ = await self._opening.in_time(open_)
        except DeviceError as error:
            self._starting = None
            self._fail(error)
            return
        self._out, self._starting = out, None
        for item in self._waiting:
            out.send(item)

    def _close(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
            self._starting = None
        if self._out is not None:
            self._out.end()
            self._out = None

    def _fail(self, error: DeviceError) -> None:
        for item in self._waiting[:]:
            if not item.heard.done():
                item.heard.set_exception(error)
        self._waiting.clear()
        now_s = asyncio.get_running_loop().time()
        if now_s - self._asked_s > LOOK_AGAIN_S:
            self._asked_s = now_s
            self.look_again()

    def sent(self, item: Queued) -> None:
        """Take note that ``item`` has been heard to its end."""
        self._finish(item, len(item.samples))

    def lost(self, out: Outgoing) -> None:
        """Take note that a stream ended without being told to: its device is gone."""
        if out is not self._out or out.stream.active:
            return
        self._opening.failed = True
        for item in self._waiting[:]:
            if item.whole:
                self._finish(item, len(item.samples))
        if self._waiting:
            self._fail(self._lost())
        self._close()

    def _gone(self) -> DeviceError:
        """Give up a device that does not play what it gets; return what to say."""
        self._opening.failed = True
        self.abort()
        return self._lost()

    def _finish(self, item: Queued, samples: int) -> None:
        if item not in self._waiting:
            return
        self._waiting.remove(item)
        own = item.own(samples)
        self._played_samples += own
        loop = item.heard.get_loop()
        if loop.is_closed():  # nobody waits any more
            return
        if not item.heard.done():
            item.heard.set_result(own)
        if not self._waiting:
            self._cancel_rest()
            self._resting = loop.call_later(LINGER_S, self._rest)

    def make_way(self) -> None:
        """Give the device back now if nothing is playing: devices are looked for."""
        self._cancel_rest()
        self._rest()

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

    def turn_to(self, level: float) -> None:
        """All of it is loud: the file holds what was said."""


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

    def turn_to(self, level: float) -> None:
        """Let all play at ``level``."""
        for speaker in self._speakers:
            speaker.turn_to(level)
