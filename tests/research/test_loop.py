"""The research loop, rule by rule: research-loop.md, "Budgets" to "Ending"."""

import pytest
from fakes import Script, doing, ended
from scripted_research import FACTS, QUESTION, Research, call, outcome

from voice_agent.errors import Cancelled, ModelError
from voice_agent.events import AnswerText, Finishing, Round, ToolCall, ToolResult, name_of
from voice_agent.llm.model import Call, Finished, Message, Reasoning, Text
from voice_agent.phrases import phrase


async def test_an_answer_without_calls_is_the_answer_at_once() -> None:
    research = Research(["It is ", "1.5 bar."])
    reply = await research.reply()
    assert (reply.ending.text, outcome(reply)) == ("It is 1.5 bar.", ("complete", "none"))
    assert (reply.rounds, len(research.model.requests)) == (0, 1)


async def test_a_found_fact_is_answered_with_its_source() -> None:
    research = Research([call("boiler")], ["It is 1.5 bar."])
    reply = await research.reply()
    assert ([s.path for s in reply.sources], reply.rounds) == (["boiler.md"], 1)
    assert FACTS["boiler"] in research.model.requests[1].messages[-1].content


async def test_events_come_in_the_order_in_which_things_happen() -> None:
    research = Research([call("boiler")], ["It is 1.5 bar."], prefetch="search")
    await research.reply()
    assert [name_of(event) for event in research.events] == [
        *("tool_call", "tool_result", "round"),
        *("round", "tool_call", "tool_result"),
        *("answer_text", "round"),
    ]
    assert {event.turn for event in research.events} == {7}
    assert [event.n for event in research.of(Round)] == [0, 1, 2]


async def test_prefetch_is_no_round_no_step_and_no_lack_of_progress() -> None:
    research = Research(["Yes."], prefetch="search", max_steps=2)
    reply = await research.reply()
    assert (research.search.asked, reply.rounds) == ([QUESTION], 0)
    assert outcome(reply) == ("complete", "none")


async def test_the_time_that_prefetch_takes_counts() -> None:
    research = Research(["1.5 bar."], prefetch="search", timeout_s=10)
    research.search.meanwhile = research.clock.passing(11)
    assert outcome(await research.reply()) == ("forced", "time")


async def test_what_prefetch_found_is_evidence() -> None:
    reply = await Research([], ["It is 1.5 bar."], prefetch="search").reply()
    assert outcome(reply) == ("forced", "empty_answer")


async def test_one_round_may_hold_several_calls() -> None:
    research = Research([call("boiler", id="a"), call("tyres", id="b")], ["Yes."])
    reply = await research.reply()
    assert (reply.rounds, research.search.asked) == (1, ["boiler", "tyres"])
    ids = [event.id for event in research.of(ToolCall)]
    assert ids == [event.id for event in research.of(ToolResult)]
    assert len(set(ids)) == 2


async def test_a_call_that_stands_twice_in_a_batch_runs_once() -> None:
    research = Research([call("boiler", id="a"), call("boiler", id="b")], ["Yes."])
    await research.reply()
    assert (research.search.asked, research.statuses) == (["boiler"], ["ok", "duplicate"])


async def test_a_write_that_stands_twice_is_not_left_out() -> None:
    research = Research([call("milk", "note"), call("milk", "note")], ["Done."])
    await research.reply()
    assert research.note.asked == ["milk", "milk"]


async def test_a_round_without_new_evidence_ends_research() -> None:
    research = Research(*[[call("boiler")]] * 3, ["1.5 bar."], no_progress_rounds=2)
    assert outcome(await research.reply()) == ("forced", "no_progress")
    assert len(research.model.requests) == 4


async def test_alternating_searches_are_no_progress() -> None:
    cycle = [[call(query)] for query in ("boiler", "tyres", "boiler", "tyres")]
    research = Research(*cycle, ["1.5 bar."], no_progress_rounds=2)
    assert outcome(await research.reply()) == ("forced", "no_progress")


async def test_other_words_that_find_the_same_are_no_progress() -> None:
    queries = ("boiler", "pressure", "bar")
    research = Research(*[[call(q)] for q in queries], ["1.5 bar."], no_progress_rounds=2)
    for query in queries:
        research.put(query, FACTS["boiler"])
        research.search.documents[query] = "manual"
    assert outcome(await research.reply()) == ("forced", "no_progress")


async def test_a_changed_number_is_no_progress() -> None:
    queries = [f"reading {n}" for n in range(3)]
    research = Research(*[[call(q)] for q in queries], ["1.5 bar."], no_progress_rounds=2)
    for n, query in enumerate(queries):
        research.put(query, f"{FACTS['boiler']} number {n}")
    research.search.finds = False
    assert outcome(await research.reply()) == ("forced", "no_progress")


