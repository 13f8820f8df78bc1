"""The verdict on the evidence: what does not state the answer gives none."""

from fakes import Script, doing, ended
from scripted_research import FACTS, QUESTION, Research, Weigher, call, outcome

from voice_agent.events import AnswerText, Round
from voice_agent.llm.model import Call, StopReason
from voice_agent.phrases import phrase
from voice_agent.research.drafts import HELD_CHARS
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.research.toolbox.calculator import Calculator
from voice_agent.research.tools import Tool


def judged(
    *replies: Script,
    yes: tuple[float, ...],
    reason: StopReason = "end",
    tools: tuple[Tool, ...] = (),
    confirm_writes: bool = False,
    timeout_s: float = 300.0,
) -> Research:
    weigher = Weigher(yes, ended(reason))
    research = Research(
        *replies,
        prefetch="search",
        tools=tools,
        sufficiency=Sufficiency(weigher, 0.66),
        confirm_writes=confirm_writes,
        timeout_s=timeout_s,
    )
    research.weigher = weigher
    return research


def told(research: Research) -> str:
    return "".join(event.text for event in research.of(AnswerText))


async def test_evidence_that_states_the_answer_is_answered_from_at_once() -> None:
    research = judged(["It is 1.5 bar."], yes=(0.9,))
    reply = await research.reply()
    assert (reply.ending.text, outcome(reply)) == ("It is 1.5 bar.", ("complete", "none"))
    assert research.model.requests[0].lane == "answer"


async def test_without_such_evidence_nothing_that_the_model_says_is_an_answer() -> None:
    research = judged(["It is 9 bar."], ["It is 8 bar."], yes=(0.2,))
    reply = await research.reply()
    assert outcome(reply) == ("forced", "nothing_found")
    assert "bar" not in "".join(event.text for event in research.of(AnswerText))


async def test_the_model_may_search_until_the_evidence_suffices() -> None:
    research = judged(["It is 9 bar."], [call("boiler")], ["It is 1.5 bar."], yes=(0.2, 0.9))
    reply = await research.reply()
    assert (reply.rounds, outcome(reply)) == (1, ("complete", "none"))


async def test_a_tool_result_stays_in_the_exchange_when_the_verdict_is_no() -> None:
    drafts = (["It is 9 bar."], [call("boiler")], ["It is 8 bar."], ["It is 7 bar."])
    research = judged(*drafts, yes=(0.1, 0.1))
    await research.reply()
    assert research.model.requests[3].messages[-1].role == "tool"


async def test_a_verdict_that_ran_out_of_time_is_none() -> None:
    research = judged(["It is 9 bar."], [], ["It is 1.5 bar."], yes=(0.1,), reason="deadline")
    reply = await research.reply()
    assert (reply.ending.text, outcome(reply)) == ("It is 1.5 bar.", ("forced", "empty_answer"))


async def test_a_verdict_is_charged_like_any_request() -> None:
    research = judged(["It is 1.5 bar."], yes=(0.9,))
    reply = await research.reply()
    assert reply.charged_tokens == sum(event.charged for event in research.of(Round)) > 0


async def test_a_draft_ends_with_the_time_for_research() -> None:
    research = judged(["It is 9 bar."], ["It is 1.5 bar."], yes=(), timeout_s=10)
    research.model.replies[0] = ["It is", research.clock.passing(11), ended("deadline")]
    reply = await research.reply()
    draft, final = research.model.requests
    assert (draft.deadline, final.deadline) == (110.0, 231.0)
    assert (reply.ending.text, outcome(reply)) == ("It is 1.5 bar.", ("forced", "time"))


async def test_what_a_tool_tells_is_judged_with_the_evidence() -> None:
    research = judged([call("tyres")], ["In the garage."], yes=(0.9,))
    research.search.finds = False
    reply = await research.reply()
    assert (reply.rounds, outcome(reply)) == (1, ("complete", "none"))
    assert FACTS["tyres"] in research.model.requests[-1].messages[-1].content
    assert FACTS["tyres"] in research.weigher.asked[0].messages[-1].content


async def test_only_the_statement_under_the_answer_is_judged() -> None:
    research = judged(["It is 1.5 bar."], yes=(0.9,))
    research.put(QUESTION, FACTS[QUESTION])
    await research.reply()
    asked = research.weigher.asked[0]
    assert (asked.lane, FACTS[QUESTION] in asked.messages[-1].content) == ("verdict", True)


async def test_a_statement_that_did_not_tell_is_not_answered_from_again() -> None:
    research = judged(["It is 9 bar."], [call("boiler")], ["It is 1.5 bar."], yes=(0.2, 0.9))
    await research.reply()
    assert FACTS[QUESTION] not in research.model.requests[-1].messages[-1].content


