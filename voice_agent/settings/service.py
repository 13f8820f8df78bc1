"""Settings of the background service."""

from typing import Literal

from pydantic import field_validator

from voice_agent.settings.fields import Section, setting


class Notify(Section):
    """What is shown besides."""

    desktop: bool = setting(
        False,
        "Notifications on the desktop",
        "Each answer, with its sources, is also a notification; your desktop may keep it.",
    )


class Service(Section):
    """The systemd user service."""

    memory_max_mb: int = setting(
        6000,
        "Memory limit",
        "The service ends and starts anew when it holds more; 0: no limit. For the unit's own "
        "limit run 'voice-agent service install' again.",
        unit="MB",
        ge=0,
        le=1_000_000,
        expects="0 (no limit) or a whole number from 1000 to 1000000",
    )
    log_level: Literal["warning", "info", "debug"] = setting(
        "info",
        "What the service logs",
        "info: what happens, without a word of what was said. debug: questions and answers, too.",
    )

    @field_validator("memory_max_mb")
    @classmethod
    def _room_for_models(cls, limit_mb: int) -> int:
        if 0 < limit_mb < 1000:
            raise ValueError("does not hold the models")
        return limit_mb
