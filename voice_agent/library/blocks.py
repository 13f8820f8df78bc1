"""Text or Markdown to its blocks: headings, paragraphs, list items, tables, code."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["heading", "paragraph", "item", "table", "code"]
Ends = Callable[[str], bool]

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.{1,200}?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"(={3,}|-{3,}|~{3,}|\^{3,})[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*\.?|§ ?\d+\w?|(?:Article|Section|Part|Chapter) \w+)[ :.]")
_HEADING_CHARS = 60
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=[\w.,;:!?])[*_](?!\w)")


@dataclass(frozen=True)
class Block:
    """A block and where it begins; ``level`` counts for headings, 1 being the highest.

    A heading's only line is its text; the other kinds keep their lines as they are.
    """

    kind: Kind
    lines: tuple[str, ...]
    first_line: int
    level: int = 0

    @property
    def last_line(self) -> int:
        """The number of its last line."""
        return self.first_line + len(self.lines) - 1

    @property
    def text(self) -> str:
        """Its lines as one text."""
        return "\n".join(self.lines)


def blocks(text: str, *, plain: bool = False) -> Iterator[Block]:
    """Yield the blocks of ``text`` in order; lines count from 1.

    In ``plain`` text a short line after a blank one is a heading too, if prose or a list follows
    at once, or if it stands alone and is in capitals or has a section number.
    """
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not lines[at].strip() or _RULE.match(lines[at]):
            at += 1
            continue
        end, block = _block(lines, at, plain)
        yield block
        at = end


def _block(lines: list[str], at: int, plain: bool) -> tuple[int, Block]:
    """The block that begins at index ``at``, and the index after it."""
    line = lines[at]
    if heading := _ATX.match(line):
        return at + 1, Block("heading", (unmarked(heading[2]),), at + 1, len(heading[1]))
    following = lines[at + 1] if at + 1 < len(lines) else ""
    if len(line) <= 2 * _HEADING_CHARS and (underline := _UNDERLINE.match(following)):
        level = 1 + "=-~^".index(underline[1][0])
        return at + 2, Block("heading", (unmarked(line),), at + 1, level)
    if plain and _stands_as_heading(lines, at, following):
        return at + 1, Block("heading", (unmarked(line),), at + 1, 2)
    kind, end = _extent(lines, at)
    return end, Block(kind, tuple(lines[at:end]), at + 1)


def _extent(lines: list[str], at: int) -> tuple[Kind, int]:
    """The kind of the block at ``at`` that is no heading, and the index after it."""
    line = lines[at]
    if fence := _FENCE.match(line):
        return "code", _after_fence(lines, at + 1, fence[1])
    if is_row(line):
        return "table", _after(lines, at + 1, lambda row: not is_row(row))
    if item := _ITEM.match(line):
        return "item", _after_item(lines, at + 1, len(item[1]))
    return "paragraph", _after(lines, at + 1, _begins_another)


def is_row(line: str) -> bool:
    """Whether ``line`` is a row of a table."""
    return line.count("|") >= 2 and line.strip().startswith("|")


def _begins_another(line: str) -> bool:
    return bool(
        not line.strip()
        or _ATX.match(line)
        or _FENCE.match(line)
        or _ITEM.match(line)
        or is_row(line)
    )


def _after(lines: list[str], at: int, ends: Ends) -> int:
    while at < len(lines) and not ends(lines[at]):
        at += 1
    return at


def _after_fence(lines: list[str], at: int, fence: str) -> int:
    end = _after(lines, at, lambda line: line.strip().startswith(fence))
    return min(end + 1, len(lines))


def _after_item(lines: list[str], at: int, indent: int) -> int:
    """After the item whose marker stands at ``indent``: deeper items belong to it."""

    def ends(line: str) -> bool:
        item = _ITEM.match(line)
        return len(item[1]) <= indent if item else _begins_another(line)

    return _after(lines, at, ends)


def _stands_as_heading(lines: list[str], at: int, following: str) -> bool:
    """Whether a line of plain text, after a blank one, is a heading of what follows."""
    line = lines[at].strip()
    if (at and lines[at - 1].strip()) or len(line) > _HEADING_CHARS or line[-1] in ".,;:!?":
        return False
    if not following.strip():
        capitals = line.isupper() and sum(letter.isalpha() for letter in line) >= 3
        return capitals or bool(_NUMBERED.match(line))
    prose = len(following) > _HEADING_CHARS or following.rstrip()[-1] == "."
    return (line[0].isupper() or line[0].isdigit()) and (prose or bool(_ITEM.match(following)))


def flowing(lines: Sequence[str]) -> list[str]:
    """Join the lines of a paragraph that were wrapped; a break made on purpose stays.

    A break was made on purpose if the next line's first word would still have fitted.
    """
    width = max(_HEADING_CHARS, max(map(len, lines)))
    joined: list[list[str]] = []
    room = 0
    for line in lines:
        word = next(iter(line.split(maxsplit=1)), "")
        if joined and len(word) >= room:
            joined[-1].append(line.strip())
        else:
            joined.append([line.strip()])
        room = width - len(line)
    return [" ".join(parts) for parts in joined]


def unmarked(text: str) -> str:
    """Return ``text`` without the marks of emphasis, code and links."""
    return _EMPHASIS.sub("", _LINK.sub(r"\1", text)).strip()
