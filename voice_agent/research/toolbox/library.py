"""The tools over the user's documents: search them, and read one of them."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from voice_agent.engine import StopFlag
from voice_agent.events import Source
from voice_agent.library import Hit, Opened, content_terms, statements
from voice_agent.llm.model import ToolSpec
from voice_agent.research.evidence import Finding
from voice_agent.research.excerpts import Found, choose
from voice_agent.research.tools import ToolOutput

SEARCH = "search_documents"
READ = "read_document"

PASSAGES = 6
EXCERPT_CHARS = 900
"""About 220 tokens: three seconds of prompt processing for the default model on two cores."""
READ_CHARS = 3_000
LIBRARY_TIME_LIMIT_S = 10.0


class Documents(Protocol):
    """What the tools ask of the library."""

    def search(self, query: str, limit: int = 5) -> list[Hit]:
        """Return the passages that fit ``query`` best."""
        ...

    def document(self, name: str) -> Opened:
        """Return the whole document that ``name`` means."""
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
        found = [
            Found(Source(hit.path, hit.title, hit.heading), hit.text, hit.coverage)
            for hit in self._documents.search(query, PASSAGES)
        ]
        return choose(
            query,
            found,
            statements=statements,
            terms=content_terms,
            weight=self._documents.idf,
            room_chars=EXCERPT_CHARS,
        )


class ReadDocument:
    """Reads a document from its beginning or from a heading, as far as there is room."""

    spec = ToolSpec(
        READ,
        "Read one of the user's documents, by its title or path.",
        {
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "title or path of the document"},
                "heading": {"type": "string", "description": "heading to begin at"},
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
        """Read the document ``arguments["title"]``; raises LibraryError where there is none."""
        opened = await asyncio.to_thread(self._documents.document, str(arguments["title"]))
        heading = str(arguments.get("heading", ""))
        text, headings_left = _part(opened.text, heading, READ_CHARS)
        source = Source(opened.path, opened.title, heading or None)
        note = f"\nNot read: {'; '.join(headings_left)}." if headings_left else ""
        return ToolOutput(text + note, (Finding(text + note, source),))


def _text(findings: Sequence[Finding]) -> str:
    return "\n\n".join(f"{finding.label}: {finding.text}" for finding in findings)


def _part(text: str, heading: str, room_chars: int) -> tuple[str, list[str]]:
    """Return what fits of ``text`` from ``heading`` on, and the headings that were not read."""
    sections = text.split("\n\n")
    begin = next((i for i, s in enumerate(sections) if _names(s, heading)), 0) if heading else 0
    end, size = begin, 0
    while end < len(sections) and (end == begin or size + len(sections[end]) <= room_chars):
        size += len(sections[end]) + 2
        end += 1
    unread = [s.lstrip("# ") for s in sections[end:] if s.startswith("#")]
    return "\n\n".join(sections[begin:end])[:room_chars], unread


def _names(section: str, heading: str) -> bool:
    return section.startswith("#") and heading.casefold() in section.casefold()
