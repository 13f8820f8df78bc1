"""Changed settings on a running assistant: what can be taken up is, the rest needs a restart."""

import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from voice_agent.desk import Desk
from voice_agent.errors import CatalogueError, SettingsError
from voice_agent.live import Live
from voice_agent.settings import Settings, load_settings
from voice_agent.settings.loading import value_of
from voice_agent.settings.model import descriptions
from voice_agent.tts import PiperVoice

log = logging.getLogger(__name__)

TAKEN_UP = frozenset(
    {
        "listen.follow_up_s",
        "tts.rate",
        "tts.volume",
        "service.log_level",
        "service.memory_max_mb",
    }
)
"""The keys whose changes need no restart."""


class Reloading:
    """Reads the settings again, and lets ``live`` work with those that it can take up.

    ``told`` gets the changed settings, too.
    """

    def __init__(
        self,
        started_with: Settings,
        desk: Desk,
        live: Live,
        *,
        env: Mapping[str, str] = os.environ,
        file: Path | None = None,
        told: Callable[[Settings], None] = lambda settings: None,
    ) -> None:
        self._in_force = started_with
        self._started_with = started_with
        self._desk = desk
        self._live = live
        self._env = env
        self._file = file
        self._told = told

    def __call__(self) -> dict[str, Any]:
        """Take the changes up; return the keys ``taken_up`` and those that ``need_restart``.

        Raises SettingsError or CatalogueError where they cannot be used: then nothing changes.
        """
        settings = load_settings(self._env, self._file).settings
        taken_up = _changed(self._in_force, settings) & TAKEN_UP
        need_restart = _changed(self._started_with, settings) - TAKEN_UP
        self._in_force = settings
        self._told(settings)
        self._live.follow_up(settings.listen.follow_up_s)
        voice = self._desk.stages.voice
        if isinstance(voice, PiperVoice):
            voice.tune(rate=settings.tts.rate, volume=settings.tts.volume)
        log.info("Settings: taken up %s.", ", ".join(sorted(taken_up)) or "nothing")
        if need_restart:
            log.warning("Settings that need a restart: %s.", ", ".join(sorted(need_restart)))
        return {"taken_up": sorted(taken_up), "need_restart": sorted(need_restart)}

    def on_signal(self) -> None:
        """Take the changes up for SIGHUP; settings that cannot be used are logged."""
        try:
            self()
        except (SettingsError, CatalogueError) as error:
            log.error("%s Nothing was changed.", error)


def _changed(before: Settings, after: Settings) -> set[str]:
    return {key for key in descriptions() if value_of(before, key) != value_of(after, key)}
