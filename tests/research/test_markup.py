import itertools
import json
import os
import random

import pytest

from voice_agent.llm.model import Call, Reasoning, Text
from voice_agent.research.markup import MarkupParser, contains_markup, families

NAMES = ("search", "read_section", "now")
ARGS = {"query": "solar panels"}
JSON = '{"name": "search", "arguments": {"query": "solar panels"}}'
LLAMA = '{"name": "search", "parameters": {"query": "solar panels"}}'
INNER = '{"query": "solar panels"}'
PYTHON = "search(query='solar panels')"
XML = "<function=search>\n<parameter=query>\nsolar panels\n</parameter>\n</function>"
INVOKE = '<invoke name="search">\n<parameter name="query">solar panels</parameter>\n</invoke>'

ONE_CALL = {
    "hermes": f"<tool_call>\n{JSON}\n</tool_call>",
    "hermes ended": f"<tool_call>\n{JSON}\n</tool_call><|im_end|>",
    "hermes unclosed": f"<tool_call>\n{JSON}\n",
    "hermes extra brace": f"<tool_call>\n{JSON}}}\n</tool_call>",
    "hermes missing brace": f"<tool_call>\n{JSON[:-1]}\n</tool_call>",
    "single quotes": f"<tool_call>{JSON}</tool_call>".replace('"', "'"),
    "trailing commas": '<tool_call>{"name": "search", "arguments": {"query": "solar panels",},}'
    "</tool_call>",
    "arguments as text": '<tool_call>{"name": "search", "arguments": '
    '"{\\"query\\": \\"solar panels\\"}"}</tool_call>',
    "tools": f"<tools>{JSON}</tools>",
    "fence in tags": f"<tool_call>\n```json\n{JSON}\n```\n</tool_call>",
    "tags in fence": f"```xml\n<tool_call>\n{JSON}\n</tool_call>\n```",
    "qwen coder": f"<tool_call>\n{XML}\n</tool_call>",
    "qwen coder without wrapper": XML,
    "qwen coder unclosed": XML.replace("</function>", "</tool_call>"),
    "minicpm": '<function name="search"><param name="query">solar panels</param></function>',
    "minimax": f"<minimax:tool_call>\n{INVOKE}\n</minimax:tool_call>",
    "deepseek dsml": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="search">\n'
    '<｜DSML｜parameter name="query" string="true">solar panels</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    "muse": '<atem:function_calls><atem:invoke name="search"><atem:parameter name="query">'
    "solar panels</atem:parameter></atem:invoke></atem:function_calls>",
    "llama tag": f"<|python_tag|>{LLAMA}<|eom_id|>",
    "llama bare": LLAMA,
    "llama typed": LLAMA.replace("{", '{"type": "function", ', 1),
    "functionary": f"<function=search>{INNER}</function>",
    "functionary prompt": f">>>search\n{INNER}",
    "mistral": f"[TOOL_CALLS] [{JSON}]</s>",
    "mistral args": f"[TOOL_CALLS]search[ARGS]{INNER}",
    "mistral id": f"[TOOL_CALLS]search[CALL_ID]a1B2c3D4e[ARGS]{INNER}",
    "granite": f"<|tool_call|>[{JSON}]",
    "granite tags": f"<tool_call>[{JSON}]",
    "apriel": f"<tool_calls>[{JSON}]</tool_calls>",
    "gemma fence": f"```tool_code\n{PYTHON}\n```",
    "gemma print": f"```tool_code\nprint(default_api.{PYTHON})\n```",
    "gemma 4": '<|tool_call>call:search{query:<|"|>solar panels<|"|>}<tool_call|>',
    "function gemma": "<start_function_call>call:search{query:<escape>solar panels<escape>}"
    "<end_function_call>",
    "pythonic": f"[{PYTHON}]",
    "python fence": f"```python\nresult = {PYTHON}\n```",
    "lfm2": f"<|tool_call_start|>[{PYTHON}]<|tool_call_end|>",
    "olmo": f"<function_calls>{PYTHON}</function_calls>",
    "bare": JSON,
    "bare indented": json.dumps(json.loads(JSON), indent=2),
    "bare array": f"[{JSON}]",
    "fenced": f"```json\n{JSON}\n```",
    "fenced array": f"```json\n[{JSON}]\n```\n",
    "fenced unnamed": f"```\n{JSON}\n```",
    "fenced on one line": f"```json {JSON} ```",
    "function key": '{"function": "search", "arguments": {"query": "solar panels"}}',
    "nested": f'{{"type": "function", "function": {JSON}}}',
    "wrapped": f'{{"tool_calls": [{{"type": "function", "function": {JSON}}}]}}',
    "functools": f"functools[{JSON}]",
    "deepseek": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search\n"
    f"```json\n{INNER}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "deepseek 3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search<｜tool▁sep｜>"
    f"{INNER}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
    f"<|tool_call_argument_begin|>{INNER}<|tool_call_end|><|tool_calls_section_end|>",
    "glm": "<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>solar panels</arg_value>\n"
    "</tool_call>",
    "longcat": "<longcat_tool_call>search\n<longcat_arg_key>query</longcat_arg_key>\n"
    "<longcat_arg_value>solar panels</longcat_arg_value>\n</longcat_tool_call>",
    "cohere": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "search", "parameters": '
    f"{INNER}}}]<|END_ACTION|>",
    "solar": "<|tool_call:begin|>x1<|tool_call:name|>search<|tool_call:args|>"
    f"{INNER}<|tool_call:end|>",
    "apertus": f'<|tools_prefix|>[{{"search": {INNER}}}]<|tools_suffix|>',
    "gpt-oss": "<|channel|>commentary to=functions.search <|constrain|>json<|message|>"
    f"{INNER}<|call|>",
    "gpt-oss start": "<|start|>assistant to=functions.search<|channel|>commentary json<|message|>"
    f"{INNER}<|call|>",
}

