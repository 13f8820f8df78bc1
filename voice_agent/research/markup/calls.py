"""Reading the body of a call block, whatever family wrote it.

The body is told by its look, not by the marker around it, because models mix them: JSON inside
Gemma's tags, Python inside Hermes' tags, and so on.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from voice_agent.research.markup import loose

CUT_OFF = "cut off: the reply ended before the call was complete"
_NAME_KEYS = ("name", "function", "tool", "tool_name", "function_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "tool_input")
_OTHER_KEYS = frozenset({"type", "id", "tool_call_id", "call_id", "index"})
_WRAPPERS = ("tool_calls", "tool_call", "function_call")
CALL_KEYS = frozenset({*_NAME_KEYS, *_ARGUMENT_KEYS, *_OTHER_KEYS, *_WRAPPERS})


@dataclass(frozen=True)
class Draft:
    """A call as it was read. ``shaped``: it has the full and exclusive shape of a call."""

    name: str
    arguments: dict[str, Any] | None
    raw: str
    problem: str = ""
    shaped: bool = False


Read = tuple[list[Draft], str]
"""The calls, and text that followed them and belongs to none."""

_PYTHON = re.compile(r"\[?\s*(?:\w+\s*=\s*)?[A-Za-z_][\w.\-]*\(")
_ASSIGNMENT = re.compile(r"^[ \t]*\w+\s*=\s*(?=[A-Za-z_][\w.\-]*\()", re.MULTILINE)
_PRINT = re.compile(r"^([ \t]*)print\((.*)\)[ \t]*$", re.MULTILINE)
_XML = re.compile(
    r"<[^\s=<>]{0,24}(?:function|invoke)(?:=|\s{1,4}name=)[\"']?([\w.\-]{1,80})[\"']?\s{0,9}>"
)
_PARAMETER = re.compile(
    r"<[^\s=<>]{0,24}param(?:eter)?(?:=|\s{1,4}name=)[\"']?([\w.\-]{1,80})[\"']?[^<>]{0,80}>"
)
_PARAMETER_END = re.compile(r"</[^\s<>]{0,24}param(?:eter)?>")
_ELEMENT_END = re.compile(r"</[^\s<>]{0,24}(?:function|invoke)>")
_ARGUMENT_TAG = re.compile(r"</?\w{0,24}arg_(?:key|value)>")
_GEMMA_STRING = re.compile(r"(<escape>|<\|\"\|>)((?:(?!\1).)*)\1", re.DOTALL)
_SEPARATOR = re.compile(
    r"\[CALL_ID\][^\[{]*|\[ARGS\]|<｜tool▁sep｜>|<\|tool_call_argument_begin\|>|```(?:json)?"
    r"|<\|tool_call:(?:name|args)\|>|<\|constrain\|>\w*"
)
_NAME = re.compile(r"(?:call:)?([\w.\-]{1,80}?)(?::\d{1,6})?")
_FENCE = re.compile(r"```\w*\s*")
_GUESSES = (
    re.compile(r"[\"'](?:name|function|tool|tool_name)[\"']\s{0,9}:\s{0,9}[\"']([\w.\-]{1,80})"),
    re.compile(r"<[^\s=<>]{0,24}(?:function|invoke)(?:=|\s{1,4}name=)[\"']?([\w.\-]{1,80})"),
    re.compile(r"\s{0,99}\[?\s{0,99}(?:call:)?([A-Za-z_][\w.\-]{0,79})(?=\s{0,9}(?:[({<\[]|$))"),
)


def read_calls(body: str, *, closed: bool) -> Read:
    """Read the calls that ``body`` holds; what cannot be read is a draft with its problem.

    ``closed``: a closing marker was seen. Without it, a body that does not close by itself was cut
    off, and text after complete JSON is returned as not belonging to the call.
    """
    text = body.strip().removeprefix("functools")
    text = _FENCE.sub("", text, count=1) if text.startswith("```") else text
    if not text:
        return [], ""
    return _reader(text)(text, closed)


def guess_name(text: str) -> str:
    """Find the tool that a malformed call means; empty where nothing says so."""
    for pattern in _GUESSES[:2]:
        if found := pattern.search(text):
            return found[1]
    found = _GUESSES[2].match(text)
    return found[1] if found else ""


def _reader(text: str) -> Callable[[str, bool], Read]:
    if _PYTHON.match(text):
        return _read_python
    if text[0] in "{[":
        return _read_json
    if text[0] == "<":
        return _read_xml
    if _ARGUMENT_TAG.search(text):
        return _read_tagged
    return _read_named if "{" in text else _read_name


def _malformed(text: str, problem: str, *, closed: bool) -> Draft:
    cut = not closed and not loose.is_whole(text)
    return Draft(guess_name(text), None, text.strip(), CUT_OFF if cut else problem)


def _read_json(text: str, closed: bool) -> Read:
    drafts: list[Draft] = []
    position = _skip(text, 0)
    while position < len(text) and text[position] in "{[":
        end = loose.value_end(text, position)
        drafts += _read_value(text[position:end], closed=closed, whole=end is not None)
        position = _skip(text, end or len(text))
    rest = text[position:].strip("`}])")
    return drafts, "" if closed else rest


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n,;":
        position += 1
    return position


def _read_value(text: str, *, closed: bool, whole: bool) -> list[Draft]:
    if not whole and not closed:
        return [_malformed(text, CUT_OFF, closed=False)]
    trimmed = text if whole else text.rstrip("` \t\r\n")
    try:
        value = loose.read_json(trimmed if whole else loose.complete(trimmed))
    except ValueError as fault:
        return [_malformed(text, f"not valid JSON: {fault}", closed=closed)]
    return _from_value(value, trimmed.strip())


def _from_value(value: Any, raw: str) -> list[Draft]:
    if isinstance(value, list):
        alone = len(value) == 1
        return [d for v in value for d in _from_value(v, raw if alone else _spell(v))]
    if not isinstance(value, dict):
        return [Draft("", None, raw, "a call must be a JSON object with name and arguments")]
    for key in _WRAPPERS:
        if isinstance(value.get(key), list | dict):
            return _from_value(value[key], raw)
    if isinstance(value.get("function"), dict):
        return _from_value(value["function"], raw)
    return [_from_object(value, raw)]


def _spell(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _from_object(value: dict[str, Any], raw: str) -> Draft:
    name_key = next((k for k in _NAME_KEYS if isinstance(value.get(k), str)), None)
    argument_key = next((k for k in _ARGUMENT_KEYS if k in value), None)
    if name_key is None:
        return _from_named_object(value, raw)
    draft = Draft(value[name_key], None, raw)
    others = value.keys() - {name_key, argument_key} - _OTHER_KEYS
    if argument_key is None:
        if others:
            return replace(draft, problem='"arguments" is missing')
        return replace(draft, arguments={})
    draft = _with_arguments(draft, value[argument_key])
    shaped = not others and argument_key in _ARGUMENT_KEYS[:2] and draft.arguments is not None
    return replace(draft, shaped=shaped)


def _from_named_object(value: dict[str, Any], raw: str) -> Draft:
    """Read Apertus' form: the tool's name is the only key."""
    if len(value) == 1:
        name, arguments = next(iter(value.items()))
        if isinstance(arguments, dict) and name not in CALL_KEYS:
            return Draft(name, arguments, raw)
    return Draft("", None, raw, "the call does not say which tool: give name and arguments")


def _with_arguments(draft: Draft, arguments: Any) -> Draft:
    if isinstance(arguments, str):
        try:
            arguments = loose.read_json(arguments) if arguments.strip() else {}
        except ValueError as fault:
            return replace(draft, problem=f"arguments are not valid JSON: {fault}")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        return replace(draft, problem="arguments must be a JSON object")
    if arguments.get("type") == "object" and isinstance(arguments.get("properties"), dict):
        return replace(draft, problem="this repeats the tool's description; give values instead")
    return replace(draft, arguments=arguments)


def _read_python(text: str, closed: bool) -> Read:
    plain = _ASSIGNMENT.sub("", _PRINT.sub(r"\1\2", text.rstrip("` \t\r\n")))
    problem = "not a valid call: write name(argument='value'), each argument with its name"
    if not loose.is_whole(plain):
        return [_malformed(text, problem, closed=closed)], ""
    try:
        drafts, rest = _read_json(loose.python_to_json(plain), closed)
    except ValueError as fault:
        return [_malformed(text, f"not a valid call: {fault}", closed=closed)], ""
    if not drafts or any(draft.arguments is None for draft in drafts):
        return [_malformed(text, problem, closed=closed)], ""
    raw = text.strip()
    return [replace(d, raw=raw, shaped=bool(d.arguments)) for d in drafts], rest


def _read_xml(text: str, closed: bool) -> Read:
    head = _XML.match(text)
    if head is None or not closed:
        problem = "the call does not begin with <function=NAME>" if closed else CUT_OFF
        return [Draft(guess_name(text), None, text, problem)], ""
    inner = _ELEMENT_END.split(text[head.end() :], maxsplit=1)[0]
    before, *pairs = _PARAMETER.split(inner)
    draft = Draft(head[1], None, text)
    if not pairs:
        return [_with_arguments(draft, before)], ""
    values = (_PARAMETER_END.split(value, maxsplit=1)[0] for value in pairs[1::2])
    arguments = dict(zip(pairs[::2], map(_plain_value, values), strict=True))
    return [replace(draft, arguments=arguments)], ""


def _read_tagged(text: str, closed: bool) -> Read:
    name, *parts = _ARGUMENT_TAG.split(text)
    draft = Draft(name.strip(), None, text)
    if not closed or len(parts) % 4:
        problem = "each <arg_key> needs its <arg_value>" if closed else CUT_OFF
        return [replace(draft, problem=problem)], ""
    keys = (key.strip() for key in parts[::4])
    values = map(_plain_value, parts[2::4])
    return [replace(draft, arguments=dict(zip(keys, values, strict=True)))], ""


def _plain_value(text: str) -> Any:
    """Read a value that stands between tags: a number, list or object as such, all else as text."""
    text = text.removeprefix("\n").removesuffix("\n")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str) else value


def _read_named(text: str, closed: bool) -> Read:
    """Read ``NAME{json}`` with the separators that families put between."""
    text = _GEMMA_STRING.sub(lambda match: json.dumps(match[2]), text)
    drafts: list[Draft] = []
    while "{" in text:
        start = text.index("{")
        words = _SEPARATOR.sub(" ", text[:start]).split()
        name = _NAME.fullmatch(words[-1]) if 0 < len(words) <= 2 else None
        if name is None:
            drafts_after, rest = _read_json(text[start:], closed)
            return drafts + drafts_after, rest
        end = loose.value_end(text, start)
        drafts.append(_read_arguments(name[1], text[:end].strip(), start, closed=closed))
        text = text[end:].strip(" \t\r\n,;`") if end else ""
    return drafts, "" if closed else text.strip("`}])")


def _read_arguments(name: str, text: str, start: int, *, closed: bool) -> Draft:
    draft = Draft(name, None, text)
    if not loose.is_whole(text):
        if not closed:
            return replace(draft, problem=CUT_OFF)
        text = loose.complete(text)
    return _with_arguments(draft, text[start:])


def _read_name(text: str, closed: bool) -> Read:
    name = _NAME.fullmatch(_SEPARATOR.sub(" ", text).strip())
    if name is not None and closed:
        return [Draft(name[1], {}, text)], ""
    problem = "not a call: give a JSON object with name and arguments" if closed else CUT_OFF
    return [Draft(guess_name(text), None, text, problem)], ""
