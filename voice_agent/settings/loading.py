"""Environment over file over default, checked as a whole; every fault is reported at once."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from voice_agent.errors import SettingsError
from voice_agent.places import places
from voice_agent.settings.fields import Description, Value, plain
from voice_agent.settings.model import RETIRED, Settings, descriptions
from voice_agent.settings.offered import names_no_model, offered
from voice_agent.settings.sources import (
    Found,
    Origin,
    from_environment,
    from_file,
    suggestion,
    variable,
)

LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Loaded:
    """Settings in force, what the user should be told, and where each value comes from."""

    settings: Settings
    notices: tuple[str, ...]
    origins: Mapping[str, Origin]
    file: Path


def load_settings(env: Mapping[str, str] = os.environ, file: Path | None = None) -> Loaded:
    """Return the settings in force; ``file`` defaults to the user's settings file.

    Raises SettingsError that lists every unknown key and every value that is not allowed, among
    them the names of models that the catalogue does not offer for that part.
    """
    file = file or places(env).config_file
    known = descriptions()
    found = from_file(file) + from_environment(env)
    current = [f for f in found if f.key not in RETIRED and not _is_empty_section(f)]
    unknown = [f for f in current if f.key not in known]
    in_force = {f.key: f for f in current if f.key in known}
    settings, refused = _validated({key: f.value for key, f in in_force.items()})
    reasons = [_unknown(f, known) for f in unknown]
    reasons += [_refusal(known[key], in_force[key]) for key in refused]
    if settings is None or reasons:
        raise SettingsError(_together(reasons), mend=_mend(file), file=file)
    notices = tuple(_retired(f) for f in found if f.key in RETIRED)
    origins = {key: in_force[key].origin if key in in_force else Origin("default") for key in known}
    return Loaded(settings, notices, origins, file)


def check(key: str, text: str, *, mend: str = "Nothing was changed.") -> Value:
    """Return ``text`` as the value of ``key``; raises SettingsError with its bounds."""
    description = described(key)
    settings, _ = _validated({key: text})
    if settings is None:
        reason = _reason(description, text)
        raise SettingsError(f"{key}: {reason}.", mend=mend)
    return value_of(settings, key)


def described(key: str) -> Description:
    """Return the description of ``key``; raises SettingsError for an unknown or retired one."""
    known = descriptions()
    if key in RETIRED:
        raise SettingsError(f"{key}: retired. {RETIRED[key]}", mend="Nothing was changed.")
    if key not in known:
        match = suggestion(key, known)
        mend = f"Did you mean {match}?" if match else "See 'voice-agent settings list'."
        raise SettingsError(f"{key}: unknown setting.", mend=mend)
    return known[key]


def value_of(settings: Settings, key: str) -> Value:
    """Return the value of ``key``, whole numbers without a fraction."""
    section, _, name = key.partition(".")
    return plain(getattr(getattr(settings, section), name))


def _validated(values: Mapping[str, Any]) -> tuple[Settings | None, list[str]]:
    known, nested = descriptions(), dict[str, dict[str, Any]]()
    for key, value in values.items():
        section, _, name = key.partition(".")
        nested.setdefault(section, {})[name] = value
    refused = [key for key, value in values.items() if names_no_model(known[key], value)]
    try:
        settings = Settings.model_validate(nested)
    except ValidationError as error:
        faults = [".".join(map(str, fault["loc"][:2])) for fault in error.errors()]
        return None, list(dict.fromkeys(faults + refused))
    return (None if refused else settings), refused


def _is_empty_section(found: Found) -> bool:
    sections = {key.partition(".")[0] for key in RETIRED} | set(Settings.model_fields)
    return found.value == {} and found.key in sections


def _unknown(found: Found, known: Iterable[str]) -> str:
    if found.key in Settings.model_fields:
        return f"{found.key}: a section, written [{found.key}], not a value ({found.origin.place})"
    match = suggestion(found.key, known)
    meant = variable(match) if found.origin.kind == "environment" else match
    hint = f"; did you mean {meant}?" if match else "; see 'voice-agent settings list'"
    return f"{found.key}: unknown setting{hint} ({found.origin.place})"


def _refusal(description: Description, found: Found) -> str:
    return f"{description.key}: {_reason(description, found.value)} ({found.origin.place})"


def _reason(description: Description, value: Any) -> str:
    shown = "the value" if description.private else repr(value)
    if len(shown) > LONGEST_SHOWN:
        shown = shown[:LONGEST_SHOWN] + "…"
    unit = f" {description.unit}" if description.max is not None and description.unit else ""
    models = offered(description)
    expects = f"one of {', '.join(models)}" if models else description.expects
    return f"{shown} is not {expects}{unit}"


def _retired(found: Found) -> str:
    return f"{found.origin.place}: {found.key} is retired and ignored. {RETIRED[found.key]}"


def _together(reasons: list[str]) -> str:
    if len(reasons) == 1:
        return f"{reasons[0]}."
    return "\n".join([f"{len(reasons)} settings cannot be used:", *reasons]) + "."


def _mend(file: Path) -> str:
    return f"Correct it in {file} or in the environment; 'voice-agent settings reset KEY' helps."
