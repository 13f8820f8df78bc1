"""The markers that model families put around tool calls and reasoning, as data.

Sources: the chat templates and output tests of llama.cpp, and the call parsers of ollama and vLLM.
A new family is a new row of `BLOCKS`; its body is read by what it looks like (see `calls`).
"""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["call", "drop", "header", "reasoning"]

ENDS = (
    "<|im_end|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|END_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<turn|>",
    "</s>",
)
"""Ends of a turn: they close whatever is open."""


@dataclass(frozen=True)
class Block:
    """A stretch of markup: what opens it, what closes it (besides `ENDS`), and what it holds.

    ``keep`` says that the opening marker is part of the body, as in ``<function=NAME>``.
    """

    kind: Kind
    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    keep: bool = False


def _tags(*names: str) -> tuple[Block, ...]:
    return tuple(Block("call", (f"<{name}>",), (f"</{name}>",)) for name in names)


BLOCKS = (
    # Hermes, Qwen, GLM, Seed, LongCat, MiniMax, Apriel, Olmo, DeepSeek 3.2, Muse, Nemotron
    *_tags("tool_call", "tool_calls", "tools", "function_call", "function_calls", "TOOLCALL"),
    *_tags("seed:tool_call", "longcat_tool_call", "minimax:tool_call", "atem:function_calls"),
    *_tags("｜DSML｜function_calls", "｜DSML｜tool_calls"),
    # Qwen3-Coder, functionary 3.1, MiniCPM
    Block("call", ("<function=", "<function name="), ("</function>", "</tool_call>"), keep=True),
    Block("call", ("<invoke name=",), ("</invoke>",), keep=True),
    Block("call", ("<atem:invoke name=",), ("</atem:invoke>",), keep=True),
    Block("call", ("<｜DSML｜invoke name=",), ("</｜DSML｜invoke>",), keep=True),
    Block("call", ("<|python_tag|>",)),  # Llama 3.1 and later
    Block("call", ("[TOOL_CALLS]",)),  # Mistral
    Block("call", ("<|tool_call|>",), ("<|/tool_call|>",)),  # Granite 3, Phi 4
    Block("call", ("<|tool_call>",), ("<tool_call|>",)),  # Gemma 4
    Block("call", ("<start_function_call>",), ("<end_function_call>",)),  # FunctionGemma
    Block("call", ("<|tool_call_start|>",), ("<|tool_call_end|>",)),  # LFM2
    Block("call", ("<|tool_call_begin|>",), ("<|tool_call_end|>",)),  # Kimi K2
    Block("call", ("<｜tool▁call▁begin｜>",), ("<｜tool▁call▁end｜>",)),  # DeepSeek R1, V3
    Block("call", ("<|START_ACTION|>",), ("<|END_ACTION|>",)),  # Cohere
    Block("call", ("<|tool_call:begin|>",), ("<|tool_call:end|>",)),  # Solar
    Block("call", ("<|tools_prefix|>",), ("<|tools_suffix|>",)),  # Apertus
    Block("call", ("functools[",), keep=True),  # Phi-4-mini, firefunction
    Block("drop", ("<tool_response>",), ("</tool_response>",)),
    Block("drop", ("<|tool_response>",), ("<tool_response|>",)),
    Block("drop", ("<start_function_response>",), ("<end_function_response>",)),
    Block("drop", ("[TOOL_RESULTS]",), ("[/TOOL_RESULTS]",)),
    Block("drop", ("<|start_header_id|>",), ("<|end_header_id|>",)),
    Block("header", ("<|start|>", "<|channel|>"), ("<|message|>",)),  # gpt-oss
    Block("reasoning", ("<think>",), ("</think>",)),
    Block("reasoning", ("<thinking>",), ("</thinking>",)),
    Block("reasoning", ("<mm:think>",), ("</mm:think>",)),
    Block("reasoning", ("<seed:think>",), ("</seed:think>",)),
    Block("reasoning", ("[THINK]",), ("[/THINK]",)),
    Block("reasoning", ("<|START_THINKING|>",), ("<|END_THINKING|>",)),
    Block("reasoning", ("<|channel>",), ("<channel|>",)),  # Gemma 4
)

SILENT = (
    "<|im_start|>",
    "<|constrain|>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_calls:begin|>",
    "<|tool_calls:end|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<|tool_call_argument_begin|>",
    "<|tool_call:name|>",
    "<|tool_call:args|>",
    "<｜tool▁sep｜>",
    "[CALL_ID]",
    "[ARGS]",
)
"""Markers that hold nothing of their own: they are dropped outside calls."""

FENCE = "```"
PROMPT = ">>>"  # functionary 3.2
HEADER_CALL = Block("call", (), ("<|start|>", "<|channel|>"))
"""The call that a gpt-oss header announces."""
FENCED = Block("call", (), (FENCE,))
PROMPTED = Block("call", (PROMPT,))

OPENERS = {mark: block for block in BLOCKS for mark in block.opens}
CLOSERS = frozenset(mark for block in BLOCKS for mark in block.closes) | frozenset(ENDS)
REASONING_CLOSERS = frozenset(ENDS).union(*(b.closes for b in BLOCKS if b.kind == "reasoning"))
MARKERS = tuple(sorted({*OPENERS, *CLOSERS, *SILENT}))
"""Every marker that is never shown. None of them holds another."""

_LITERALS = (*MARKERS, FENCE, PROMPT)
_PARTS = frozenset(mark[:end] for mark in _LITERALS for end in range(1, len(mark)))
_LONGEST = max(map(len, _LITERALS)) - 1

MARK = re.compile("|".join(map(re.escape, _LITERALS)))
"""Any marker, fence or prompt."""
MARK_OR_VALUE = re.compile(MARK.pattern + r"|[{\[]")
"""The same, and what may begin a bare call."""
_SHOWN_NEVER = re.compile("|".join(map(re.escape, MARKERS)))


def scrub(text: str) -> str:
    """Take the markers out of text that turned out to be no call."""
    return _SHOWN_NEVER.sub(" ", text)


def has_marker(text: str) -> bool:
    """Whether ``text`` holds a marker that is never shown."""
    return _SHOWN_NEVER.search(text) is not None


def may_become_marker(data: str, start: int) -> bool:
    """Whether all of ``data`` from ``start`` is the beginning of a marker."""
    return data[start : start + _LONGEST + 1] in _PARTS


def find(pattern: re.Pattern[str], data: str, start: int) -> tuple[re.Match[str] | None, int]:
    """Find the next marker that is certain, and where the text before it ends.

    Without a marker, the text ends before what could still become one when more text comes.
    """
    mark = pattern.search(data, start)
    if mark is not None and mark.start() < len(data) - _LONGEST:
        return mark, mark.start()
    held = _held_from(data, start)
    if mark is not None and mark.start() < held:
        return mark, mark.start()
    return None, held


def _held_from(data: str, start: int) -> int:
    for index in range(max(start, len(data) - _LONGEST), len(data)):
        if data[index:] in _PARTS:
            return index
    return len(data)
