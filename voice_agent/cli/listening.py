"""One ``run``: the assistant, its control socket, and, as a service, its talk to systemd."""

import signal
import sys
from asyncio import get_running_loop
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Protocol

from voice_agent.audio.capture import DeviceMicrophone
from voice_agent.audio.playback import DeviceSpeaker
from voice_agent.control.background import Background
from voice_agent.control.desktop import DesktopNotices
from voice_agent.control.operations import Control
from voice_agent.control.reloading import Reloading
from voice_agent.daemon import Files, names_of_models, open_desk
from voice_agent.desk import Desk
from voice_agent.errors import ControlError, VoiceAgentError
from voice_agent.events import Error, Event, SoundLost
from voice_agent.live import Live
from voice_agent.logs import dump_on_signal, log_to_journal
from voice_agent.places import places
from voice_agent.preparing import Answers, Preparing
from voice_agent.settings import Settings


class Told(Protocol):
    """Who is told of every event, and of the moment of the first sample."""

    def begin(self, at_s: float) -> None:
        """Count seconds from ``at_s`` on."""

    def __call__(self, event: Event) -> None:
        """Take an event; return at once."""


class Listening:
    """The assistant until a signal comes, or the recording and the last turn have ended."""

    def __init__(self, settings: Settings, files: Files, listener: Told) -> None:
        self._settings = settings
        self._files = files
        self._listener = listener
        self._live: Live | None = None
        self._failure: VoiceAgentError | None = None
        # as from outside: so it ends in the same way, whatever it does at the moment
        self.control = Control(lambda _: signal.raise_signal(signal.SIGTERM))
        self.control.models = names_of_models(settings)
        self._notices = DesktopNotices() if settings.notify.desktop else None

    async def work(self) -> int:
        """Listen and answer; return the exit code."""
        async with AsyncExitStack() as opened:
            await self._open_socket(opened)
            await self._listen(opened, lambda: None)
        return 0

    async def work_as_service(self, background: Background) -> int:
        """The same in the background: wait for a microphone, and be reloaded and watched."""
        loop = get_running_loop()
        dump_on_signal(self.control.status)
        loop.add_signal_handler(signal.SIGHUP, lambda: None)  # before there is what could reload
        async with AsyncExitStack() as opened:
            opened.callback(background.stopping)
            await self._open_socket(opened)
            self.control.waiting = True
            await background.microphone_there()
            self.control.waiting = False
            await self._listen(opened, background.heard, background)
        return 1 if background.failed else 0

    def stop(self, cause: str) -> bool:
        """Begin to stop; return False where nothing listens yet."""
        if self._live is not None:
            self._live.stop(cause)
        return self._live is not None

    async def _listen(
        self,
        opened: AsyncExitStack,
        heard: Callable[[], None],
        background: Background | None = None,
    ) -> None:
        from voice_agent.cli.screen import tell_empty_library

        if self._notices is not None:
            opened.push_async_callback(self._notices.close)
        desk = await opened.enter_async_context(
            open_desk(
                self._settings, places(), self._files, self._begin, later=background is not None
            )
        )
        desk.on_heard = heard
        tell_empty_library(desk.stages.documents)
        self._live = Live(desk, self._tell)
        self.control.uses(self._live)
        told = background.use if background else lambda settings: None
        reloading = self.control.reload = Reloading(self._settings, desk, self._live, told=told)
        if background is not None:
            get_running_loop().add_signal_handler(signal.SIGHUP, reloading.on_signal)
            self._prepare(desk.stages.research, background)
        await self._live.run()
        if self._failure is not None:
            raise self._failure
        if lost := _sound_lost(desk):
            self._listener(lost)

    def _prepare(self, research: Answers, background: Background) -> None:
        """Let the language model be opened while we listen; without it we end."""
        if not isinstance(research, Preparing):
            return

        def ended(error: VoiceAgentError | None) -> None:
            if error is None:
                background.prepared()
            else:
                self._failure = error
                self.control(Error(stage=error.stage, message=error.message, mend=error.mend))
                self.stop("model")

        research.ended, background.preparing = ended, True
        research.begin()

    async def _open_socket(self, opened: AsyncExitStack) -> None:
        """Open the control socket; two at one microphone are refused."""
        try:
            await opened.enter_async_context(self.control.server.serving(places().control_socket))
        except ControlError as error:
            if self._files.recording is None:
                raise
            sys.stderr.write(f"voice-agent: this one cannot be controlled. {error.message}\n")

    def _begin(self, at_s: float) -> None:
        self._listener.begin(at_s)
        self.control.begin(at_s)

    def _tell(self, event: Event) -> None:
        self.control(event)
        self._listener(event)
        if self._notices is not None:
            self._notices(event)


class Announcing:
    """A listener that says on stderr when the assistant begins to listen."""

    def __init__(self, listener: Told, settings: Settings) -> None:
        self._listener = listener
        self._words = " or ".join(f"'{word.replace('_', ' ')}'" for word in settings.wake.words)

    def begin(self, at_s: float) -> None:
        """Say it."""
        self._listener.begin(at_s)
        sys.stderr.write(f"voice-agent: listening for {self._words}. Ctrl-C ends it.\n")

    def __call__(self, event: Event) -> None:
        """Pass ``event`` on."""
        self._listener(event)


def as_service(settings: Settings) -> tuple[Listening, Background]:
    """Return the assistant as a service; it logs for the journal from now on."""
    log_to_journal(settings.service.log_level)
    background = Background(settings, lambda: signal.raise_signal(signal.SIGTERM))
    return Listening(settings, Files(), background), background


def _sound_lost(desk: Desk) -> SoundLost | None:
    """Return what the devices lost; None where recordings stood in for both."""
    microphone = desk.microphone if isinstance(desk.microphone, DeviceMicrophone) else None
    speaker = desk.stages.speaker
    speaker = speaker if isinstance(speaker, DeviceSpeaker) else None
    if microphone is None and speaker is None:
        return None
    return SoundLost(
        overruns=microphone.overruns if microphone else 0,
        dropped_blocks=microphone.dropped_blocks if microphone else 0,
        underruns=speaker.underruns if speaker else 0,
    )