PROBLEMS = {
    "cut in json": ('<tool_call>{"name": "search", "arguments": {"query": "sol', "cut off"),
    "cut in bare json": ('{"name": "search", "arguments": {"query": "sol', "cut off"),
    "cut in fence": ('```json\n{"name": "search", "arguments": {', "cut off"),
    "cut in parameter": ("<tool_call><function=search><parameter=query>sol", "cut off"),
    "cut in python": ("[search(query='sol", "cut off"),
    "cut in glm": ("<tool_call>search\n<arg_key>query</arg_key>\n<arg_value>sol", "cut off"),
    "cut in gemma": ('<|tool_call>call:search{query:<|"|>sol', "cut off"),
    "cut in mistral": ('[TOOL_CALLS]search[ARGS]{"query": "sol', "cut off"),
    "cut in gpt-oss": (
        '<|channel|>commentary to=functions.search<|message|>{"query": "sol',
        "cut off",
    ),
    "missing quote": ('<tool_call>{"name": "search", "arguments": {"q": x"}}</tool_call>', "JSON"),
    "unnamed argument": ("[search('solar')]", "name(argument='value')"),
    "no arguments": ('{"name": "search", "query": "solar"}', "missing"),
    "arguments a list": ('{"name": "search", "arguments": ["solar"]}', "must be a JSON object"),
    "tool described": (
        '{"name": "search", "parameters": {"type": "object", "properties": {}}}',
        "description",
    ),
}

PLAIN = (
    "a < b and b > c, so a <= c; x << 2",
    "[1] Smith, 2020.\n[2] Jones (2021).\n[see note] [a](http://x.example)",
    "[Smith (2020)] said so",
    "{x} and {y: 1} and {}",
    "f(x) = {x | x > 0} < [0, 1]",
    "  indented\n\n\n- [ ] todo\n- [x] done\n",
    'The answer:\n```json\n{"name": "Bob", "age": 3}\n```\nis short.',
    '{"name": "Bob", "age": 3}',
    '```json\n{"name": "Widget", "parameters": {"size": 3}}\n```',
    '```json\n[{"users": [\n{"name": "Bob"}]}]\n```\n',
    "```python\nx = [f(a) for a in b]\nprint(x)\n```\nDone.",
    '```python\ndef f():\n    return {"name": "search", "arguments": {}}\n```',
    "```bash\nls -l | grep `x`\n```",
    "``double`` and `single` and <b>bold</b> <t",
    ">>> print(1)\n1",
    'He said {"name": "Bob", "arguments": {}} once',
    "It has a func",
    "ends with [",
    "ends with `",
    "€ 5 < 6 … naïve",
)

