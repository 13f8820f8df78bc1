"""Calls without markers of their own: bare JSON, a Python list of calls, a code fence around them.

`peek` decides from the first characters whether such a call may begin here, so that ordinary text
with brackets goes through at once; `accept` decides when the value is complete.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from voice_agent.research.markup import families
from voice_agent.research.markup.calls import CALL_KEYS, CUT_OFF, Draft, read_calls

Verdict = Literal["wait", "text", "value", "block", "marker"]

_JSON_HEAD = re.compile(r"\[?\s{0,200}\{\s{0,200}(['\"])(\w{1,24})\1")
_JSON_PART = re.compile(r"\[?\s{0,200}(?:\{\s{0,200}(?:['\"]\w{0,24})?)?\Z")
_CUT_KEY = re.compile(r"(?:```\w{0,20}\s{1,200})?\[?\s{0,200}\{\s{0,200}['\"](\w{0,24})\Z")
_CUT_NAME = re.compile(
    r"\[?\s{0,200}\{\s{0,200}['\"]\w{1,24}['\"]\s{0,200}(?::\s{0,200}(?:['\"]([\w.\-]{0,80})['\"]?)?)?"
)
_PYTHON_OPEN = re.compile(r"\[\s{0,200}([A-Za-z_][\w.\-]{0,80})\(")
_PYTHON_HEAD = re.compile(
    r"\[\s{0,200}[A-Za-z_][\w.\-]{0,80}\(\s{0,200}(?:\)|[A-Za-z_]\w{0,80}\s{0,9}=(?!=))"
)
_PYTHON_PART = re.compile(
    r"\[\s{0,200}(?:[A-Za-z_][\w.\-]{0,80}(?:\(\s{0,200}(?:[A-Za-z_]\w{0,80}\s{0,9}=?)?)?)?\Z"
)
_FENCE = re.compile(r"```([\w+\-]{0,20}+)\s{0,200}+")
_FENCED_CALL = re.compile(r"(?:\w{1,40}\s{0,9}=\s{0,9})?(?:print\()?([A-Za-z_][\w.\-]{0,80})\(")
_FENCED_PART = re.compile(
    r"(?:\w{1,40}\s{0,9}(?:=\s{0,9})?)?(?:print\()?(?:[A-Za-z_][\w.\-]{0,80})?\Z"
)
_PROMPT = re.compile(r">>>([\w.\-]{1,80})\r?\n")
_PROMPT_PART = re.compile(r">>>[\w.\-]{0,80}\r?\Z")
_CALL_FENCES = frozenset({"tool_code", "tool_call", "tool_calls", "tool_use", "function_call"})
_DATA_FENCES = frozenset({"", "json", "jsonc", "json5", "js", "javascript", "python", "py", "xml"})
_SHAPE = re.compile(r"[\"'](?:arguments|parameters)[\"']\s{0,9}:")

Names = frozenset[str]


@dataclass(frozen=True)
class Peek:
    """What may begin at a place of the text.

    ``wait``: undecided until more text comes; ``text``: nothing; ``value``: a bracketed value that
    may be a call; ``block``: a call up to its closing marker, its body from ``end`` on;
    ``marker``: a fence around a marker that stands at ``end``.
    """

    verdict: Verdict
    end: int = 0
    name: str = ""
    python: bool = False


_WAIT, _TEXT = Peek("wait"), Peek("text")


def short_name(name: str, names: Names) -> str:
    """Strip a namespace (``functions.``, ``default_api.``) where the rest names a known tool."""
    name = name.removesuffix(".call").removeprefix("functions.")
    last = name.rpartition(".")[2]
    return last if name not in names and last in names else name


def peek(data: str, start: int, names: Names) -> Peek:
    """Decide what may begin at ``start``: a bracket, a fence or a prompt sign at a line's start."""
    if data.startswith(families.FENCE, start):
        return _peek_fence(data, start, names)
    if data.startswith(families.PROMPT, start):
        return _peek_prompt(data, start, names)
    return _peek_value(data, start, names)


