"""Renders a request with the model's own chat template, and keeps what is not ours apart.

The template's text becomes control tokens; the messages' contents never do. While the template
runs, each content is a placeholder; afterwards the text is cut at the placeholders, so that every
piece can be tokenized by what it is. A document that holds ``<|im_end|>`` stays a document.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jinja2 import TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from voice_agent.errors import ModelError
from voice_agent.llm.model import Message, ToolSpec

_MARK = re.compile("\ue000(\\d+)\ue001")
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]*")


@dataclass(frozen=True)
class Scaffold:
    """Text of the template itself: control tokens in it are meant."""

    text: str


@dataclass(frozen=True)
class Content:
    """Text from a person, a document, a tool or the model: never control tokens."""

    text: str


@dataclass(frozen=True)
class Generated:
    """The model's own tokens, continued as they are."""

    tokens: tuple[int, ...]


Segment = Scaffold | Content | Generated


class ChatTemplate:
    """The chat template of a GGUF file; ``bos`` and ``eos`` are the texts that it may name.

    Raises ModelError where the template is missing, broken, or refuses an exchange.
    """

    def __init__(self, source: str, *, bos: str = "", eos: str = "") -> None:
        if not source:
            raise ModelError(
                "The model's file has no chat template.",
                mend="Choose an instruction-tuned model: voice-agent models list",
            )
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self._texts = {"bos_token": bos, "eos_token": eos}
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise ModelError(f"The model's chat template is broken: {error}.") from error

    def render(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, open_reply: bool = True
    ) -> list[Segment]:
        """Return the prompt as segments; with ``open_reply`` the model speaks next."""
        kept: list[Content | Generated] = []
        try:
            text = self._template.render(
                messages=[_as_dict(message, kept) for message in messages],
                tools=[_tool(tool) for tool in tools] or None,
                add_generation_prompt=open_reply,
                enable_thinking=False,
                **self._texts,
            )
        except (TemplateError, TypeError) as error:
            raise ModelError(f"The model's chat template refuses the exchange: {error}.") from error
        return list(_cut(text, kept))


def _as_dict(message: Message, kept: list[Content | Generated]) -> dict[str, Any]:
    content: Content | Generated = Content(message.content)
    if message.generated:
        content = Generated(message.generated)
    entry: dict[str, Any] = {"role": message.role, "content": ""}
    if message.content or message.generated:
        entry["content"] = _placeholder(content, kept)
    if message.role == "tool":
        entry |= {"tool_call_id": message.call_id, "name": _name(message.name, kept)}
    if message.calls and not message.generated:
        entry["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": _name(call.name, kept),
                    "arguments": _hidden(call.arguments or {}, kept),
                },
            }
            for call in message.calls
        ]
    return entry


def _name(name: str, kept: list[Content | Generated]) -> str:
    """Return the name of a tool or an argument: the model may have written anything for it."""
    return name if not name or _PLAIN_NAME.fullmatch(name) else _placeholder(Content(name), kept)


def _hidden(value: Any, kept: list[Content | Generated]) -> Any:
    """Return ``value`` with every string in it replaced by a placeholder."""
    if isinstance(value, str):
        # what a placeholder in JSON stands for is written as JSON writes it, without the quotes
        return _placeholder(Content(json.dumps(value, ensure_ascii=False)[1:-1]), kept)
    if isinstance(value, dict):
        return {_name(key, kept): _hidden(item, kept) for key, item in value.items()}
    if isinstance(value, list):
        return [_hidden(item, kept) for item in value]
    return value


def _placeholder(content: Content | Generated, kept: list[Content | Generated]) -> str:
    kept.append(content)
    return f"\ue000{len(kept) - 1}\ue001"


def _cut(text: str, kept: list[Content | Generated]) -> Iterator[Segment]:
    end = 0
    for mark in _MARK.finditer(text):
        if mark.start() > end:
            yield Scaffold(text[end : mark.start()])
        yield kept[int(mark.group(1))]
        end = mark.end()
    if end < len(text):
        yield Scaffold(text[end:])


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _to_json(value: Any, indent: int | None = None, **_options: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    raise TemplateError(message)