MIXED = {
    "text before": (f"Let me look.\n<tool_call>{JSON}</tool_call>\n", ["Let me look.\n", "search"]),
    "text around": (f"Look.\n{JSON}\nDone.", ["Look.\n", "search", "Done."]),
    "text after unclosed": (f"<tool_call>{JSON}\nI wait.", ["search", "I wait."]),
    "several": (f"<tool_call>{JSON}</tool_call>\n" * 3, ["search"] * 3),
    "twelve": (f"{JSON}\n" * 12, ["search"] * 12),
    "next opening closes": (f"<tool_call>{JSON}\n<tool_call>{JSON}", ["search"] * 2),
    "several in one block": (f"<tool_call>{JSON}\n{JSON}</tool_call>", ["search"] * 2),
    "several in a fence": (f"```json\n{JSON}\n{JSON}\n```\nOK", ["search", "search", "OK"]),
    "two fences": (f"```json\n{JSON}\n```\n```json\n{JSON}\n```", ["search"] * 2),
    "python lines": (f"```tool_code\n{PYTHON}\nnow()\n```", ["search", "now"]),
    "python list": (f"[{PYTHON}, now()]", ["search", "now"]),
    "mistral row": (f"[TOOL_CALLS]search{INNER}[TOOL_CALLS]now{{}}", ["search", "now"]),
    "semicolons": (f"<|python_tag|>{LLAMA}; {LLAMA}", ["search"] * 2),
    "known name inside a line": (f"I call {JSON} now", ["I call ", "search", "now"]),
    "known name cut off": ('{"name": "sear', ["sear"]),
    "fence inside a line": (f"So: ```json\n{JSON}\n```", ["So: ", "search"]),
    "opening tag missing": (f"{JSON}\n</tool_call>", ["search"]),
    "unknown tool": ('{"name": "fly", "arguments": {}}', ["fly"]),
    "unknown tool in a fence": ('```json\n{"name": "fly", "arguments": {}}\n```', ["fly"]),
    "malformed then text": ('{"name": "search", "arguments": <b>x</b>', ["search", "<b>x</b>"]),
    "response swallowed": ("<tool_response>\n42\n</tool_response>\nIt is 42.", ["It is 42."]),
    "stray closer": ("Hello</tool_call> there<|im_end|>", ["Hello there"]),
    "think": ("<think>\nhm </think>\n\nHello", ["~hm ", "Hello"]),
    "empty think": ("<think>\n\n</think>\n\nHello", ["Hello"]),
    "thinking": ("<thinking>hm</thinking>Hello", ["~hm", "Hello"]),
    "mistral think": ("[THINK]hm[/THINK]Hello", ["~hm", "Hello"]),
    "cohere think": (
        "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Hello<|END_RESPONSE|>",
        ["~hm", "Hello"],
    ),
    "gemma channel": ("<|channel>hm<channel|>Hello", ["~hm", "Hello"]),
    "never closed": ("<think>hm a < b", ["~hm a < b"]),
    "call after think": (f"<think>hm</think>[{JSON}]", ["~hm", "search"]),
    "call in think": (f"<think><tool_call>{JSON}</think>Hi", [f"~<tool_call>{JSON}", "Hi"]),
    "think in call": (f"<tool_call><think>hm</think>{JSON}</tool_call>", ["~hm", "search"]),
    "gpt-oss": (
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi"
        "<|return|>",
        ["~hm", "Hi"],
    ),
    "first key cut": ('Hello\n{"na', ["Hello\n"]),
    "first key cut in a list": ('[{"argum', []),
    "first key cut in a fence": ('```json\n{"name', []),
    "before the name cut": ('{"name": "', []),
    "inside a line cut": ('I call {"name": "search", "argu', ["I call "]),
    "another key cut": ('{"colo', ['{"colo']),
    "another name cut": ('{"name": "Ada", "born', ['{"name": "Ada", "born']),
    "marker cut": ("Hello\n<tool_ca", ["Hello\n"]),
    "white space only": (" \n ", []),
    "functionary to all": (">>>all\nHello", ["Hello"]),
}

EVERY = [*ONE_CALL.values(), *PLAIN, *(raw for raw, _ in (*PROBLEMS.values(), *MIXED.values()))]


def parse(pieces, **options):
    """All items, neighbouring texts joined."""
    parser = MarkupParser(NAMES, **options)
    items = [item for piece in pieces for item in parser.feed(piece)] + parser.flush()
    joined = []
    for kind, group in itertools.groupby(items, type):
        run = list(group)
        joined += run if kind is Call else [kind("".join(item.text for item in run))]
    return joined


def brief(items):
    """Calls by name, texts as they are, reasoning after a tilde."""
    marks = {Text: "", Reasoning: "~"}
    return [i.name if isinstance(i, Call) else marks[type(i)] + i.text for i in items]


