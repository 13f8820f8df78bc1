"""The settings file of the first run: every setting with its meaning, none of them changed."""

import os
import textwrap
from pathlib import Path

import tomlkit

from voice_agent.places import FILE_MODE, private_folder
from voice_agent.settings.editing import HEADER
from voice_agent.settings.fields import Description
from voice_agent.settings.model import Settings, descriptions

_WIDTH = 98
_HOW = "Take the '# ' from a line that is a setting, and change its value."


def write_commented(file: Path) -> bool:
    """Write the settings file (0600) where there is none; return whether it was written.

    A folder that cannot be written to, or a full disk, is no fault: the program has its defaults.
    """
    try:
        private_folder(file.parent)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except OSError:
        return False
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(commented())
    except OSError:
        file.unlink(missing_ok=True)
        return False
    return True


def commented() -> str:
    """Return the file's text: all of it is comment but the names of the sections."""
    lines = [f"# {HEADER}", f"# {_HOW}"]
    section = ""
    for key, description in descriptions().items():
        if key.partition(".")[0] != section:
            section = key.partition(".")[0]
            lines += ["", "", f"# {_about(section)}", f"[{section}]"]
        lines += ["", *_lines(key, description)]
    return "\n".join(lines) + "\n"


def _about(section: str) -> str:
    part = Settings.model_fields[section].annotation
    return (part.__doc__ or "").strip().splitlines()[0]


def _lines(key: str, description: Description) -> list[str]:
    unit = f" {description.unit}" if description.unit else ""
    text = f"{description.label}: {description.text} ({description.expects}{unit})"
    value = tomlkit.item(description.default).as_string()
    return [
        *textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# "),
        f"# {key.partition('.')[2]} = {value}",
    ]
