"""Every setting of the program: meaning, unit, bounds, default, and the value in force."""

from voice_agent.settings.listing import Row, rows
from voice_agent.settings.loading import Loaded, load_settings
from voice_agent.settings.model import Settings

__all__ = ["Loaded", "Row", "Settings", "load_settings", "rows"]
