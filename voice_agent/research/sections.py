"""Long sources, divided at their own headings and paragraphs."""

from collections.abc import Iterable
from dataclasses import dataclass

from voice_agent.research.evidence import Finding

SECTION_CHARS = 1_600
"""What is read at once: some 400 tokens, six seconds of the default model on two cores."""


@dataclass(frozen=True)
class Section:
    """A part of a source, by the name under which it can be asked for; never without statements."""

    name: str
    statements: tuple[Finding, ...]

    @property
    def text(self) -> str:
        """The statements in their order."""
        return " ".join(finding.text for finding in self.statements)

    @property
    def key(self) -> str:
        """What tells it from the sections of other sources."""
        source = self.statements[0].source
        return f"{source.path if source else ''}\n{self.name}"


def divide(statements: Iterable[Finding], limit_chars: int = SECTION_CHARS) -> list[Section]:
    """Gather a source's statements, in their order, into sections.

    A section ends with its heading, or where another statement would make it longer than
    ``limit_chars``; the parts of a longer one are numbered. A source without headings, and text
    before the first one, is in parts "part 1", "part 2" and so on.
    """
    parts: list[tuple[str, list[Finding]]] = []
    size = 0
    for finding in statements:
        heading = (finding.source.heading or "") if finding.source else ""
        size += len(finding.text)
        if not parts or parts[-1][0] != heading or size > limit_chars:
            parts.append((heading, []))
            size = len(finding.text)
        parts[-1][1].append(finding)
    headings = [heading for heading, _own in parts]
    return [
        Section(_name(headings, place), tuple(own)) for place, (_heading, own) in enumerate(parts)
    ]


def _name(headings: list[str], place: int) -> str:
    heading = headings[place]
    n = headings[: place + 1].count(heading)
    if not heading:
        return f"part {n}"
    return heading if headings.count(heading) == 1 else f"{heading} ({n})"