def _peek_value(data: str, start: int, names: Names) -> Peek:
    """Decide whether the bracket at ``start`` may open a call."""
    if head := _JSON_HEAD.match(data, start):
        return Peek("value", start) if head[2] in CALL_KEYS else _TEXT
    called = _PYTHON_OPEN.match(data, start)
    if called and (short_name(called[1], names) in names or _PYTHON_HEAD.match(data, start)):
        return Peek("value", start, python=True)
    undecided = _JSON_PART.match(data, start) or _PYTHON_PART.match(data, start)
    return _WAIT if undecided else _TEXT


def ends_in_key(rest: str) -> bool:
    """Whether a reply that ends with ``rest`` was cut off inside the first key of a call."""
    cut = _CUT_KEY.match(rest)
    return cut is not None and any(key.startswith(cut[1]) for key in CALL_KEYS)


def ends_in_call(value: str, names: Names) -> bool:
    """Whether a reply that ends with the unclosed ``value`` was cut off inside a call.

    It was where the value has not come further than a name that a known tool's begins with, or
    names a known tool.
    """
    head = _CUT_NAME.match(value)
    if head is None:
        return False
    name = short_name(head[1] or "", names)
    if head.end() == len(value):
        return any(known.startswith(name) for known in names)
    return name in names


def _peek_prompt(data: str, start: int, names: Names) -> Peek:
    if head := _PROMPT.match(data, start):
        if head[1] == "all":
            return Peek("marker", head.end())
        name = short_name(head[1], names)
        return Peek("block", head.end(), name) if name in names else _TEXT
    return _WAIT if _PROMPT_PART.match(data, start) else _TEXT


def _peek_fence(data: str, start: int, names: Names) -> Peek:
    head = _FENCE.match(data, start)
    if head is None or head.end() == len(data):
        return _WAIT
    if head[1] in _CALL_FENCES:
        return Peek("block", head.end())
    if head[1] not in _DATA_FENCES:
        return _TEXT
    if data[head.end()] in "{[":
        inner = _peek_value(data, head.end(), names)
        return inner if inner.verdict != "text" else _peek_marker(data, head.end())
    inner = _peek_marker(data, head.end())
    return inner if inner.verdict != "text" else _peek_code(data, head.end(), names)


def _peek_marker(data: str, start: int) -> Peek:
    marker = families.MARK.match(data, start)
    if marker and marker[0] in families.OPENERS:
        return Peek("marker", start)
    return _WAIT if families.may_become_marker(data, start) else _TEXT


def _peek_code(data: str, start: int, names: Names) -> Peek:
    if head := _FENCED_CALL.match(data, start):
        known = short_name(head[1], names) in names
        return Peek("block", start) if known else _TEXT
    return _WAIT if _FENCED_PART.match(data, start) else _TEXT


@dataclass(frozen=True)
class Place:
    """Where a bare value stands: inside a line of text, or in a fence."""

    inline: bool = False
    fenced: bool = False


def accept(value: str, place: Place, names: Names, *, closed: bool) -> list[Draft]:
    """Return the calls that ``value`` holds; none where it is ordinary text.

    A known tool's name makes it a call, and so does the exclusive shape of one, except in the
    middle of a line, where both are asked for. In a fence only ``arguments`` is shape enough:
    ``parameters`` is an ordinary word in data.
    """
    drafts, _ = read_calls(value, closed=closed)
    judge = _judge(place, names, bool(_SHAPE.search(value)))
    if all(map(judge, drafts)):
        return drafts
    return []


def _judge(place: Place, names: Names, has_arguments: bool) -> Callable[[Draft], bool]:
    def judge(draft: Draft) -> bool:
        name = short_name(draft.name, names)
        cut = draft.problem == CUT_OFF and name != ""
        known = name in names or (cut and any(n.startswith(name) for n in names))
        malformed = draft.arguments is None
        shaped = draft.shaped or (malformed and has_arguments and draft.name != "")
        if place.inline:
            return known and shaped
        if place.fenced and not known and '"parameters"' in draft.raw:
            return False
        return known or shaped

    return judge
