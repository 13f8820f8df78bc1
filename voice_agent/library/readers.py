"""A file to a document: its text, decoded, and its title.

Text and Markdown are read; a file that holds something else is unsuitable, with the reason.
"""

import codecs
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from voice_agent.library.blocks import blocks

MAX_BYTES = 20_000_000
SUFFIXES = frozenset({".md", ".markdown", ".txt", ".text", ".rst"})
"""What is read in a folder. A file that is added by its own name may have any suffix."""

OTHER_DOCUMENTS = frozenset(
    {".pdf", ".doc", ".docx", ".odt", ".rtf", ".epub", ".html", ".htm", ".pages"}
)
"""Documents that people expect to be found, and that cannot be read yet: reported, not hidden."""

_MARKDOWN = frozenset({".md", ".markdown", ".rst"})
_PROBE_BYTES = 8_192
_TITLE_CHARS = 80
_BOMS = (  # the longer one first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.{1,200}?)[ \t]*$", re.MULTILINE | re.IGNORECASE)


class Unsuitable(Exception):
    """A file holds nothing that can be searched; the text says why."""


@dataclass(frozen=True)
class Document:
    r"""A file's text with lines as in the file, ended by ``\n``.

    ``sha`` is the SHA-256 of the file's bytes in hex; ``plain``: the text has no markup.
    """

    path: Path
    title: str
    text: str
    sha: str
    plain: bool = False


def read(path: Path, max_bytes: int = MAX_BYTES) -> Document:
    """Read the document at ``path``, at most ``max_bytes`` of it and one more.

    Raises Unsuitable for a file that is too large, empty or not text; OSError where it cannot be
    read at all.
    """
    size = path.stat().st_size
    if size > max_bytes:
        raise Unsuitable(f"larger than {_megabytes(max_bytes)} ({_megabytes(size)})")
    with path.open("rb") as file:
        data = file.read(_PROBE_BYTES)
        _refuse_binary(data)
        data += file.read(max_bytes + 1 - len(data))
    if len(data) > max_bytes:  # it grew meanwhile, or its size was not known
        raise Unsuitable(f"larger than {_megabytes(max_bytes)}")
    _refuse_binary(data)
    return document(path, data)


def document(path: Path, data: bytes) -> Document:
    """Return the document that the file's bytes are. Raises Unsuitable where they say nothing."""
    text = decode(data).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise Unsuitable("empty")
    matter = _FRONT_MATTER.match(text)
    head = matter[1] if matter else ""
    if matter:  # stays as text, for its dates and names; only its fences go
        text = f"\n{head}\n{text[matter.end() :]}"
    plain = path.suffix.lower() not in _MARKDOWN
    return Document(path, _title(path, head, text), text, hashlib.sha256(data).hexdigest(), plain)


def decode(data: bytes) -> str:
    """Decode by byte-order mark, else as UTF-8, else as Windows-1252. NULs become spaces."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, errors="replace").replace("\0", " ")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _refuse_binary(data: bytes) -> None:
    if b"\0" in data and not data.startswith(tuple(bom for bom, _ in _BOMS)):
        raise Unsuitable("not text (it holds zero bytes)")


def _title(path: Path, front_matter: str, text: str) -> str:
    named = _FRONT_TITLE.search(front_matter)
    if named:
        return named[1].strip("\"'")
    headings = (block for block in blocks(text[len(front_matter) :]) if block.kind == "heading")
    if heading := next(headings, None):
        return heading.text
    first = next(line for line in text.splitlines() if line.strip()).strip()
    if not front_matter and len(first) <= _TITLE_CHARS:
        return first.rstrip(":")
    return re.sub(r"[_\W]+", " ", shown(Path(path.stem))).strip() or shown(path)


def shown(path: Path) -> str:
    r"""Return the path as text that can be printed and stored: odd bytes as ``\xff``."""
    return bytes(path).decode("utf-8", errors="backslashreplace")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
