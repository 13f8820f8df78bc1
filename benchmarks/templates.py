"""Chat templates of many models: what they show, what they keep, and foreign text in them.

    python benchmarks/templates.py --source DIR [--vocabularies llama-bpe,gemma-4]

DIR is the unpacked source of llama-cpp-python: its llama.cpp carries the chat templates of some
seventy models (`*.jinja`) and vocabularies of others (`ggml-vocab-*.gguf`). Each template is tried
with each vocabulary. A line a template: the way in which an exchange is put to it, how much of the
prompt of one round is kept in the next one's, and control tokens in five exchanges with harmless
text and with text that imitates all control tokens of the template and the vocabulary.
Vocabularies of BERT are left out: such models write nothing.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from voice_agent.engine import StopFlag
from voice_agent.errors import ModelError
from voice_agent.llm.llama import open_vocabulary
from voice_agent.llm.model import Request
from voice_agent.llm.prefix import reusable
from voice_agent.llm.prompt_tokens import PromptTokens
from voice_agent.llm.vocabulary import Vocabulary

TESTS = Path(__file__).resolve().parent.parent / "tests"


def main(argv: Sequence[str]) -> int:
    """Print the table; 0 if foreign text never became a control token and nothing was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, metavar="DIR")
    parser.add_argument("--vocabularies", default="", metavar="NAME,NAME", help="some of them")
    args = parser.parse_args(argv)
    sys.path.insert(0, str(TESTS))  # the exchanges are those of the tests
    from template_matrix import special_tokens

    templates = sorted(args.source.rglob("*.jinja"))
    files = [f for f in sorted(args.source.rglob("ggml-vocab-*.gguf")) if "bert" not in f.name]
    if args.vocabularies:
        wanted = args.vocabularies.split(",")
        files = [file for file in files if file.stem.removeprefix("ggml-vocab-") in wanted]
    if not templates or not files:
        sys.stderr.write(f"There are no chat templates and vocabularies in {args.source}.\n")
        return 2
    print(f"{len(templates)} templates, {len(files)} vocabularies")
    print("| template | way | kept | control tokens, harmless / hostile |")
    print("| --- | --- | --- | --- |")
    faults = 0
    with ExitStack() as stack:
        opened = [stack.enter_context(open_vocabulary(file)) for file in files]
        vocabularies = [(vocabulary, special_tokens(vocabulary)) for vocabulary in opened]
        for template in templates:
            row, wrong = _row(template, vocabularies)
            faults += wrong
            print(f"| {template.stem} | {row} |", flush=True)
    print(f"\n{len(templates) - faults} of {len(templates)} as they should be.")
    return 1 if faults else 0


def _row(template: Path, vocabularies: Sequence[tuple[Vocabulary, set[int]]]) -> tuple[str, bool]:
    """Return the cells of a template's row, and whether anything in it is wrong."""
    from template_matrix import HARMLESS, counts, hostile, shows_all

    source = template.read_text()
    plain = foreign = 0
    kept = 1.0
    try:
        for vocabulary, special in vocabularies:
            prompts = PromptTokens(vocabulary, source)
            plain += sum(counts(prompts, special, HARMLESS))
            foreign += sum(counts(prompts, special, hostile(source, vocabulary)))
            kept = min(kept, _kept(prompts))
    except ModelError as error:
        return f"refuses: {error.message} | | ", True
    way = [name.replace("_", " ") for name, set_ in vars(prompts.arrangement).items() if set_]
    if not shows_all(prompts):
        way.append("LOSES SOMETHING")
    wrong = plain != foreign or not shows_all(prompts)
    return f"{', '.join(way)} | {kept:.0%} | {plain} / {foreign}", wrong


def _kept(prompts: PromptTokens) -> float:
    """The share of one round's prompt that the next round's begins with."""
    from template_matrix import exchanges

    after = [
        prompts.of(Request(messages, 1, StopFlag(), 0.0, tools=tools))
        for messages, tools in exchanges("A boiler is serviced once a year. " * 20)
        if tools
    ]
    first, last = after[0], after[-1]
    return reusable(first, last) / len(first)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
