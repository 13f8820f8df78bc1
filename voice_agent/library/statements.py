"""Text to the smallest pieces that say something alone: sentences, list items, table rows."""

import re
from collections.abc import Iterator

from voice_agent.library.blocks import Block, blocks, flowing, unmarked

_END = re.compile(r"[.!?…]+[\"'”’)\]*_]*\s+(?=[\"'“‘(\[*_]*[^\Wa-z_])")
_ABBREVIATED = re.compile(
    r"(?:\b[^\W\d_]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|No|Nr|Art|vs|approx|ca|Inc|Ltd|Co|Fig|Vol|bzw"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec))\.$"
)
_ABBREVIATION_CHARS = 8
_MARKER = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")


def sentences(text: str) -> list[str]:
    """Return the sentences of a paragraph; white space is one space, nothing else changes."""
    line = " ".join(text.split())
    found: list[str] = []
    begin = 0
    for end in _END.finditer(line):
        last_word = line[max(begin, end.start() - _ABBREVIATION_CHARS) : end.end()].rstrip()
        if not _ABBREVIATED.search(last_word):
            found.append(line[begin : end.end()].strip())
            begin = end.end()
    rest = line[begin:].strip()
    return [*found, rest] if rest else found


def block_sentences(block: Block) -> list[str]:
    """Return the sentences of a paragraph or code block; a line broken on purpose ends one."""
    return [part for line in flowing(block.lines) for part in sentences(line)]


def statements(text: str) -> list[str]:
    """Return what a passage's text says, piece by piece, in words without Markdown.

    A paragraph gives its sentences; a list item goes with the sentence that introduces it; a row
    of a table goes with its header: ``Room: Kitchen; Colour: white``.
    """
    parts = list(blocks(text))
    found: list[str] = []
    intro = ""
    for block, following in zip(parts, [*parts[1:], None], strict=True):
        if block.kind == "table":
            found.extend(_rows(block))
        elif block.kind == "item":
            found.extend(_items(block, intro))
            continue
        else:
            found.extend(unmarked(part) for part in block_sentences(block))
        listed = following is not None and following.kind == "item"
        intro = found.pop() if listed and found and found[-1].endswith(":") else ""
    return found


def _items(block: Block, intro: str) -> Iterator[str]:
    """Each line with a marker of its own is an item; other lines continue the one before."""
    items: list[str] = []
    for line in block.lines:
        if _MARKER.match(line) or not items:
            items.append(_MARKER.sub("", line, count=1).strip())
        else:
            items[-1] += " " + line.strip()
    for item in items:
        yield f"{intro} {unmarked(item)}".strip()


def _rows(block: Block) -> Iterator[str]:
    rows = [_cells(line) for line in block.lines if set(line) - set("|-: \t")]
    if len(rows) == 1:
        yield "; ".join(filter(None, rows[0]))
    for row in rows[1:]:
        named = zip(rows[0], row, strict=False)
        yield "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _cells(line: str) -> list[str]:
    return [unmarked(cell) for cell in line.strip().strip("|").split("|")]
