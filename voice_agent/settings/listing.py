"""Settings as rows that a program can read."""

from dataclasses import dataclass
from typing import Any

from voice_agent.settings.fields import Value, plain
from voice_agent.settings.loading import Loaded, value_of
from voice_agent.settings.model import descriptions
from voice_agent.settings.offered import offered
from voice_agent.settings.sources import Kind


@dataclass(frozen=True)
class Row:
    """One setting: meaning, limits, default, the value in force and where it comes from."""

    key: str
    label: str
    description: str
    unit: str
    min: float | None
    max: float | None
    choices: tuple[str, ...]
    default: Value
    value: Value
    origin: Kind

    def to_json(self) -> dict[str, Any]:
        """Return the row as an object that JSON can hold."""
        return vars(self) | {"choices": list(self.choices)}


def rows(loaded: Loaded) -> list[Row]:
    """Return a row for every setting, in the model's order."""
    return [
        Row(
            key=key,
            label=d.label,
            description=d.text,
            unit=d.unit,
            min=d.min,
            max=d.max,
            choices=d.choices or offered(d),
            default=plain(d.default),
            value=value_of(loaded.settings, key),
            origin=loaded.origins[key].kind,
        )
        for key, d in descriptions().items()
    ]
