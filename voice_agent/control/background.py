"""The assistant as a service: it waits for a microphone, and systemd knows how it is."""

import asyncio
import logging
from collections.abc import Callable

from voice_agent.audio.probe import has_microphone, probe
from voice_agent.control.notify import Notifier
from voice_agent.control.status import memory_mb
from voice_agent.errors import DeviceError
from voice_agent.events import Error, Event
from voice_agent.logs import JournalListener
from voice_agent.settings import Settings

log = logging.getLogger(__name__)

_FIRST_RETRY_S = 2.0
_LAST_RETRY_S = 30.0
_BLOCKS_A_CHECK = 750  # 30 s of sound


class Background:
    """A listener of the assistant's events that logs them and keeps systemd informed.

    ``end`` is called once when the program holds more memory than its limit. ``preparing``: the
    language model is not ready yet.
    """

    def __init__(self, settings: Settings, end: Callable[[], None]) -> None:
        self.settings = settings
        self.failed = False
        self.preparing = False
        self._end = end
        self._notifier = Notifier()
        self._journal = JournalListener()
        self._blocks = 0
        self._lost = False

    def begin(self, at_s: float) -> None:
        """The first sample came; the journal has its own clock."""

    def __call__(self, event: Event) -> None:
        """Log an event, and tell systemd of a lost microphone."""
        self._journal(event)
        if isinstance(event, Error) and event.turn is None and event.stage == DeviceError.stage:
            self._lost = True
            self._notifier.microphone_lost()
            self._notifier.status(event.message)

    def heard(self) -> None:
        """Note that a block of the microphone's sound has passed the whole front end."""
        self._notifier.heard()
        if self._blocks == 0 or self._lost:
            self._lost = False
            self._tell_listening()
        self._blocks += 1
        if self._blocks % _BLOCKS_A_CHECK == 0:
            self._check_memory()

    def prepared(self) -> None:
        """Note that the language model is ready."""
        self.preparing = False
        log.info("The language model is ready.")
        if self._blocks and not self._lost:
            self._tell_listening()

    def use(self, settings: Settings) -> None:
        """Work with changed settings."""
        self.settings = settings
        logging.getLogger().setLevel(settings.service.log_level.upper())

    def stopping(self) -> None:
        """Say that the service ends."""
        self._notifier.stopping()

    async def microphone_there(self) -> None:
        """Return when there is a microphone: the sound server may come later than we do."""
        retry_s = _FIRST_RETRY_S
        wanted, told = self.settings.audio.input_device, False
        while not has_microphone(await asyncio.to_thread(probe), wanted):
            if not told:
                told = True
                self._notifier.status("Waiting for a microphone.")
                log.warning("There is no microphone yet; waiting for %s.", wanted or "one")
            await asyncio.sleep(retry_s)
            retry_s = min(2 * retry_s, _LAST_RETRY_S)

    def _tell_listening(self) -> None:
        words = " or ".join(word.replace("_", " ") for word in self.settings.wake.words)
        more = " The language model is being prepared." if self.preparing else ""
        self._notifier.status(f"Listening for '{words}'.{more}")
        log.info("Listening for '%s'.%s", words, more)

    def _check_memory(self) -> None:
        limit_mb = self.settings.service.memory_max_mb
        if limit_mb and not self.failed and memory_mb() > limit_mb:
            self.failed = True
            log.error(
                "%d MB are in use, service.memory_max_mb is %d: ending, to start anew.",
                memory_mb(),
                limit_mb,
            )
            self._end()
