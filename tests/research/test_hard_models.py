"""Models that behave badly: each reply ends as research-loop.md says, within its budgets."""

from collections.abc import Sequence

from fakes import Script, ended
from scripted_research import Research, call, outcome

from voice_agent.events import AnswerText, Round, ToolCall
from voice_agent.llm.model import Piece
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


async def test_a_tool_that_fails_with_another_text_each_time_is_no_progress() -> None:
    research = Research(*[[call("broken")]] * 4)
    reply = await research.reply()
    assert outcome(reply) == ("forced", "nothing_found")
    assert len(research.of(ToolCall)) == 4


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
