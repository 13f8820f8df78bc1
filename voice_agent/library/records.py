"""What the library tells its callers."""

from dataclasses import dataclass, field


@dataclass
class Report:
    """What reading folders did to the library, in documents; paths are as shown.

    ``skipped`` are files that could not be read, with the reason; ``missing`` are folders that
    are not there (or suddenly empty) now and whose documents were kept.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Folder:
    """A folder, or single file, that was added. ``there``: it is on the disk now."""

    path: str
    documents: int
    passages: int
    there: bool


@dataclass(frozen=True)
class Hit:
    """A passage that was found, best first.

    ``text`` begins with the header or introducing sentence that the passage needs. ``score`` is
    comparable within one search; ``coverage`` (0 to 1) is the share of the question's terms,
    weighted by idf, that the passage holds with its title and headings. ``line`` counts from 1.
    """

    passage_id: int
    path: str
    title: str
    heading: str | None
    text: str
    score: float
    coverage: float
    line: int
    last_line: int


@dataclass(frozen=True)
class Opened:
    """A whole document as text, with its headings marked ``#``."""

    path: str
    title: str
    text: str
