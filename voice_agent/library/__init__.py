"""The user's documents: read from folders, kept in one SQLite file, searched by passage."""

from voice_agent.library.index import Library
from voice_agent.library.passages import Passage
from voice_agent.library.records import Folder, Hit, Opened, Report
from voice_agent.library.scan import Progress
from voice_agent.library.statements import sentences, statements
from voice_agent.library.terms import content_terms, terms

__all__ = [
    "Folder",
    "Hit",
    "Library",
    "Opened",
    "Passage",
    "Progress",
    "Report",
    "content_terms",
    "sentences",
    "statements",
    "terms",
]
