"""What the operations of the control socket do to the assistant, before and while it listens."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from voice_agent.control.protocol import Refused
from voice_agent.control.server import Began, ControlServer
from voice_agent.control.status import Tally
from voice_agent.conversation import State
from voice_agent.errors import CatalogueError, SettingsError
from voice_agent.events import Event, to_json
from voice_agent.live import Live

Reload = Callable[[], dict[str, Any]]
"""Takes up changed settings; returns ``taken_up`` and ``need_restart``.

Raises SettingsError and CatalogueError.
"""


@dataclass
class Control:
    """One for the whole life of the program: a listener of its events, and its remote control.

    ``stop`` ends the program; ``models`` are the names of what is in use. Times are seconds of
    ``clock``.
    """

    stop: Callable[[str], object]
    models: Mapping[str, str] = field(default_factory=dict)
    reload: Reload | None = None
    clock: Callable[[], float] = time.monotonic
    waiting: bool = False
    """Whether there is no microphone yet."""

    def __post_init__(self) -> None:
        self.server = ControlServer(self)
        self._live: Live | None = None
        self._tally = Tally(self.clock())
        self._first_sample_s = self.clock()

    def uses(self, live: Live) -> None:
        """Control ``live`` from now on."""
        self._live = live

    def begin(self, at_s: float) -> None:
        """Count the seconds of events from ``at_s``: the microphone's first sample."""
        self._first_sample_s = at_s

    def __call__(self, event: Event) -> None:
        """Count an event of the assistant, and stream it to those that follow."""
        now_s = self.clock()
        self._tally.note(event, now_s)
        if event.t_s is None:
            event = replace(event, t_s=round(now_s - self._first_sample_s, 4))
        self.server.tell(to_json(event))

    def status(self) -> dict[str, Any]:
        """Return the status, as `voice_agent.control.status` describes it."""
        live = self._live
        return {
            "state": self._state(),
            "muted": live.muted if live else False,
            "heard_s": round(live.heard_s, 1) if live else 0.0,
            "silent_s": round(live.silent_s, 1) if live else 0.0,
            "models": dict(self.models),
            "devices": live.devices if live else {"input": None, "output": None},
            "documents": live.documents if live else None,
            "clients": self.server.clients,
        } | self._tally.to_json(self.clock())

    def _state(self) -> str:
        if self._live is None:
            return "waiting" if self.waiting else "starting"
        idle = self._live.state is State.IDLE
        return "preparing" if idle and self._live.preparing else self._live.state.value

    def perform(self, op: str) -> dict[str, Any]:
        """Do an operation of the protocol that is done at once; return its answer's fields."""
        match op:
            case "status":
                return {"status": self.status()}
            case "stop":
                self.stop("stop")
            case "cancel":
                self._listening.cancel("cancel")
            case "mute":
                self._listening.mute()
            case "unmute":
                self._listening.unmute()
            case "listen":
                self._listen()
            case "reload":
                return self._reload()
        return {}

    def ask(self, text: str, began: Began) -> None:
        """Answer a typed question in place of what goes on."""
        self._listening.ask(text, began)

    def repeat(self, began: Began) -> None:
        """Say the last answer again."""
        if not self._listening.repeat(began):
            raise Refused("nothing_to_repeat", "There is no answer yet that could be repeated.")

    @property
    def _listening(self) -> Live:
        if self._live is None:
            raise Refused(
                "starting",
                "The voice-agent has not begun to listen yet.",
                "'voice-agent status' shows when it has.",
            )
        return self._live

    def _listen(self) -> None:
        live = self._listening
        if live.muted:
            raise Refused("muted", "The microphone is muted.", "voice-agent unmute")
        live.listen()

    def _reload(self) -> dict[str, Any]:
        if self.reload is None:
            raise Refused("starting", "There is nothing yet that could take up settings.")
        try:
            return self.reload()
        except (SettingsError, CatalogueError) as error:
            raise Refused("settings", error.message, error.mend) from error
