"""Models that behave badly: each reply ends as research-loop.md says, within its budgets.

Seven of them: one that repeats itself forever, one that alternates two queries, one whose tool
fails with a new text each time, one that writes forever, one that calls tools in the final turn,
one that streams nothing, one that never stops.
"""

import itertools
from collections.abc import Sequence

import pytest
from fakes import Script, ended
from scripted_research import Research, call, outcome

from voice_agent.events import AnswerText, Round, ToolCall
from voice_agent.llm.model import Piece
from voice_agent.phrases import phrase
from voice_agent.research.markup import MarkupParser

ONE = '{"name": "search", "arguments": {"query": "boiler"}}\n'


def parsed(text: str) -> Sequence[Piece]:
    """What the real parser makes of a reply that is ``text``."""
    parser = MarkupParser(["search", "note"])
    return [*parser.feed(text), *parser.flush()]


async def test_twelve_copies_of_a_call_and_a_cut_one_run_once_and_say_nothing() -> None:
    copies: Script = [*parsed(ONE * 12 + ONE[:30]), ended("length")]
    research = Research(copies, ["It is 1.5 bar."])
    reply = await research.reply()
    assert (research.search.asked, reply.rounds) == (["boiler"], 1)
    assert research.statuses[:12] == ["ok"] + ["duplicate"] * 11
    assert set(research.statuses[12:]) <= {"error"}
    assert "".join(event.text for event in research.of(AnswerText)).strip() == "It is 1.5 bar."


async def test_a_model_that_repeats_itself_forever_is_ended() -> None:
    research = Research(["the pressure is high, "] * 500)
    reply = await research.reply()
    assert reply.ending.basis == "complete" and len(reply.ending.text) < 300


async def test_a_model_that_searches_the_same_forever_ends_without_progress() -> None:
    research = Research(*[[call("boiler")]] * 5, ["It is 1.5 bar."])
    assert outcome(await research.reply()) == ("forced", "no_progress")


@pytest.mark.parametrize("patience", [2, 4, 20])
async def test_a_model_that_alternates_two_queries_ends_without_progress(patience: int) -> None:
    research = Research(no_progress_rounds=patience)
    cycle = itertools.cycle([[call("boiler")], [call("tyres")]])
    research.model.replies = [*itertools.islice(cycle, 2 + patience), ["It is 1.5 bar."]]
    reply = await research.reply()
    assert (outcome(reply), reply.rounds) == (("forced", "no_progress"), 2 + patience)


async def test_a_tool_that_fails_with_another_text_each_time_is_no_progress() -> None:
    research = Research(*[[call("broken")]] * 4)
    reply = await research.reply()
    assert outcome(reply) == ("forced", "nothing_found")
    assert len(research.of(ToolCall)) == 4


async def test_a_model_that_writes_forever_ends_with_its_tokens() -> None:
    writes: list[Script] = [[call(f"milk {n}", "note")] for n in range(200)]
    research = Research(*writes, token_budget=1_500)
    reply = await research.reply()
    assert outcome(reply)[1] == "tokens"
    assert 0 < reply.charged_tokens <= 1_500
    assert len(research.note.asked) == reply.rounds > 20
    assert research.model.requests[-1].tools == ()


async def test_a_model_that_calls_tools_in_the_final_turn_gets_none() -> None:
    research = Research([call("boiler")], [call("tyres"), call("milk", "note")], max_steps=2)
    reply = await research.reply()
    assert outcome(reply) == ("fallback", "steps")
    assert (research.search.asked, research.note.asked) == (["boiler"], [])


async def test_a_model_that_never_stops_is_cut_by_its_allowance() -> None:
    endless: Script = [*(f"word{n} " for n in range(64)), ended("length", output=64)]
    research = Research([call("boiler")], endless)
    reply = await research.reply()
    assert outcome(reply) == ("complete", "none")
    assert reply.ending.text.endswith(phrase("incomplete", "en"))


async def test_a_model_that_never_stops_in_the_final_turn_is_cut_by_its_deadline() -> None:
    research = Research([call("boiler")], max_steps=2)
    endless: Script = ["It is ", research.clock.passing(120), "very ", ended("deadline")]
    research.model.replies.append(endless)
    reply = await research.reply()
    assert outcome(reply) == ("forced", "steps")
    assert reply.ending.text.endswith(phrase("incomplete", "en"))
    assert len(research.model.requests) == 2  # and is never started again


async def test_a_model_that_streams_nothing_still_gives_an_answer() -> None:
    research = Research([call("boiler")], [], [])
    reply = await research.reply()
    assert reply.ending.basis == "fallback" and "1.5 bar" in reply.ending.text


async def test_the_cost_of_a_round_does_not_grow_with_their_number() -> None:
    rounds = [[call(f"part {n}")] for n in range(60)]
    research = Research(*rounds, ["It is 1.5 bar."])
    for n in range(60):
        research.put(f"part {n}", " ".join(f"word{n}x{i}" for i in range(12)))
    reply = await research.reply()
    charged = [event.charged for event in research.of(Round)]
    assert (outcome(reply), reply.rounds) == (("complete", "none"), 60)
    assert max(charged[1:]) < 2 * min(charged[1:-1])
