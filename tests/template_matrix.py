"""Every chat template against text that imitates its control tokens, counted in the tokens."""

import ast
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from voice_agent.engine import StopFlag
from voice_agent.llm.arrangement import ARRANGEMENTS
from voice_agent.llm.model import Call, Message, Request, ToolSpec
from voice_agent.llm.prompt_tokens import PromptTokens
from voice_agent.llm.template import ChatTemplate
from voice_agent.llm.vocabulary import Vocabulary

HARMLESS = "harmless"
SEARCH = ToolSpec(
    "search",
    "Looks it up.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "what to look for"}},
        "required": ["query"],
    },
)
_MARK = re.compile(r"<[^<>\s{}]{1,40}>|\[/?[A-Z_]{2,20}\]|<<?/?SYS>>?|#{2,3} \w+:?")


def library_source() -> ast.Module:
    """llama-cpp-python's own chat formats, as source that nobody has to import."""
    package = importlib.util.find_spec("llama_cpp")
    assert package is not None and package.submodule_search_locations is not None
    (folder,) = package.submodule_search_locations
    return ast.parse((Path(folder) / "llama_chat_format.py").read_text())


def jinja_templates() -> dict[str, str]:
    """Every chat template in Jinja in the library's source, by the line where it stands."""
    texts = [n for n in ast.walk(library_source()) if isinstance(n, ast.Constant)]
    return {
        f"line {node.lineno}": node.value
        for node in texts
        if isinstance(node.value, str) and "{%" in node.value and "messages" in node.value
    }


def formatters() -> dict[str, str]:
    """The library's chat formats in Python: the format's name, the function that writes it."""
    found = {}
    for node in library_source().body:
        for decorator in getattr(node, "decorator_list", ()):
            if isinstance(decorator, ast.Call) and "register_chat_format" in ast.unparse(decorator):
                (name,) = decorator.args
                found[ast.literal_eval(name)] = str(getattr(node, "name", ""))
    return found


class _Written:
    """A chat format in Python, in the place of a compiled Jinja template."""

    def __init__(self, write: Callable[..., Any]) -> None:
        self._write = write

    def render(self, *, messages: list[dict[str, Any]], **_rest: object) -> str:
        return str(self._write(messages=messages).prompt)


def prompts_of_formatter(vocabulary: Vocabulary, write: Callable[..., Any]) -> PromptTokens:
    """Put a chat format in Python where a template in Jinja would stand."""
    prompts = PromptTokens(vocabulary, CHATML)
    template: Any = prompts._template
    template._template = _Written(write)
    template.arrangement = next(filter(template._shows_all, ARRANGEMENTS), ARRANGEMENTS[0])
    return prompts


CHATML = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def shows_all(prompts: PromptTokens) -> bool:
    """Whether there is a way to put an exchange to the template in which nothing is lost."""
    template: ChatTemplate = prompts._template
    return template._shows_all(template.arrangement)


def hostile(source: str, vocabulary: Vocabulary) -> str:
    """Text that holds the template's own marks, all special tokens, and pieces of both."""
    marks = dict.fromkeys((*_MARK.findall(source), *vocabulary.special_texts()))
    words = [mark for mark in marks if len(mark) > 2 and not mark.isspace()][:400]
    nested = [f"{word[:2]}{word}{word[2:]}" for word in words[:40]]
    return " ".join((*words, *nested, "".join(words[:40]), "{{ 7 * 7 }} {% raw %} \ue0000\ue001"))


def exchanges(text: str) -> Iterator[tuple[tuple[Message, ...], tuple[ToolSpec, ...]]]:
    """Conversations with ``text`` wherever it is not ours: user, document, tool, transcript."""
    system, asked = Message("system", "Be short."), Message("user", text)
    said = Message("assistant", text)
    call = Call("1.1", "search", {"query": text}, raw=text)
    both = (call, Call("1.2", text, {text: [text]}, raw=text))
    results = tuple(Message("tool", text, call_id=each.id, name=each.name) for each in both)
    proposed = Message("assistant", "", calls=(call,), generated=(7, 8))
    pair = Message("assistant", "", calls=both, generated=(7, 8))
    yield (system, asked), ()
    yield (system, asked, said, asked), ()
    yield (system, asked, proposed, results[0]), (SEARCH,)
    yield (system, asked, pair, *results), (SEARCH,)
    yield (system, asked, proposed, results[0], pair, *results), (SEARCH,)


def special_tokens(vocabulary: Vocabulary) -> set[int]:
    """The ids of the tokens that text must not become."""
    texts = [t for t in vocabulary.special_texts() if len(t) > 2 and not t.isspace()]
    found = (vocabulary.tokenize(text, special=True) for text in texts)
    return {tokens[0] for tokens in found if len(tokens) == 1}


def counts(prompts: PromptTokens, special: set[int], text: str) -> list[int]:
    """How many control tokens each of the `exchanges` has with ``text`` in it."""
    return [
        sum(token in special for token in prompts.of(_request(messages, tools)))
        for messages, tools in exchanges(text)
    ]


def _request(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> Request:
    return Request(messages, 1, StopFlag(), 0.0, tools=tools)
