"""Telling text, reasoning and calls apart in a reply that comes in pieces.

The parser is in one of four states: text, a block up to its closing marker, reasoning, and a bare
value that may turn out to be a call. Each state takes what it can decide; only what may still
become a marker is held until the next piece. So no character is looked at more than a bounded
number of times, and the result does not depend on where the pieces were cut.
"""

import re
from collections.abc import Callable, Iterable

from voice_agent.llm.model import Call, Reasoning, Text
from voice_agent.research.markup import bare, families, loose
from voice_agent.research.markup.calls import Draft, read_calls

Item = Text | Reasoning | Call
_State = Callable[[str, int], int]
_HEADER_NAME = re.compile(r"to=(?:functions\.)?([\w.\-]+)")


class MarkupParser:
    """Parses one reply.

    ``tool_names`` are the tools that were offered: bare JSON is a call where it names one.
    ``reasoning_open``: the prompt already opened a reasoning block.
    """

    def __init__(self, tool_names: Iterable[str] = (), *, reasoning_open: bool = False) -> None:
        self._names = frozenset(tool_names)
        self._items: list[Item] = []
        self._calls = 0
        self._held = ""
        self._state: _State = self._reasoning if reasoning_open else self._text
        # text
        self._lead: list[str] = []
        self._segment_shown = False
        self._follows_item = False
        self._last_char = ""
        self._line_blank = True
        self._in_code = False
        self._in_call_fence = False
        # reasoning, block, value
        self._thought = False
        self._block = families.FENCED
        self._body: list[str] = []
        self._blank = True
        self._balance = loose.Balance()
        self._place = bare.Place()

    def feed(self, piece: str) -> list[Item]:
        """Take the next piece of the reply; returns what has become certain."""
        self._run(self._held + piece)
        return self._take()

    def flush(self) -> list[Item]:
        """End the reply; returns what was still held, an unfinished call as one cut off."""
        rest, self._held = self._held, ""
        if self._state == self._text:
            cut_marker = len(rest) > 3 and rest[0] in "<[" and families.may_become_marker(rest, 0)
            closes_fence = self._in_call_fence and rest.startswith(families.FENCE)
            cut = cut_marker or closes_fence or bare.ends_in_key(rest)
            self._show("" if cut else rest)
        elif self._state == self._reasoning:
            self._think(rest)
        elif self._state == self._in_block:
            self._body.append(rest)
            self._end_block(closed=False)
        else:
            self._end_value(closed=False)
        return self._take()

    def _take(self) -> list[Item]:
        items, self._items = self._items, []
        return items

    def _run(self, data: str) -> None:
        self._held = ""
        position = 0
        while position < len(data):
            position = self._state(data, position)

    def _hold(self, data: str, start: int) -> int:
        self._held = data[start:]
        return len(data)

    # --- text

    def _text(self, data: str, start: int) -> int:
        mark, end = families.find(families.MARK_OR_VALUE, data, start)
        self._show(data[start:end])
        if mark is None:
            return self._hold(data, end)
        if mark[0] in families.OPENERS:
            return self._open(families.OPENERS[mark[0]], mark[0], mark.end())
        if mark[0] == families.FENCE:
            return self._fence(data, mark.start())
        if mark[0] in ("{", "[", families.PROMPT):
            return self._bare(data, mark.start(), mark[0])
        self._break_segment()
        return mark.end()

    def _fence(self, data: str, start: int) -> int:
        end = start + len(families.FENCE)
        if self._in_call_fence:
            if end == len(data):
                return self._hold(data, start)
            self._in_call_fence = False
            if not data[end].isalnum():  # else it opens the next fence
                self._break_segment()
                return end
        if self._in_code:
            self._in_code = False
            self._show(families.FENCE)
            return end
        return self._bare(data, start, families.FENCE)

    def _bare(self, data: str, start: int, sign: str) -> int:
        anywhere = sign in ("{", families.FENCE)
        allowed = not self._in_code and (self._line_blank or anywhere)
        seen = bare.peek(data, start, self._names) if allowed else bare.Peek("text")
        fenced = sign == families.FENCE
        if seen.verdict == "wait":
            return self._hold(data, start)
        if seen.verdict == "text":
            self._in_code = self._in_code or fenced
            self._show(sign)
            return start + len(sign)
        if seen.verdict == "value":
            self._balance = loose.Balance(strict=True, python=seen.python)
            self._place = bare.Place(inline=not (self._line_blank or fenced), fenced=fenced)
            self._body = [data[start : seen.end]]
            self._state = self._value
            return seen.end
        if seen.verdict == "block":
            block = families.FENCED if fenced else families.PROMPTED
            return self._open(block, seen.name + " ", seen.end)
        self._in_call_fence = fenced
        self._break_segment()
        return seen.end

    def _show(self, text: str) -> None:
        if not text:
            return
        line = text.rpartition("\n")[2]
        self._line_blank = not line.strip() and (self._line_blank or len(line) < len(text))
        if self._segment_shown:
            self._items.append(Text(text))
        elif text.isspace():
            self._lead.append(text)
            return
        else:
            self._items.append(Text(self._with_lead(text)))
            self._segment_shown = True
        self._last_char = text[-1]

    def _with_lead(self, text: str) -> str:
        """Put the white space before a segment back, except where it only set markup apart."""
        text = "".join(self._lead) + text
        apart = self._follows_item and (not self._last_char or self._last_char.isspace())
        return text.lstrip() if apart else text

    def _break_segment(self) -> None:
        self._lead.clear()
        self._segment_shown = False
        self._follows_item = True
        self._line_blank = True

    # --- blocks

    def _open(self, block: families.Block, marker: str, end: int) -> int:
        self._break_segment()
        if block.kind == "reasoning":
            self._thought = False
            self._state = self._reasoning
            return end
        self._block = block
        prefilled = block.keep or block in (families.FENCED, families.PROMPTED)
        self._body = [marker] if prefilled else []
        self._blank = not prefilled or not marker.strip()
        self._state = self._in_block
        return end

    def _in_block(self, data: str, start: int) -> int:
        mark, end = families.find(families.MARK, data, start)
        self._add(data[start:end])
        if mark is None:
            return self._hold(data, end)
        sign = mark[0]
        if sign in self._block.closes or sign in families.ENDS:
            self._end_block(closed=True)
            reopens = sign in families.OPENERS
            return mark.start() if reopens else mark.end()
        again = sign in self._block.opens and self._block.kind != "header"
        if again or (self._blank and sign in families.OPENERS):
            self._end_block(closed=True)
            return mark.start()
        self._add(sign)
        return mark.end()

    def _add(self, text: str) -> None:
        self._body.append(text)
        self._blank = self._blank and not text.strip()

    def _end_block(self, *, closed: bool) -> None:
        body = "".join(self._body)
        self._body = []
        self._state = self._text
        self._break_segment()
        if self._block.kind == "header":
            self._after_header(body)
        elif self._block.kind == "call" and (self._block.closes or loose.is_whole(body)):
            self._end_call(body, closed=closed)
        elif self._block.kind == "call":
            self._end_call(body, closed=False)

    def _end_call(self, body: str, *, closed: bool) -> None:
        drafts, rest = read_calls(body, closed=closed)
        for draft in drafts:
            self._propose(draft)
        self._show(families.scrub(rest))

    def _after_header(self, header: str) -> None:
        """Go on as a gpt-oss header says: a call, reasoning, or text to be shown."""
        if called := _HEADER_NAME.search(header):
            self._open(families.HEADER_CALL, "", 0)
            self._add(called[1] + " ")
        elif "analysis" in header:
            self._thought = False
            self._state = self._reasoning

    def _propose(self, draft: Draft) -> None:
        self._calls += 1
        name = bare.short_name(draft.name, self._names)
        call = Call(f"call_{self._calls}", name, draft.arguments, draft.raw, draft.problem)
        self._items.append(call)

    # --- reasoning

    def _reasoning(self, data: str, start: int) -> int:
        mark, end = families.find(families.MARK, data, start)
        self._think(data[start:end])
        if mark is None:
            return self._hold(data, end)
        block = families.OPENERS.get(mark[0])
        if mark[0] in families.REASONING_CLOSERS:
            self._state = self._text
            self._break_segment()
        elif block and block.kind == "header":
            return self._open(block, mark[0], mark.end())
        elif block is None or block.kind != "reasoning":
            self._think(mark[0])
        return mark.end()

    def _think(self, text: str) -> None:
        if not self._thought:
            text = text.lstrip()
        if text:
            self._thought = True
            self._items.append(Reasoning(text))

    # --- bare values

    def _value(self, data: str, start: int) -> int:
        end = self._balance.feed(data, start)
        self._body.append(data[start:end])
        if self._balance.ended:
            self._end_value(closed=True)
        return end

    def _end_value(self, *, closed: bool) -> None:
        header, value = self._body[0], "".join(self._body[1:])
        self._body = []
        self._state = self._text
        drafts = bare.accept(value, self._place, self._names, closed=closed)
        if drafts:
            self._in_call_fence = self._in_call_fence or self._place.fenced
            self._break_segment()
        elif closed or not bare.ends_in_call(value, self._names):
            self._in_code = self._in_code or self._place.fenced
            self._show(header + families.scrub(value))
        for draft in drafts:
            self._propose(draft)


def contains_markup(text: str, tool_names: Iterable[str] = ()) -> bool:
    """Whether a whole text holds markup of calls or reasoning, closed or not."""
    if families.has_marker(text):
        return True
    parser = MarkupParser(tool_names)
    items = parser.feed(text) + parser.flush()
    return any(not isinstance(item, Text) for item in items)