@pytest.mark.parametrize("raw", ONE_CALL.values(), ids=ONE_CALL)
def test_every_family_gives_its_call_and_no_text(raw):
    (call,) = parse([raw])
    assert (call.id, call.name, call.arguments, call.problem) == ("call_1", "search", ARGS, "")


@pytest.mark.parametrize(("raw", "problem"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_call_that_cannot_be_read_says_why(raw, problem):
    (call,) = parse([raw])
    assert (call.name, call.arguments) == ("search", None)
    assert problem in call.problem


@pytest.mark.parametrize("raw", PLAIN)
def test_ordinary_text_comes_through_unharmed(raw):
    assert parse([raw]) == [Text(raw)]


@pytest.mark.parametrize(("raw", "expected"), MIXED.values(), ids=MIXED)
def test_text_reasoning_and_calls_are_told_apart(raw, expected):
    assert brief(parse([raw])) == expected


@pytest.mark.parametrize("raw", EVERY)
def test_where_the_pieces_are_cut_changes_nothing(raw):
    whole = parse([raw])
    assert parse(raw) == whole
    for cut in range(1, len(raw)):
        assert parse([raw[:cut], raw[cut:]]) == whole


@pytest.mark.parametrize("raw", PLAIN[:6])
def test_what_is_certain_goes_out_at_once(raw):
    parser = MarkupParser(NAMES)
    shown = ""
    for index, char in enumerate(raw):
        shown += "".join(item.text for item in parser.feed(char))
        assert index + 1 - len(shown) <= 8


def test_reasoning_opened_by_the_prompt_ends_at_its_closing_tag():
    items = parse(["hm</think>\nHello"], reasoning_open=True)
    assert items == [Reasoning("hm"), Text("Hello")]


def test_calls_are_numbered():
    assert [call.id for call in parse([f"{JSON}\n{JSON}"])] == ["call_1", "call_2"]


def test_raw_is_the_call_as_written():
    assert parse([f"<tool_call>\n{JSON}\n</tool_call>"])[0].raw == JSON


def test_values_between_tags_are_read_as_data_where_they_are():
    raw = (
        "<function=search><parameter=query>7 days</parameter><parameter=k>3</parameter></function>"
    )
    assert parse([raw])[0].arguments == {"query": "7 days", "k": 3}


def test_a_fence_in_an_argument_is_kept():
    arguments = {"query": "```sh\nls\n``` it's \\d"}
    raw = f"[TOOL_CALLS]search[ARGS]{json.dumps(arguments)}"
    assert parse([raw])[0].arguments == arguments


def test_no_marker_holds_another():
    pairs = ((a, b) for a in families.MARKERS for b in families.MARKERS if a != b)
    assert [pair for pair in pairs if pair[0] in pair[1]] == []


def test_deep_nesting_is_refused():
    (call,) = parse(["<tool_call>" + "[" * 500 + "]" * 500 + "</tool_call>"])
    assert "nested too deeply" in call.problem


def test_contains_markup():
    assert contains_markup("so </think> it is")
    assert contains_markup(JSON, NAMES)
    assert not contains_markup("a < b [1] {x}", NAMES)


def junk(seed):
    source = random.Random(seed)
    parts = (
        *families.MARKERS,
        *EVERY,
        *"{}[]()<>\"'\\`\n ,:=ab1",
        "```",
        "```json\n",
        '{"name": "',
    )
    chosen = [source.choice(parts) for _ in range(source.randrange(1, 30))]
    return "".join(part[source.randrange(3) // 2 :] for part in chosen)


def test_junk_never_raises_never_leaks_and_is_cut_anywhere():
    for seed in range(int(os.environ.get("FUZZ_INPUTS", "200"))):
        raw = junk(seed)
        parser = MarkupParser(NAMES)
        items = parser.feed(raw) + parser.flush()
        texts = [item.text for item in items if isinstance(item, Text)]
        assert [text for text in texts if families.has_marker(text)] == [], raw
        assert parse(raw) == parse([raw]), raw


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "{",
        "[",
        "<",
        "`",
        " ",
        '"',
        '\\"',
        "<think>",
        "<tool_call>",
        "[a(",
        '{"name":',
        "<arg_key>",
    ],
)
def test_long_replies_are_parsed_in_linear_work(unit):
    raw = unit * (100_000 // len(unit))
    for start in ("", "<tool_call>"):
        assert parse(start + raw) == parse([start + raw])
