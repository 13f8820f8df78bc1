"""What a program can read about a setting: label, description, unit, bounds, choices."""

import types
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

Scalar = bool | int | float | str
Value = Scalar | list[str]


def setting(
    default: Value,
    label: str,
    description: str,
    *,
    unit: str = "",
    ge: float | None = None,
    le: float | None = None,
    expects: str = "",
    private: bool = False,
    role: str = "",
) -> Any:
    """Describe one setting; pydantic checks the inclusive bounds ``ge`` and ``le``.

    ``expects`` says in words what a value must be, where type, bounds and choices do not say it
    all. The value of a ``private`` setting is kept out of error messages. With a ``role`` the value
    is the name of one of the catalogue's models for that part (`voice_agent.settings.offered`).
    """
    return Field(
        default=default,
        title=label,
        description=description,
        ge=ge,
        le=le,
        json_schema_extra={"unit": unit, "expects": expects, "private": private, "role": role},
    )


def from_commas(value: object) -> object:
    """Return the parts of a list that was typed with commas; anything else as it is."""
    if not isinstance(value, str):
        return value
    return [part.strip() for part in value.split(",")] if value.strip() else []


class Section(BaseModel):
    """The settings of one stage: frozen, every value checked, no unknown key."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        validate_default=True,
        str_strip_whitespace=True,
        allow_inf_nan=False,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_numbers(cls, value: object, info: ValidationInfo) -> object:
        # Python counts True as 1; in a settings file it is a slip.
        field = cls.model_fields[info.field_name or ""]
        if isinstance(value, bool) and field.annotation is not bool:
            raise ValueError("is true or false")
        return value


@dataclass(frozen=True)
class Description:
    """A setting's meaning and limits, apart from any value in force."""

    key: str
    label: str
    text: str
    unit: str
    min: float | None
    max: float | None
    choices: tuple[str, ...]
    default: Value
    expects: str
    private: bool
    role: str


def describe(key: str, field: FieldInfo) -> Description:
    """Return what ``field``, known to the user as ``key``, says of itself."""
    extra = field.json_schema_extra
    assert isinstance(extra, dict), f"{key} was not made by setting()"
    return Description(
        key=key,
        label=field.title or "",
        text=field.description or "",
        unit=str(extra["unit"]),
        min=_least(field),
        max=_most(field),
        choices=_choices(field.annotation),
        default=plain(field.get_default(call_default_factory=True)),
        expects=str(extra["expects"]) or _expectation(field),
        private=bool(extra["private"]),
        role=str(extra["role"]),
    )


def plain(value: Value) -> Value:
    """Return ``value`` as JSON and TOML show it best: 300 for 300.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def as_text(value: Value) -> str:
    """Return ``value`` as it is typed on the command line."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list) else str(value)


def _least(field: FieldInfo) -> Any:
    return next((m.ge for m in field.metadata if hasattr(m, "ge")), None)


def _most(field: FieldInfo) -> Any:
    return next((m.le for m in field.metadata if hasattr(m, "le")), None)


def _choices(annotation: object) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(str(choice) for choice in get_args(annotation))
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(choice for part in get_args(annotation) for choice in _choices(part))
    if isinstance(annotation, types.GenericAlias):
        return _choices(get_args(annotation)[0])
    return ()


def _expectation(field: FieldInfo) -> str:
    choices = _choices(field.annotation)
    if choices:
        return f"one of {', '.join(choices)}"
    if field.annotation is bool:
        return "true or false"
    if field.annotation is str:
        return "text"
    number = "a whole number" if field.annotation is int else "a number"
    return f"{number} from {_least(field)} to {_most(field)}"
