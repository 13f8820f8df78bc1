"""A document to the passages under which it is found.

A passage is some 60 to 200 words under one heading: whole paragraphs, list items and table rows
as far as they fit. Rows keep their table's header and items the sentence that introduces them,
so a passage can be understood alone. Longer paragraphs are divided between sentences.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from voice_agent.library.blocks import Block, blocks
from voice_agent.library.readers import Document
from voice_agent.library.statements import block_sentences

TARGET_WORDS = 120
MAX_WORDS = 200
_SMALL_WORDS = 30
_CHARS_PER_WORD = 12  # more than any language's average: only for what is no language
_LONGEST_WORD = 240
_MAX_LEAD_CHARS = 600
_WORD = re.compile(r"\w\S*")


@dataclass(frozen=True)
class Passage:
    """A passage of a document, the ``ordinal``-th from 0.

    ``heading`` is the path of headings above it, without the document's title. ``lead`` is a
    table header or introducing sentence that stands earlier in the document, or empty.
    """

    ordinal: int
    heading: tuple[str, ...]
    lead: str
    text: str
    line: int
    last_line: int

    @property
    def full_text(self) -> str:
        """The lead and the text."""
        return f"{self.lead}\n{self.text}" if self.lead else self.text


@dataclass(frozen=True)
class _Piece:
    """What is never divided. ``joint`` goes before it; ``keep``: never the last of a passage."""

    text: str
    line: int
    last_line: int
    lead: str = ""
    joint: str = "\n\n"
    keep: bool = False

    @cached_property
    def words(self) -> int:
        return _words(self.text)


def passages(document: Document) -> list[Passage]:
    """Return the passages of ``document`` in order."""
    found: list[Passage] = []
    for heading, section in _sections(document):
        for pieces in _packed(_pieces(section)):
            found.append(_passage(len(found), heading, pieces))
    return found


def _sections(document: Document) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """The blocks below each heading; a heading with nothing below it is text itself."""
    path: list[Block] = []
    section: list[Block] = []
    for block in blocks(document.text, plain=document.plain):
        if block.kind != "heading":
            section.append(block)
            continue
        if section or (path and block.level <= path[-1].level):
            yield _section(path, section, document.title)
            section = []
        path = [above for above in path if above.level < block.level]
        path.append(block)
    if section or path:
        yield _section(path, section, document.title)


def _section(
    path: list[Block], section: list[Block], title: str
) -> tuple[tuple[str, ...], list[Block]]:
    if not section:
        *path, last = path
        section = [replace(last, kind="paragraph")]
    return tuple(heading.text for heading in path if heading.text != title), section


def _pieces(section: list[Block]) -> Iterator[_Piece]:
    intro = ""
    for block, following in zip(section, [*section[1:], None], strict=True):
        if block.kind == "table":
            yield from _rows(block)
        elif block.kind == "item":
            yield from _item(block, intro)
            continue
        elif block.kind == "code":
            yield from _lines(block, "")
        else:
            introduces = following is not None and following.kind != "paragraph"
            yield from _sentences(block, introduces)
            intro = _introduction(block) if introduces else ""
            continue
        intro = ""


def _introduction(block: Block) -> str:
    """The last sentence of a paragraph, where it announces what follows."""
    last = (block_sentences(block) or [""])[-1]
    return last if last.endswith(":") and len(last) <= _MAX_LEAD_CHARS else ""


def _sentences(block: Block, introduces: bool) -> Iterator[_Piece]:
    keep = introduces and block.text.rstrip().endswith(":")
    if _words(block.text) <= MAX_WORDS:
        yield _Piece(block.text, block.first_line, block.last_line, keep=keep)
        return
    ends = list(accumulate(len(line.split()) for line in block.lines))
    joint, begin = "\n\n", 0
    for text in _bounded(block_sentences(block)):
        end = begin + len(text.split())
        first, last = bisect_right(ends, begin), bisect_left(ends, end)
        line, last_line = (min(block.first_line + at, block.last_line) for at in (first, last))
        yield _Piece(text, line, last_line, joint=joint)
        joint, begin = " ", end


def _bounded(parts: Iterable[str]) -> Iterator[str]:
    """The parts; one that is far too long (no full stop anywhere) is cut between words."""
    for part in parts:
        if _words(part) <= MAX_WORDS:
            yield part
        else:
            yield from _cut_text(part)


def _cut_text(text: str) -> Iterator[str]:
    group: list[str] = []
    size = 0
    for word in text.split():
        for at in range(0, len(word), _LONGEST_WORD):
            group.append(word[at : at + _LONGEST_WORD])
            size += _words(group[-1])
            if size >= TARGET_WORDS:
                yield " ".join(group)
                group, size = [], 0
    if group:
        yield " ".join(group)


def _item(block: Block, intro: str) -> Iterator[_Piece]:
    if _words(block.text) <= MAX_WORDS:
        yield _Piece(block.text, block.first_line, block.last_line, intro, "\n")
        return
    yield from _lines(block, intro)


def _lines(block: Block, lead: str) -> Iterator[_Piece]:
    for number, line in enumerate(block.lines, block.first_line):
        for text in _bounded([line]):
            yield _Piece(text, number, number, lead, "\n")


def _rows(block: Block) -> Iterator[_Piece]:
    """The header with its rule as one piece, then each row, which leads with the header."""
    has_rule = len(block.lines) > 1 and not set(block.lines[1]) - set("|-: \t")
    head = block.lines[: 2 if has_rule else 1]
    header = "\n".join(head)
    if len(header) > _MAX_LEAD_CHARS or any(_words(row) > MAX_WORDS for row in block.lines):
        yield from _lines(block, "")
        return
    rows = block.lines[len(head) :]
    yield _Piece(header, block.first_line, block.first_line + len(head) - 1, keep=bool(rows))
    for number, row in enumerate(rows, block.first_line + len(head)):
        yield _Piece(row, number, number, header, "\n")


def _packed(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Fill passages up to the target; a small rest joins the passage before it."""
    full: list[_Piece] = []
    current: list[_Piece] = []
    size = 0
    for piece in pieces:
        if _is_full(size, piece) and not all(part.keep for part in current):
            if full:
                yield full
            full, current = _cut(current)
            size = sum(part.words for part in current)
        current.append(piece)
        size += piece.words
    if full and size < _SMALL_WORDS:
        full, current = full + current, []
    yield from filter(None, (full, current))


def _is_full(size: int, piece: _Piece) -> bool:
    """Whether ``piece`` begins another passage; a list or table is kept whole for longer."""
    border = size >= TARGET_WORDS and piece.joint != "\n"
    return border or size + piece.words > MAX_WORDS


def _cut(pieces: list[_Piece]) -> tuple[list[_Piece], list[_Piece]]:
    """The pieces, and those at their end that go with what follows."""
    end = len(pieces)
    while pieces[end - 1].keep:
        end -= 1
    return pieces[:end], pieces[end:]


def _words(text: str) -> int:
    """How many words ``text`` counts for; what has no spaces counts by its length."""
    return max(1, len(_WORD.findall(text)), len(text) // _CHARS_PER_WORD)


def _passage(ordinal: int, heading: tuple[str, ...], pieces: list[_Piece]) -> Passage:
    text = pieces[0].text + "".join(piece.joint + piece.text for piece in pieces[1:])
    lead = "" if pieces[0].keep else pieces[0].lead
    return Passage(ordinal, heading, lead, text, pieces[0].line, pieces[-1].last_line)
