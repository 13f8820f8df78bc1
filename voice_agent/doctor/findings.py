"""What a check found: good, or the exact thing to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from voice_agent.errors import VoiceAgentError

Level = Literal["good", "note", "mend"]
"""``note``: it works, but could be better or is not used."""


@dataclass(frozen=True)
class Finding:
    """One line of the doctor: what was looked at, how it is, and what mends it."""

    check: str
    level: Level
    text: str
    mend: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the finding as an object that JSON can hold."""
        return vars(self)


def good(check: str, text: str) -> Finding:
    """Return a finding that all is well."""
    return Finding(check, "good", text)


def fault(check: str, error: VoiceAgentError) -> Finding:
    """Return the finding that ``error`` is."""
    return Finding(check, "mend", error.message, error.mend)


def worst(findings: Iterable[Finding]) -> Level:
    """Return the worst level of all findings."""
    levels = {finding.level for finding in findings}
    return "mend" if "mend" in levels else "note" if "note" in levels else "good"
