"""The verdict on the evidence: what does not state the answer gives none."""

from fakes import Script, ended
from scripted_research import FACTS, QUESTION, Research, call, outcome

from voice_agent.events import AnswerText, Round
from voice_agent.llm.model import Call, Finished, Likelihood, Request, StopReason
from voice_agent.phrases import phrase
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.research.toolbox.calculator import Calculator
from voice_agent.research.tools import Tool


class Weigher:
    """Answers "yes" with the given shares, one after another; ``finished`` ends each request."""

    def __init__(self, yes: tuple[float, ...], finished: Finished) -> None:
        self._yes = list(yes)
        self._finished = finished
        self.asked: list[Request] = []

    async def likelihood(self, request: Request, options: tuple[str, ...]) -> Likelihood:
        self.asked.append(request)
        yes = self._yes.pop(0)
        return Likelihood((yes, 1 - yes), self._finished)


def judged(
    *replies: Script,
    yes: tuple[float, ...],
    reason: StopReason = "end",
    tools: tuple[Tool, ...] = (),
) -> Research:
    research = Research(*replies, prefetch="search", tools=tools)
    research.loop._sufficiency = Sufficiency(Weigher(yes, ended(reason)), 0.66)
    return research


async def test_evidence_that_states_the_answer_is_answered_from_at_once() -> None:
    research = judged(["It is 1.5 bar."], yes=(0.9,))
    reply = await research.reply()
    assert (reply.ending.text, outcome(reply)) == ("It is 1.5 bar.", ("complete", "none"))
    assert research.model.requests[0].lane == "answer"


async def test_without_such_evidence_nothing_that_the_model_says_is_an_answer() -> None:
    research = judged(["It is 9 bar."], yes=(0.2,))
    reply = await research.reply()
    assert outcome(reply) == ("forced", "nothing_found")
    assert "9 bar" not in "".join(event.text for event in research.of(AnswerText))


async def test_the_model_may_search_until_the_evidence_suffices() -> None:
    research = judged([call("boiler")], ["It is 1.5 bar."], yes=(0.2, 0.9))
    reply = await research.reply()
    assert (reply.rounds, outcome(reply)) == (1, ("complete", "none"))


async def test_a_tool_result_stays_in_the_exchange_when_the_verdict_is_no() -> None:
    research = judged([call("boiler")], ["It is 9 bar."], yes=(0.1, 0.1))
    await research.reply()
    assert research.model.requests[1].messages[-1].role == "tool"


async def test_a_verdict_that_ran_out_of_time_is_none() -> None:
    research = judged(["It is 1.5 bar."], yes=(0.1,), reason="deadline")
    research.model.context_tokens = 1  # no room for research: the answer is forced
    reply = await research.reply()
    assert outcome(reply)[1] != "nothing_found"


async def test_a_verdict_is_charged_like_any_request() -> None:
    research = judged(["It is 1.5 bar."], yes=(0.9,))
    reply = await research.reply()
    assert reply.charged_tokens == sum(event.charged for event in research.of(Round)) > 0


async def test_what_a_tool_tells_is_judged_with_the_evidence() -> None:
    research = judged([call("tyres")], ["In the garage."], yes=(0.9,))
    research.search.finds = False
    reply = await research.reply()
    assert (reply.rounds, outcome(reply)) == (1, ("complete", "none"))
    assert FACTS["tyres"] in research.model.requests[-1].messages[-1].content


async def test_after_a_write_the_answer_follows() -> None:
    research = judged([call("milk", "note")], ["I noted it."], yes=(0.2,))
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
