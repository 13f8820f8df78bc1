"""A request as OpenAI-compatible servers take it, and its prompt as bytes that can be counted.

Source: the chat completions reference of the OpenAI API, as its compatible servers follow it.
"""

import json
import os
import re
from dataclasses import dataclass
from typing import Any

from voice_agent.llm.model import Call, Message, Request, ToolSpec

_CONTROL = re.compile(
    r"<[|｜][^<>\n]{1,40}[|｜]?>|<[^<>\n]{1,40}[|｜]>|</?s>"
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|ARGS|CALL_ID|THINK)\]"
    r"|</?(?:start|end)_of_\w+>|</?(?:tool_\w+|tools|think)>"
)
"""What tokenizers of the common families take for control tokens."""


@dataclass(frozen=True)
class Prompt:
    """A request's prompt: its parts in their order, tools first, each as JSON in UTF-8."""

    parts: tuple[bytes, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all parts."""
        return sum(map(len, self.parts))

    def shared_bytes(self, earlier: "Prompt") -> int:
        """How many bytes the prompt begins with that ``earlier`` began with, too."""
        shared = 0
        for own, old in zip(self.parts, earlier.parts, strict=False):
            if own != old:
                return shared + len(os.path.commonprefix([own, old]))
            shared += len(own)
        return shared


def prompt_of(request: Request) -> Prompt:
    """Return what a server has to read of ``request``: schemas and messages."""
    parts = [*map(_tool, request.tools), *_messages(request.messages)]
    return Prompt(tuple(_json(part).encode("utf-8", "replace") for part in parts))


def body_of(request: Request, model: str) -> dict[str, Any]:
    """Return the request's body; where calls are not allowed, the tools are named all the same.

    So the server's processed prefix holds, and servers that want every call in the exchange to be
    of a known tool are content.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
        body["tool_choice"] = "auto" if request.calls_allowed else "none"
    return body


def inert(text: str) -> str:
    """Return ``text`` with a space in whatever a server's tokenizer may take for a control token.

    A server renders and tokenizes by itself, so that foreign text cannot be kept apart there.
    """
    return _CONTROL.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", text)


def _messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Return the messages; calls get ids of nine letters and digits, as the strictest want."""
    ids: dict[str, str] = {}
    written = []
    for message in messages:
        entry: dict[str, Any] = {"role": message.role, "content": inert(message.content)}
        for call in message.calls:
            ids[call.id] = f"call{len(ids) + 1:05d}"
        if message.calls:
            entry["tool_calls"] = [_call(call, ids[call.id]) for call in message.calls]
        if message.role == "tool":
            entry["tool_call_id"] = ids.get(message.call_id, message.call_id)
        written.append(entry)
    return written


def _call(call: Call, call_id: str) -> dict[str, Any]:
    arguments = inert(_json(call.arguments or {}))
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
