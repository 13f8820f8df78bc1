"""Microphones and loudspeakers, and which one a setting means."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from voice_agent.errors import DeviceError

Kind = Literal["input", "output"]


@dataclass(frozen=True)
class Device:
    """A device as PortAudio sees it; ``inputs`` and ``outputs`` are numbers of channels."""

    number: int
    name: str
    system: str
    inputs: int
    outputs: int
    rate_hz: int
    default_input: bool = False
    default_output: bool = False

    def can(self, kind: Kind) -> bool:
        """Whether it can record (input) or play (output)."""
        return (self.inputs if kind == "input" else self.outputs) > 0

    def is_default(self, kind: Kind) -> bool:
        """Whether the system takes it when none is chosen."""
        return self.default_input if kind == "input" else self.default_output


def choose(devices: Sequence[Device], wanted: str, kind: Kind) -> Device:
    """Return the device that ``wanted`` means: a number, a name, a part of one; "" the default.

    Raises DeviceError with the names to choose from.
    """
    usable = [device for device in devices if device.can(kind)]
    if not usable:
        raise DeviceError(f"There is no {_called(kind)} on this machine.", mend=_attach(kind))
    if not wanted:
        return next((d for d in usable if d.is_default(kind)), usable[0])
    name = wanted.strip().lower()
    by_number = [d for d in usable if name == str(d.number)]
    exact = [d for d in usable if d.name.lower() == name]
    part = [d for d in usable if name in d.name.lower()]
    found = by_number or exact or part
    if not found:
        names = ", ".join(repr(d.name) for d in usable)
        raise DeviceError(
            f"There is no {_called(kind)} {wanted!r}; there are {names}.",
            mend=f"Set audio.{kind}_device to one of them, or to nothing for the system's.",
        )
    return found[0]


def _called(kind: Kind) -> str:
    return "microphone" if kind == "input" else "loudspeaker"


def _attach(kind: Kind) -> str:
    if kind == "input":
        return "Connect one, or give a recording: 'ask --audio F', 'run --input-wav F'."
    return "Connect one, or write to a file: 'ask --out F', 'run --output-wav F'."
