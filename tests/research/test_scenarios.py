"""Hard cases for the loop as a whole, and where each of them is tested.

1. A finale worth hearing under slow prompt processing: here.
2. Twelve copies of a call and a cut one: `test_hard_models`.
3. The zoo of final turns: `test_final_turns`.
4. Chat templates: `tests/llm/test_template_matrix.py`, and seventy more with
   `benchmarks/templates.py`.
5. Injection by tokens and by quoted calls: `tests/llm/test_template_matrix.py`, `test_writes`,
   `test_provenance`, `test_poisoned_documents`.
6. Cancelling at any point: `test_cancelling`; with a real model `test_loop_real`,
   `tests/llm/test_local.py`.
7. Accounting of prefixes: `tests/llm/test_local.py`, `tests/llm/test_prefix.py`, `test_budget`,
   `test_section_workers_real`; here what no prompt may begin with.
8. Asking the user: `test_writes`, `tests/test_asking_aloud.py`; here clocks.
9. Read, write, read, and a killed program: `tests/ledger/test_ledger_writes.py`.
"""

import inspect
import re
import time

import pytest
from fakes import ended
from scripted_research import FACTS, QUESTION, Research, asking_back, call, outcome

from voice_agent.llm.model import Message, Request, Role
from voice_agent.phrases import phrase
from voice_agent.research import prompts
from voice_agent.research.asking import Asking
from voice_agent.research.loop import ResearchLoop

SLOW_TOKENS_PER_S = 60.0
CHARS_PER_TOKEN = 4
LAST = "a sofa in our living room, where cats like to sleep"
FIRST = "winter tyres of our car lie in a garage"


def slow(*, fact: bool) -> Research:
    """Five rounds on a slow machine with a full context; the fact, if any, comes in the second."""
    queries = ("tyres", "boiler" if fact else "cats", "sofa", "sofa", "sofa")
    research = Research(*[[call(query)] for query in queries], no_progress_rounds=2)
    research.put("sofa", f"{LAST} " * 40)
    research.put("tyres", f"{FIRST} " * 40)
    research.model.prompt_tokens_per_s = SLOW_TOKENS_PER_S
    research.model.replies.append(["It is 1.5 bar."])
    return research


def seconds_to_first_word(request: Request) -> float:
    chars = sum(len(message.content) for message in request.messages)
    return chars / CHARS_PER_TOKEN / SLOW_TOKENS_PER_S


async def test_a_finale_under_slow_processing_holds_the_fact_and_not_the_last_distractor() -> None:
    research = slow(fact=True)
    reply = await research.reply()
    final = research.model.requests[-1]
    assert outcome(reply) == ("forced", "no_progress")
    assert FACTS["boiler"] in final.messages[-1].content
    assert LAST not in final.messages[-1].content
    assert seconds_to_first_word(final) < 10


async def test_so_it_does_with_a_long_conversation_before_it() -> None:
    research = slow(fact=True)
    roles: tuple[Role, ...] = ("user", "assistant") * 3
    research.history = tuple(Message(role, "word " * 110) for role in roles)
    await research.reply()
    final = research.model.requests[-1]
    assert FACTS["boiler"] in final.messages[-1].content
    assert seconds_to_first_word(final) < 10


async def test_without_evidence_the_program_says_that_nothing_was_found() -> None:
    research = slow(fact=False)
    reply = await research.reply()
    assert outcome(reply) == ("forced", "nothing_found")
    assert phrase("nothing_found", "en") in reply.ending.text


async def test_the_next_question_finds_the_processed_beginning_as_it_was() -> None:
    research = slow(fact=True)
    await research.reply()
    research.model.replies.append(["Yes."])
    size = await research.model.measure(research.model.requests[0])
    assert size.new_tokens <= 1 + len(QUESTION.split())


def test_no_prompt_begins_with_what_changes_by_itself() -> None:
    """A date or a number would cost the whole processed prefix at midnight, or sooner."""
    assert not re.search(r"\d", prompts.system_prompt())
    assert prompts.system_prompt().startswith(prompts.PERSONA)


async def test_a_refund_larger_than_what_is_left_is_no_fault() -> None:
    research = Research([call("boiler"), ended("end", evaluated=1, output=1)], token_budget=200)
    research.model.replies.append(["Yes.", ended("end", evaluated=1, output=1)])
    reply = await research.reply()
    assert (outcome(reply), reply.charged_tokens) == (("complete", "none"), 4)


def test_time_is_counted_on_a_clock_that_nobody_sets() -> None:
    """Neither a changed wall clock nor a suspended machine spends research time."""
    clock = inspect.signature(ResearchLoop).parameters["clock"].default
    assert clock is time.monotonic
    assert not time.get_clock_info("monotonic").adjustable


async def test_the_clock_may_jump_while_the_user_is_asked() -> None:
    research = Research([asking_back("Which?")], ["1.5 bar."], timeout_s=10)
    research.asker.meanwhile = research.clock.passing(86_400)
    assert outcome(await research.reply()) == ("complete", "none")


@pytest.mark.parametrize("said", ["I don't know.", "What is the weather like?"])
async def test_any_answer_of_the_user_is_passed_on_as_it_was_said(said: str) -> None:
    research = Research([asking_back("Which?")], ["1.5 bar."])
    research.asker.answers = [said]
    await research.reply()
    assert research.model.requests[1].messages[-1].content == said


async def test_six_questions_in_a_row_end_in_an_answer() -> None:
    questions = [asking_back(f"Which of {n}?") for n in range(6)]
    research = Research(*[[question] for question in questions], ["1.5 bar."])
    assert outcome(await research.reply())[0] in ("complete", "forced")
    assert len(research.asker.asked) == 3


async def test_the_time_of_waiting_is_counted_also_where_the_asker_fails() -> None:
    research = Research()

    async def broken(question: str, kind: str) -> str:
        research.clock.now_s += 7
        raise OSError("no microphone")

    research.asker.ask = broken  # type: ignore[method-assign]  # an asker that breaks
    asking = Asking(research.asker, research.clock)
    with pytest.raises(OSError, match="no microphone"):
        await asking.ask("Which?", "question")
    assert asking.waited_s == 7