@pytest.mark.parametrize("query", ["nothing there", "broken"])
async def test_empty_reads_and_errors_are_no_progress(query: str) -> None:
    rounds = [[call("boiler")], [call(query)], [call(query)]]
    research = Research(*rounds, ["1.5 bar."], no_progress_rounds=2)
    assert outcome(await research.reply()) == ("forced", "no_progress")


async def test_new_evidence_starts_the_count_again() -> None:
    queries = ("boiler", "boiler", "tyres", "boiler", "cats")
    research = Research(*[[call(q)] for q in queries], ["Yes."], no_progress_rounds=2)
    assert outcome(await research.reply()) == ("complete", "none")


async def test_a_batch_with_a_write_neither_adds_nor_resets() -> None:
    write = [call("milk", "note")]
    rounds = [[call("boiler")], [call("boiler")], write, write, write, [call("boiler")]]
    research = Research(*rounds, ["1.5 bar."], no_progress_rounds=2)
    assert outcome(await research.reply()) == ("forced", "no_progress")
    assert research.note.asked == ["milk"] * 3


async def test_a_malformed_call_goes_back_to_the_model_and_is_no_progress() -> None:
    bad = Call("c1", "search", None, raw="{", problem="cut off")
    research = Research([call("boiler")], [bad], [bad], ["1.5 bar."], no_progress_rounds=2)
    assert outcome(await research.reply()) == ("forced", "no_progress")
    assert "cut off" in research.model.requests[2].messages[-1].content


async def test_time_is_checked_before_each_request() -> None:
    research = Research([call("boiler")], ["1.5 bar."], timeout_s=10)
    research.search.meanwhile = research.clock.passing(11)
    assert outcome(await research.reply()) == ("forced", "time")
    assert research.model.requests[1].lane == "answer"


async def test_calls_that_time_left_over_are_answered_as_not_executed() -> None:
    research = Research([call("boiler", id="a"), call("tyres", id="b")], ["Yes."], timeout_s=10)
    research.search.meanwhile = research.clock.passing(11)
    await research.reply()
    assert (research.search.asked, research.statuses) == (["boiler"], ["ok", "not_executed"])


async def test_the_model_is_given_the_deadline() -> None:
    research = Research(["Yes."], timeout_s=10)
    await research.reply()
    assert research.model.requests[0].deadline == 110.0


async def test_a_request_that_ran_out_of_time_is_no_answer() -> None:
    research = Research([call("boiler")], timeout_s=10)
    cut: Script = [Text("It is"), research.clock.passing(11), ended("deadline")]
    research.model.replies += [cut, ["1.5 bar."]]
    reply = await research.reply()
    assert outcome(reply) == ("forced", "time")
    assert reply.ending.text.startswith("It is")  # what was streamed is kept


async def test_the_token_budget_reserves_prompt_and_output() -> None:
    research = Research(["1.5 bar."], prefetch="search", token_budget=64)
    reply = await research.reply()
    assert (outcome(reply), reply.charged_tokens) == (("forced", "tokens"), 0)


async def test_unused_reservations_are_returned() -> None:
    rounds = [[call("boiler")], [call("tyres")], ["Yes."]]
    research = Research(*rounds, output_tokens=1_000, token_budget=2_000)
    assert outcome(await research.reply()) == ("complete", "none")
    assert sum(event.reserved for event in research.of(Round)) > 2_000


async def test_the_charge_is_what_the_seam_counted() -> None:
    costs = (Finished("end", 100, 0, 100, 20), Finished("end", 150, 110, 40, 5))
    research = Research([call("boiler"), costs[0]], [Text("Yes."), costs[1]])
    reply = await research.reply()
    rounds = research.of(Round)
    assert [event.charged for event in rounds] == [120, 45]
    assert (reply.charged_tokens, rounds[1].reused_tokens) == (165, 110)
    assert all(event.reserved >= 64 for event in rounds)


async def test_the_final_request_is_not_charged() -> None:
    research = Research(
        [call("boiler"), Finished("end", 100, 0, 100, 20)],
        [Text("1.5 bar."), Finished("end", 70, 0, 70, 4)],
        max_steps=2,
    )
    reply = await research.reply()
    assert (reply.charged_tokens, reply.ending.answer_tokens) == (120, 74)


async def test_the_exchange_only_grows() -> None:
    research = Research([call("boiler")], [call("tyres")], ["Yes."])
    await research.reply()
    first, second, third = (request.messages for request in research.model.requests)
    assert second[: len(first)] == first and third[: len(second)] == second