async def test_a_long_answer_is_passed_on_while_it_is_written() -> None:
    said: list[int] = []
    research = judged(["a b " * 70, doing(lambda: said.append(len(told(research)))), "end"], yes=())
    await research.reply()
    assert said[0] > HELD_CHARS


async def test_a_model_that_cannot_tell_reads_only_what_bears_on_the_question_most() -> None:
    long = f"{FACTS[QUESTION]} {'and so on ' * 20}".strip()
    research = Research(
        ["1.5 bar."], prefetch="search", sufficiency=Sufficiency(Weigher((), ended("end")), 0.0)
    )
    research.search.more = ("the boiler pressure is high " + "in the other house " * 10,)
    research.put(QUESTION, long)
    reply = await research.reply()
    read = research.model.requests[0].messages[-1].content
    assert (outcome(reply), long in read, "other house" in read) == (
        ("complete", "none"),
        True,
        False,
    )


async def test_after_a_write_the_answer_follows() -> None:
    research = judged(["9 bar."], [call("milk", "note")], ["I noted it."], yes=(0.2,))
    reply = await research.reply()
    assert (reply.ending.text, outcome(reply)) == ("I noted it.", ("complete", "none"))
    assert research.note.asked == ["milk"]


async def test_what_the_documents_say_is_no_answer_to_an_order() -> None:
    research = judged([call("milk", "note")], yes=(0.9,))
    research.question = "note how high the boiler pressure is"
    research.put(research.question, FACTS[QUESTION])
    reply = await research.reply()
    assert research.note.asked == ["milk"]
    assert reply.ending.text == phrase("write_done", "en", action="note: milk")
    assert reply.sources == ()
    assert "".join(event.text for event in research.of(AnswerText)) == reply.ending.text


async def test_what_is_to_be_reckoned_is_not_taken_from_documents() -> None:
    sum_up = Call("c1", "calculator", {"expression": "17*23"}, raw="17*23")
    research = judged([sum_up], ["391"], yes=(0.9,), tools=(Calculator(),))
    research.question = "what is 17 times 23 bar of boiler pressure"
    research.put(research.question, FACTS[QUESTION])
    reply = await research.reply()
    assert (reply.ending.text, reply.rounds) == ("391", 1)
    assert "17*23 = 391" in research.model.requests[-1].messages[-1].content


async def test_a_question_writes_nothing() -> None:
    research = judged(["9 bar."], [call("milk", "note")], ["8 bar."], yes=(0.2,))
    research.question = f"{QUESTION}?"
    research.put(research.question, FACTS[QUESTION])
    await research.reply()
    assert (research.note.asked, research.statuses[-1]) == ([], "not_executed")


async def test_an_answer_that_only_says_the_question_again_is_none() -> None:
    research = judged([QUESTION], ["It is 8 bar."], yes=())
    reply = await research.reply()
    assert outcome(reply) == ("forced", "nothing_found")


async def test_a_later_draft_must_be_surer() -> None:
    drafts = (["It is 9 bar."], [call("boiler")], ["It is 8 bar."], ["It is 7 bar."])
    research = judged(*drafts, yes=(0.65, 0.67))
    reply = await research.reply()
    assert outcome(reply) == ("forced", "nothing_found")


async def test_facts_without_end_are_no_progress() -> None:
    research = Research(*([call(f"day {n}")] for n in range(9)), [], no_progress_rounds=2)
    research.search.finds = False
    for n in range(9):
        research.put(f"day {n}", " ".join(f"{n}{word}" for word in "abcdefghijkl"))
    reply = await research.reply()
    assert (reply.rounds, outcome(reply)[1]) == (5, "no_progress")


async def test_proposing_to_write_over_and_over_is_no_progress() -> None:
    notes = [[call("milk", "note")] for _ in range(4)]
    research = judged(["9 bar."], *notes, yes=(0.2,))
    research.question = f"{QUESTION}?"
    research.put(research.question, FACTS[QUESTION])
    reply = await research.reply()
    assert (reply.rounds, outcome(reply)) == (4, ("forced", "nothing_found"))


async def test_an_order_that_was_declined_is_not_tried_again() -> None:
    research = judged([call("milk", "note")], yes=(), confirm_writes=True)
    research.question, research.asker.rest = "note milk", None
    reply = await research.reply()
    assert (reply.rounds, research.note.asked) == (1, [])
    assert reply.ending.text == phrase("write_declined", "en", action="note: milk")


async def test_a_question_that_was_heard_as_a_sentence_is_asked_as_a_question() -> None:
    research = judged(["It is 1.5 bar."], yes=(0.9,))
    await research.reply()
    assert (
        "tell: How high is the boiler pressure? " in research.weigher.asked[0].messages[-1].content
    )
