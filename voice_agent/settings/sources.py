"""Where values come from: the settings file and the environment, flattened to ``section.key``."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from voice_agent.errors import SettingsError

PREFIX = "VOICE_AGENT_"
Kind = Literal["default", "file", "environment"]


@dataclass(frozen=True)
class Origin:
    """Where a value in force comes from; ``place`` names it for a person."""

    kind: Kind
    place: str = ""


@dataclass(frozen=True)
class Found:
    """A value as it was found: text from the environment, TOML's types from the file."""

    key: str
    value: Any
    origin: Origin


def variable(key: str) -> str:
    """Return the environment variable of ``key``: VOICE_AGENT_<SECTION>__<KEY>."""
    return PREFIX + key.replace(".", "__").upper()


def from_environment(env: Mapping[str, str]) -> list[Found]:
    """Return the value of every VOICE_AGENT_ variable, whether its key is known or not."""
    return [
        Found(_key(name), value, Origin("environment", name))
        for name, value in sorted(env.items())
        if name.startswith(PREFIX)
    ]


def from_file(file: Path) -> list[Found]:
    """Return every key of the settings file, none if it is not there.

    Raises SettingsError when it cannot be read or is not TOML.
    """
    text = read_text(file)
    tables = parse(text, file)
    return [
        Found(key, value, Origin("file", _place(file, text, key)))
        for section, table in tables.items()
        for key, value in _flat(section, table)
    ]


def read_text(file: Path) -> str:
    """Return the settings file's text, empty if there is no file; raises SettingsError."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except IsADirectoryError as error:
        mend = f"Move it aside: mv '{file}' '{file}.aside'"
        raise SettingsError(f"{file} is a folder, not a file.", mend=mend, file=file) from error
    except UnicodeDecodeError as error:
        message = f"{file} is not text in UTF-8 (byte {error.start})."
        raise SettingsError(message, mend="Save it again as UTF-8.", file=file) from error
    except OSError as error:
        message = f"{file} cannot be read: {error.strerror}."
        mend = f"Give yourself the right to read it: chmod u+rw '{file}'"
        raise SettingsError(message, mend=mend, file=file) from error


def parse(text: str, file: Path) -> dict[str, Any]:
    """Return the tables of ``text``; raises SettingsError with the line of the first fault."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, position = str(error).rstrip(")").partition(" (at ")
        raise SettingsError(
            f"{file}, {position.replace('end of document', 'its end') or 'somewhere'}: "
            f"not valid TOML: {reason}.",
            mend='Mend that line (text needs quotes: name = "text"); nothing was changed.',
            file=file,
        ) from error


def suggestion(key: str, known: Iterable[str]) -> str:
    """Return the known key that ``key`` was probably meant to be, or nothing."""
    keys = list(known)
    name = key.rpartition(".")[2]
    same_name = [k for k in keys if k.rpartition(".")[2] == name]
    return (get_close_matches(key, keys, n=1, cutoff=0.75) or same_name or [""])[0]


def line_of(text: str, key: str) -> int | None:
    """Return the line, from 1, on which ``section.name`` stands in the TOML ``text``.

    A plain search line by line: enough for tables, dotted keys and inline tables, and None
    rather than a wrong number for anything stranger.
    """
    section, _, name = key.partition(".")
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line):
            inside = _bare(header[1])
            if inside == key or (not name and inside == section):
                return number
        elif word := re.match(r"\s*([^=#\[]+?)\s*=", line):
            full = f"{inside}.{_bare(word[1])}" if inside else _bare(word[1])
            if full in (key, section):
                return number
    return None


def _key(variable_name: str) -> str:
    return variable_name.removeprefix(PREFIX).lower().replace("__", ".", 1)


def _bare(dotted: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in dotted.split("."))


def _flat(section: str, table: Any) -> list[tuple[str, Any]]:
    if not isinstance(table, dict) or not table:
        return [(section, table)]
    return [(f"{section}.{name}", value) for name, value in table.items()]


def _place(file: Path, text: str, key: str) -> str:
    line = line_of(text, key)
    return f"{file} line {line}" if line else str(file)
