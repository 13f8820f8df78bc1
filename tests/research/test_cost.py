"""Cost grows as the work grows, no faster: what the loop itself does in a round, counted.

What a round costs in tokens is counted in `test_hard_models`, what a real model processes again in
`tests/llm/test_local.py`.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import Script, ended, prompt_words
from scripted_research import QUESTION, Research, Weigher, call, outcome

from voice_agent.engine import StopFlag
from voice_agent.events import Event, Round, ToolResult
from voice_agent.llm.llama import open_vocabulary
from voice_agent.llm.model import Message, Request
from voice_agent.llm.prompt_tokens import PromptTokens
from voice_agent.llm.vocabulary import Vocabulary
from voice_agent.research.evidence import MAX_FINGERPRINTS, Novelty
from voice_agent.research.sufficiency import Sufficiency

ROUNDS = 60


class Counted:
    """A text's words, counted: the characters that the loop looked at, round by round."""

    def __init__(self) -> None:
        self.chars = 0
        self.rounds: list[int] = []

    def terms(self, text: str) -> list[str]:
        self.chars += len(text)
        return text.split()

    def on_event(self, event: Event) -> None:
        if isinstance(event, ToolResult):
            self.rounds.append(self.chars)
            self.chars = 0


def found(n: int) -> str:
    return f"how high boiler part {n:02} : " + " ".join(f"word{n:02}x{i:02}" for i in range(12))


def researching(counted: Counted, *, drafts: bool) -> Research:
    """Sixty rounds that each find something new; the drafts never tell what was asked."""
    rounds: list[Script] = []
    for n in range(ROUNDS):
        rounds += [[call(f"part {n}")], [QUESTION]] if drafts else [[call(f"part {n}")]]
    judge = Sufficiency(Weigher((), ended("end")), 0.66) if drafts else None
    last: list[Script] = [[]] if drafts else [["It is 1.5 bar."]]
    research = Research(*rounds, *last, sufficiency=judge, terms=counted.terms)
    research.emit = counted.on_event
    research.model.prompt_tokens_per_s = 60.0
    for n in range(ROUNDS):
        research.put(f"part {n}", found(n))
    return research


@pytest.mark.parametrize("drafts", [False, True])
async def test_what_the_loop_reads_in_a_round_does_not_grow(drafts: bool) -> None:
    counted = Counted()
    reply = await researching(counted, drafts=drafts).reply()
    assert reply.rounds == len(counted.rounds) == ROUNDS
    early, late = counted.rounds[5:15], counted.rounds[-10:]
    assert max(late) <= 1.2 * max(early)


async def test_a_prompt_is_never_processed_from_the_start_again() -> None:
    research = researching(Counted(), drafts=False)
    research.emit = research.events.append
    reply = await research.reply()
    assert outcome(reply) == ("complete", "none")
    first, *later = research.of(Round)
    assert first.reused_tokens == 0
    for before, after in zip([first, *later], later, strict=False):
        assert after.reused_tokens >= before.prompt_tokens - 1
    whole = len(prompt_words(research.model.requests[-1]))
    assert sum(r.prompt_tokens - r.reused_tokens for r in research.of(Round)) <= whole + 2 * ROUNDS


def test_fingerprints_stay_bounded() -> None:
    novelty = Novelty()
    for n in range(ROUNDS):
        novelty.add(" ".join(f"{n}x{i}" for i in range(1_000)))
    assert len(novelty) == MAX_FINGERPRINTS


@pytest.fixture(scope="module")
def vocabulary(models_dir: Path) -> Iterator[Vocabulary]:
    (file,) = (models_dir / "qwen2.5-coder-0.5b-instruct").glob("*.gguf")
    with open_vocabulary(file) as vocabulary:
        yield vocabulary


def test_what_is_tokenized_for_a_round_does_not_grow(vocabulary: Vocabulary) -> None:
    prompts = PromptTokens(vocabulary, vocabulary.metadata["tokenizer.chat_template"])
    counted = Counted()
    plain = vocabulary.tokenize

    def tokenize(text: str, *, special: bool) -> list[int]:
        counted.chars += len(text)
        return plain(text, special=special)

    vocabulary.tokenize = tokenize  # type: ignore[method-assign]  # counts, and goes on
    messages = [Message("system", "Be short."), Message("user", QUESTION)]
    for n in range(ROUNDS):
        messages.append(Message("assistant", "", calls=(call(f"{n}"),), generated=(n,)))
        messages.append(Message("tool", found(n), call_id=f"{n}", name="search"))
        prompts.of(Request(tuple(messages), 1, StopFlag(), 0.0))
        counted.on_event(ToolResult(id=f"{n}", status="ok", chars=0, new_evidence=0))
    assert max(counted.rounds[-10:]) <= 1.2 * max(counted.rounds[5:15])
