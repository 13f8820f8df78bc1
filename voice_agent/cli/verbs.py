"""The groups of verbs, in the order in which ``--help`` shows them.

A group is a module with ``add(verbs)``, which adds its parsers and sets ``run`` on each to a
function that takes the parsed arguments and returns the exit code. Groups import their stage
inside that function, so that ``--help`` and a wrong command line answer at once.
"""

import argparse
import importlib
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[Any]

NAMES = (
    "run",
    "control",
    "service",
    "doctor",
    "ask",
    "replay",
    "transcribe",
    "say",
    "devices",
    "library",
    "models",
    "settings",
    "history",
    "bench",
)


class Group(Protocol):
    """A module of verbs."""

    def add(self, verbs: "Verbs") -> None:
        """Add the parsers of the group's verbs."""


def groups() -> list[Group]:
    """Return the modules of verbs."""
    return [cast(Group, importlib.import_module(f"voice_agent.cli.{name}")) for name in NAMES]
