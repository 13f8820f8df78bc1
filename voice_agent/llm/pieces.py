"""The pieces of a server's streamed reply: text, reasoning, and calls put together again.

Calls come in two ways: as ``tool_calls`` whose names and arguments arrive split anywhere, or, from
servers that do not parse them, as markup in the text.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from voice_agent.llm.counting import Usage
from voice_agent.llm.model import Call, Piece, Reasoning, StopReason
from voice_agent.research.markup import MarkupParser

_REASONING_KEYS = ("reasoning_content", "reasoning")
_REASONS: dict[str, StopReason] = {"length": "length", "max_tokens": "length"}


@dataclass
class _Draft:
    """A call as far as it has come."""

    index: Any
    id: str = ""
    name: str = ""
    arguments: str = ""


class ReplyPieces:
    """Reads one reply's chunks (the decoded JSON objects) in their order.

    ``reason`` is set once the server said why the reply ended; ``usage`` are its figures.
    """

    def __init__(self, tool_names: tuple[str, ...]) -> None:
        self.reason: StopReason | None = None
        self.refused = False
        self.usage = Usage()
        self.output_bytes = 0
        self._names = tool_names
        self._parser = MarkupParser(tool_names)
        self._drafts: list[_Draft] = []

    def feed(self, chunk: dict[str, Any]) -> Iterator[Piece]:
        """Take the next chunk; yields what has become certain."""
        self._note_usage(chunk.get("usage"))
        for choice in _objects(chunk.get("choices"))[:1]:
            delta = choice.get("delta") or {}
            for key in _REASONING_KEYS:
                if thought := self._text(delta.get(key)):
                    yield Reasoning(thought)
                    break
            yield from self._parser.feed(self._text(delta.get("content")))
            for part in _objects(delta.get("tool_calls")):
                self._add(part)
            self._note_end(choice.get("finish_reason"))

    def flush(self) -> Iterator[Piece]:
        """End the reply; yields what was still held, an unfinished call as one cut off."""
        yield from self._parser.flush()
        drafts, self._drafts = self._drafts, []
        for number, draft in enumerate(drafts, 1):
            yield _call(draft, number)

    def _text(self, value: Any) -> str:
        text = value if isinstance(value, str) else ""
        self.output_bytes += len(text.encode("utf-8", "replace"))
        return text

    def _add(self, part: dict[str, Any]) -> None:
        function = part.get("function") or {}
        draft = self._draft(part)
        name = self._text(function.get("name"))
        if name and not self._repeated(draft.name, name):
            draft.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # some servers send them decoded
            arguments = json.dumps(arguments, ensure_ascii=False)
        draft.arguments += self._text(arguments)

    def _draft(self, part: dict[str, Any]) -> _Draft:
        """Find the call that ``part`` goes on with, by index, or by id where indexes repeat."""
        index, call_id = part.get("index"), part.get("id") or ""
        same = [d for d in self._drafts if d.index == index]
        if index is None and not call_id:
            same = self._drafts
        if same and (not call_id or not same[-1].id or same[-1].id == call_id):
            same[-1].id = same[-1].id or call_id
            return same[-1]
        draft = _Draft(index, call_id)
        self._drafts.append(draft)
        return draft

    def _repeated(self, known: str, piece: str) -> bool:
        """Whether a server names a call again with each piece of it, instead of going on."""
        longer = any(name.startswith(known + piece) for name in self._names)
        return known in self._names and not longer

    def _note_end(self, reason: Any) -> None:
        if isinstance(reason, str):
            self.refused = reason == "content_filter"
            self.reason = _REASONS.get(reason, "end")

    def _note_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        details = usage.get("prompt_tokens_details")
        self.usage = Usage(
            _number(usage.get("prompt_tokens")),
            _number(details.get("cached_tokens")) if isinstance(details, dict) else None,
            _number(usage.get("completion_tokens")),
        )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _call(draft: _Draft, number: int) -> Call:
    raw = f"{draft.name}({draft.arguments})"
    call_id = draft.id or f"call_{number}"
    try:
        arguments = json.loads(draft.arguments.strip() or "{}")
    except ValueError as error:
        problem = f"arguments are not valid JSON: {error}"
        return Call(call_id, draft.name, None, raw, problem)
    if not isinstance(arguments, dict):
        return Call(call_id, draft.name, None, raw, "arguments must be a JSON object")
    return Call(call_id, draft.name, arguments, raw)
