"""The microphone through all its troubles: lost, found again, and each said once."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from voice_agent.audio.capture import Captured, Microphone
from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.errors import DeviceError
from voice_agent.events import Error, HearsAgain, Listener
from voice_agent.phrases import Phrase

log = logging.getLogger(__name__)

FIRST_RETRY_S = 0.5
LAST_RETRY_S = 8.0
SPOKEN_S = 3.0
"""An outage that is shorter is not spoken of."""
SILENT_S = 10.0
"""No microphone that works delivers digital silence for so long."""
ANEW_S = 120.0
"""After so much of it the device is opened anew; then after twice as much, and so on."""


@dataclass
class Said:
    """Whom trouble is told: in events, and aloud."""

    listener: Listener
    aloud: Callable[[Phrase], None]


class Hearing:
    """Yields what the microphone hears; one that fails is said once and tried again for ever."""

    def __init__(
        self,
        microphone: Microphone,
        said: Said,
        *,
        began: Callable[[float], None],
        retry_s: float = FIRST_RETRY_S,
    ) -> None:
        self._microphone = microphone
        self._said = said
        self._began = began
        self._first_retry_s = retry_s
        self._lost_s: float | None = None
        self._trouble = ""
        self._aloud = False
        self._silent_samples = 0
        self._anew_s = ANEW_S

    @property
    def silent_s(self) -> float:
        """How long it has heard nothing but digital silence."""
        return self._silent_samples / SAMPLE_RATE_HZ

    async def blocks(self, stopping: asyncio.Event) -> AsyncGenerator[Captured, None]:
        """Yield block after block until ``stopping`` is set; ``began`` gets each stream's start."""
        retry_s = self._first_retry_s
        while not stopping.is_set():
            async with aclosing(self._stream()) as stream:
                async for captured in stream:
                    retry_s = self._first_retry_s
                    yield captured
            if self._lost_s is not None:
                await _pause(retry_s, stopping)
                retry_s = min(2 * retry_s, LAST_RETRY_S)

    async def _stream(self) -> AsyncGenerator[Captured, None]:
        """Yield what one stream of the device hears, until it fails or is to be opened anew."""
        try:
            async with aclosing(self._whole_stream()) as stream:
                async for captured in stream:
                    yield captured
        except DeviceError as error:
            self._tell(error)

    async def _whole_stream(self) -> AsyncGenerator[Captured, None]:
        first, silent_s = True, self._anew_s
        async with aclosing(self._microphone.blocks()) as blocks:
            async for captured in blocks:
                if first:
                    self._began(captured.at_s)
                    self._tell_back()
                    first = False
                yield captured
                self._listen_for_silence(captured)
                if self.silent_s > silent_s:
                    self._anew_s = min(2 * self._anew_s, 16 * ANEW_S)
                    self._silent_samples = 0
                    return

    def _tell(self, error: DeviceError) -> None:
        """Say what is wrong: each trouble once, and aloud if it lasts."""
        now_s = asyncio.get_running_loop().time()
        if self._lost_s is None:
            self._lost_s = now_s
        if self._trouble != error.message:
            self._said.listener(Error(stage=error.stage, message=error.message, mend=error.mend))
        self._trouble = error.message
        if not self._aloud and now_s - self._lost_s >= SPOKEN_S:
            self._aloud = True
            self._said.aloud("deaf")

    def _tell_back(self) -> None:
        if self._lost_s is None:
            return
        gone_s = asyncio.get_running_loop().time() - self._lost_s
        log.warning("The microphone is back after %.1f s.", gone_s)
        self._said.listener(HearsAgain(gone_s=round(gone_s, 1)))
        if self._aloud or gone_s >= SPOKEN_S:
            self._said.aloud("hears_again")
        self._lost_s, self._trouble, self._aloud = None, "", False

    def _listen_for_silence(self, captured: Captured) -> None:
        if captured.samples.any():
            self._silent_samples, self._anew_s = 0, ANEW_S
            return
        before_s = self.silent_s
        self._silent_samples += len(captured.samples)
        if before_s < SILENT_S <= self.silent_s:
            log.warning(
                "The microphone has delivered digital silence for %g s: is it muted, is it the one "
                "that is meant? 'voice-agent devices --level' shows what it hears.",
                SILENT_S,
            )


async def _pause(seconds: float, stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
