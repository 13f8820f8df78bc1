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

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import SandboxedEnvironment

from voice_agent.errors import ModelError
from voice_agent.llm.arrangement import ARRANGEMENTS, TOOL, Arrangement, trial
from voice_agent.llm.model import Message, ToolSpec

_MARK = re.compile("\ue000(\\d+)\ue001")
_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What the code in a template may raise, besides what Jinja does."""

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
        environment = SandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        self._texts = {"bos_token": bos, "eos_token": eos}
        try:
            self._template = environment.from_string(source)
        except TemplateError as error:
            raise ModelError(f"The model's chat template is broken: {error}.") from error
        self.arrangement = next(filter(self._shows_all, ARRANGEMENTS), ARRANGEMENTS[0])

    def render(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, open_reply: bool = True
    ) -> list[Segment]:
        """Return the prompt as segments; with ``open_reply`` the model speaks next."""
        segments, _kept = self._rendered(messages, tools, self.arrangement, open_reply=open_reply)
        return segments

    def _rendered(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        arrangement: Arrangement,
        *,
        open_reply: bool,
    ) -> tuple[list[Segment], list[Content | Generated]]:
        """Return the segments, and all that they should hold besides the template's text."""
        kept: list[Content | Generated] = []
        ids = _Ids()
        described = [_tool(tool) for tool in tools]
        offered = {"tools": described or None} if described or arrangement.null_tools else {}
        try:
            text = self._template.render(
                messages=[_as_dict(m, kept, ids) for m in arrangement.of(messages)],
                add_generation_prompt=open_reply,
                enable_thinking=False,
                functions=_to_json(described),  # firefunction's words for tools and today
                datetime=datetime.now().strftime("%Y-%m-%d"),
                **offered,
                **self._texts,
            )
        except (TemplateError, *_FAULTS) as error:
            raise ModelError(f"The model's chat template refuses the exchange: {error}.") from error
        return list(_cut(text, kept)), kept

    def _shows_all(self, arrangement: Arrangement) -> bool:
        """Whether nothing of an exchange with calls, and of one without tools, is lost."""
        told = (Message("system", "system"), Message("user", "asked"))
        for exchange, tools in ((trial(1), [TOOL]), (trial(2), [TOOL]), (told, [])):
            try:
                segments, kept = self._rendered(exchange, tools, arrangement, open_reply=True)
            except ModelError:
                return False
            shown = set(map(id, segments))
            if not all(id(part) in shown for part in kept):
                return False
        return True


class _Generation(Extension):
    """The block around what the model writes, which training tools mark; its body is rendered."""

    tags = {"generation"}  # noqa: RUF012  # as Jinja declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return the block's body."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _Ids:
    """Ids of calls as the strictest templates want them: nine letters and digits."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def new(self, call_id: str) -> str:
        """Return the id of a call that is proposed now."""
        self._known[call_id] = f"call{len(self._known) + 1:05d}"
        return self._known[call_id]

    def of(self, call_id: str) -> str:
        """Return the id of a call that was proposed before."""
        return self._known.get(call_id) or self.new(call_id)


def _as_dict(message: Message, kept: list[Content | Generated], ids: _Ids) -> dict[str, Any]:
    content: Content | Generated = Content(message.content)
    if message.generated:
        content = Generated(message.generated)
    entry: dict[str, Any] = {"role": message.role, "content": ""}
    if message.content or message.generated:
        entry["content"] = _placeholder(content, kept)
    if message.role == "tool":
        name = _name(message.name, kept)
        entry |= {"tool_call_id": ids.of(message.call_id), "name": name}
    if message.calls and not message.generated:
        entry["tool_calls"] = [
            {
                "id": ids.new(call.id),
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
    return json.dumps(value, ensure_ascii=False, indent=indent, default=list)


def _refuse(message: str) -> None:
    raise TemplateError(message)
