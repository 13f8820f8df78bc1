"""JSON as small models write it: where it ends, and reading it in spite of harmless faults.

Repaired are: single quotes, unquoted keys, Python's literals, commas before a closing bracket,
line breaks and unknown escapes in strings, closing brackets left out at the very end. All else is
an error, because a guess could call a tool with arguments that nobody meant.
"""

import json
import re
from typing import Any

_MAX_DEPTH = 64
_PAIRS = {"{": "}", "[": "]", "(": ")"}
_JSON_CHARS = frozenset(" \t\r\n{}[]:,.+-_")
PYTHON_CHARS = _JSON_CHARS | frozenset("()=")

_TOKEN = re.compile(
    r"""
      (?P<double>"(?:\\.|[^"\\])*(?:"|\\?\Z))
    | (?P<single>'(?:\\.|[^'\\])*(?:'|\\?\Z))
    | (?P<call>[A-Za-z_][\w.\-]*)\s*\(
    | (?P<key>[A-Za-z_][\w.\-]*)\s*[=:]
    | (?P<word>[A-Za-z_]\w*)
    | (?P<comma>,\s*(?=[}\])]))
    | (?P<shut>\))
    | (?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)
_LITERALS = {"True": "true", "False": "false", "None": "null"}
_ESCAPE = re.compile(r'\\(.)|"|\\\Z', re.DOTALL)


class Balance:
    """Follows brackets and strings through text that comes in pieces.

    ``strict`` makes a character that JSON does not have outside strings break the value off: so a
    closing fence or a tag ends a value whose brackets do not close.
    """

    def __init__(self, *, strict: bool = False, python: bool = False) -> None:
        self.stack: list[str] = []
        self.quote = ""
        self.ended = False
        self._escaped = False
        self._legal = PYTHON_CHARS if python else _JSON_CHARS
        self._strict = strict

    def feed(self, text: str, start: int = 0) -> int:
        """Go on through ``text``; returns where the value ended, or ``len(text)``."""
        for index in range(start, len(text)):
            char = text[index]
            if self.quote:
                self._in_string(char)
            elif self._breaks(char):
                self.ended = True
                return index
            elif self._closes(char):
                self.ended = True
                return index + 1
        return len(text)

    def _in_string(self, char: str) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == self.quote:
            self.quote = ""

    def _breaks(self, char: str) -> bool:
        return self._strict and not (char in "\"'" or char in self._legal or char.isalnum())

    def _closes(self, char: str) -> bool:
        if char in "\"'":
            self.quote = char
        elif char in _PAIRS:
            self.stack.append(_PAIRS[char])
        elif char in "}])" and self.stack:
            self.stack.pop()
            return not self.stack
        return False


def is_whole(text: str) -> bool:
    """Whether every bracket and string that ``text`` opens is closed in it."""
    balance, position = Balance(), 0
    while position < len(text):
        position = balance.feed(text, position)
    return not balance.stack and not balance.quote


def value_end(text: str, start: int) -> int | None:
    """Where the bracketed value at ``start`` ends; None where it does not."""
    balance = Balance()
    end = balance.feed(text, start)
    return end if balance.ended else None


def complete(text: str) -> str:
    """Add the closing brackets that ``text`` lacks; unchanged where it ends inside a string."""
    balance = Balance()
    balance.feed(text)
    if balance.quote:
        return text
    return text + "".join(reversed(balance.stack))


def read_json(text: str) -> Any:
    """Read one JSON value, repaired where that is safe.

    Raises ValueError that says what is wrong with the text.
    """
    try:
        return _load(text)
    except ValueError as fault:
        try:
            return _load(_rewrite(text, python=False))
        except ValueError:
            raise fault from None


def python_to_json(text: str) -> str:
    """Rewrite Python calls as JSON: ``f(a='b')`` as ``{"name": "f", "arguments": {"a": "b"}}``.

    Raises ValueError where a call stands inside another.
    """
    return _rewrite(text, python=True)


def _load(text: str) -> Any:
    try:
        value = json.loads(text, strict=False)
        if "\\u" in text:  # half a surrogate pair could be written to no file and no socket
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not _is_shallow(value):
        raise ValueError("nested too deeply")
    return value


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        lists = [
            v.values() if isinstance(v, dict) else v for v in level if isinstance(v, dict | list)
        ]
        level = [child for children in lists for child in children]
    return not level


def _rewrite(text: str, *, python: bool) -> str:
    written: list[str] = []
    depth = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        depth += {"call": 1, "shut": -1}.get(kind, 0)
        if kind == "call" and (not python or depth > 1):
            raise ValueError(f"a call of {token[kind]} where a value should be")
        written.append(_rewrite_token(kind, token[kind]))
    return "".join(written)


def _rewrite_token(kind: str, token: str) -> str:
    match kind:
        case "double" | "single":
            return _rewrite_string(token)
        case "call":
            return f'{{"name": "{token}", "arguments": {{'
        case "key":
            return f'"{token}":'
        case "comma":
            return ""
        case "shut":
            return "}}"
        case _:
            return _LITERALS.get(token, token)


def _rewrite_string(token: str) -> str:
    if len(token) < 2 or token[-1] != token[0]:
        return token
    return '"' + _ESCAPE.sub(_rewrite_escape, token[1:-1]) + '"'


def _rewrite_escape(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped is None:
        return "\\" + match[0]
    if escaped == "'":
        return "'"
    return match[0] if escaped in '"\\/bfnrtu' else "\\" + match[0]