async def test_what_does_not_fit_the_context_ends_research() -> None:
    research = Research(["1.5 bar."], prefetch="search", output_tokens=600, context_tokens=620)
    assert outcome(await research.reply()) == ("forced", "context")


@pytest.mark.parametrize(("max_steps", "rounds"), [(2, 1), (3, 2)])
async def test_the_last_allowed_request_is_the_answer(max_steps: int, rounds: int) -> None:
    replies = [[call(query)] for query in ("boiler", "tyres")][:rounds]
    research = Research(*replies, ["1.5 bar."], max_steps=max_steps)
    reply = await research.reply()
    assert (outcome(reply), reply.rounds) == (("forced", "steps"), rounds)
    assert len(research.model.requests) == max_steps


@pytest.mark.parametrize("empty", [[], [" \n"], [Reasoning("hm")], ["..."]])
async def test_an_answer_that_says_nothing_is_forced(empty: Script) -> None:
    research = Research([call("boiler")], empty, ["1.5 bar."])
    assert outcome(await research.reply()) == ("forced", "empty_answer")


async def test_the_end_of_research_is_told_before_the_answer() -> None:
    research = Research([call("boiler")], ["1.5 bar."], max_steps=2)
    await research.reply()
    assert [event.reason for event in research.of(Finishing)] == ["steps"]
    assert isinstance(research.events[-2], Finishing)
    assert isinstance(research.events[-1], AnswerText)


async def test_with_nothing_found_nothing_is_invented() -> None:
    research = Research([call("nothing there")], [], prefetch=None)
    reply = await research.reply()
    assert (outcome(reply), reply.sources) == (("forced", "nothing_found"), ())
    assert phrase("nothing_found", "en") in reply.ending.text
    assert "nothing there" in reply.ending.text


async def test_a_final_request_that_fails_falls_back_to_an_excerpt() -> None:
    research = Research([call("boiler")], [ModelError("broken")], max_steps=2)
    reply = await research.reply()
    assert outcome(reply) == ("fallback", "steps")
    assert FACTS["boiler"] in reply.ending.text


async def test_a_call_proposed_at_the_end_is_never_executed() -> None:
    research = Research([call("boiler")], [call("milk", "note")], max_steps=2)
    assert outcome(await research.reply()) == ("fallback", "steps")
    assert research.note.asked == []


async def test_an_error_in_research_stays_an_error() -> None:
    research = Research([call("boiler")], ["It is", ModelError("out of memory")])
    with pytest.raises(ModelError, match="out of memory"):
        await research.reply()
    assert research.of(Finishing) == []


async def test_cancelling_while_the_model_writes_ends_the_reply() -> None:
    research = Research([call("boiler")])
    research.model.replies.append(["It ", doing(research.stop.set), "is 1.5 bar."])
    with pytest.raises(Cancelled):
        await research.reply()
    assert [event.text for event in research.of(AnswerText)] == ["It "]


async def test_after_a_cancel_in_a_tool_nothing_more_is_executed_or_asked() -> None:
    research = Research([call("boiler"), call("tyres")])
    research.search.meanwhile = doing(research.stop.set)
    with pytest.raises(Cancelled):
        await research.reply()
    assert (research.search.asked, len(research.model.requests)) == (["boiler"], 1)


async def test_after_a_cancel_in_prefetch_nothing_more_is_searched_or_asked() -> None:
    research = Research(["Yes."], prefetch="search")
    research.stop.set()
    with pytest.raises(Cancelled):
        await research.reply()
    assert (research.search.asked, research.model.requests) == ([], [])


async def test_a_reply_cancelled_before_it_began_asks_nothing() -> None:
    research = Research(["Yes."])
    research.stop.set()
    with pytest.raises(Cancelled):
        await research.reply()
    assert research.model.requests == []


async def test_earlier_exchanges_stand_between_system_prompt_and_question() -> None:
    research = Research(["Yes."])
    research.history = (Message("user", "Hello?"), Message("assistant", "Hello."))
    await research.reply()
    messages = research.model.requests[0].messages
    assert (messages[0].role, messages[1:3], messages[3].content) == (
        "system",
        research.history,
        QUESTION,
    )


async def test_a_natural_answer_cut_by_its_length_says_so() -> None:
    research = Research([Text("It is 1.5 bar and"), ended("length")])
    reply = await research.reply()
    assert phrase("incomplete", "en") in reply.ending.text


async def test_text_before_a_call_does_not_run_into_the_answer() -> None:
    research = Research(["I will look.", call("boiler")], ["It is 1.5 bar."])
    reply = await research.reply()
    streamed = "".join(event.text for event in research.of(AnswerText))
    assert streamed.split() == reply.ending.text.split() == "I will look. It is 1.5 bar.".split()
