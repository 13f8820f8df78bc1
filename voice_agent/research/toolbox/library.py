"""The tools over the user's documents: search them, and read one of them."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any, Protocol

from voice_agent.engine import StopFlag
from voice_agent.events import Source
from voice_agent.library import Hit, Opened, Passage, content_terms, statements
from voice_agent.llm.model import ToolSpec
from voice_agent.research.evidence import Finding
from voice_agent.research.excerpts import Found, choose
from voice_agent.research.sections import Section, divide
from voice_agent.research.tools import ToolOutput

SEARCH = "search_documents"
READ = "read_document"

PASSAGES = 6
FOUND_CHARS = 3_600
"""What one call may bring; the loop shows it to the model portion by portion, the best first. A
document that is longer comes with its sections as well."""
LIBRARY_TIME_LIMIT_S = 10.0

_PART = re.compile(r" \(\d+\)$")


class Documents(Protocol):
    """What the tools ask of the library."""

    def search(self, query: str, limit: int = 5) -> list[Hit]:
        """Return the passages that fit ``query`` best."""
        ...

    def document(self, name: str) -> Opened:
        """Return the whole document that ``name`` means."""
        ...

    def passages(self, name: str) -> list[Passage]:
        """Return the passages of the document that ``name`` means, in order."""
        ...

    def idf(self, term: str) -> float:
        """Return how rare ``term`` is."""
        ...


class SearchDocuments:
    """Finds the statements in the user's documents that bear on a query and the question."""

    spec = ToolSpec(
        SEARCH,
        "Search the user's documents for passages about something.",
        {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "words to look for"}},
            "required": ["query"],
            "additionalProperties": False,
        },
    )
    writes = False
    time_limit_s = LIBRARY_TIME_LIMIT_S

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        """Search for ``arguments["query"]``."""
        query = str(arguments["query"])
        findings = await asyncio.to_thread(self._find, query)
        return ToolOutput(_text(findings), tuple(findings))

    def _find(self, query: str) -> list[Finding]:
        return _bearing_on(
            query,
            [
                Found(Source(hit.path, hit.title, hit.heading), hit.text, hit.coverage, hit.line)
                for hit in self._documents.search(query, PASSAGES)
            ],
            self._documents,
        )


class ReadDocument:
    """Reads the statements of one document that bear on the question."""

    spec = ToolSpec(
        READ,
        "Read what one of the user's documents, named by its title or path, says about it.",
        {
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "title or path of the document"},
                "heading": {"type": "string", "description": "heading of the part to read"},
            },
            "required": ["title"],
            "additionalProperties": False,
        },
    )
    writes = False
    time_limit_s = LIBRARY_TIME_LIMIT_S

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        """Read the document ``arguments["title"]``; raises LibraryError where there is none.

        One that is too long to be shown whole comes with its sections, to be read one by one.
        """
        heading = str(arguments.get("heading", ""))
        return await asyncio.to_thread(
            self._read, str(arguments["title"]), heading, f"{question} {heading}"
        )

    def _read(self, name: str, heading: str, wanted: str) -> ToolOutput:
        opened = self._documents.document(name)
        parts = [
            Found(Source(opened.path, opened.title, _heading(part)), part.full_text, 0.0, part.line)
            for part in self._documents.passages(name)
        ]
        sections = divide(
            Finding(text, part.source, part.line, place)
            for part in parts
            for place, text in enumerate(statements(part.text))
        )
        sections = [s for s in sections if heading and _is_named(s, heading)] or sections
        lines = {finding.line for section in sections for finding in section.statements}
        parts = [part for part in parts if part.line in lines]
        findings = _bearing_on(wanted, parts, self._documents)
        long = sum(len(section.text) for section in sections) > FOUND_CHARS
        return ToolOutput(_text(findings), tuple(findings), tuple(sections) if long else ())


def _is_named(section: Section, heading: str) -> bool:
    """Whether ``heading`` means the section: its name, with its number or without, or the end."""
    wanted = heading.strip().casefold()
    names = (section.name.casefold(), _PART.sub("", section.name.casefold()))
    return any(name == wanted or name.endswith(f"> {wanted}") for name in names)


def _heading(passage: Passage) -> str | None:
    return " > ".join(passage.heading) or None


def _bearing_on(question: str, parts: Sequence[Found], documents: Documents) -> list[Finding]:
    return choose(
        question,
        parts,
        statements=statements,
        terms=content_terms,
        weight=documents.idf,
        room_chars=FOUND_CHARS,
    )


def _text(findings: Sequence[Finding]) -> str:
    return "\n\n".join(f"{finding.label}: {finding.text}" for finding in findings)
