"""The forced answer and its fallback: research-loop.md, "Ending", 2 to 4."""

import pytest
from fakes import Clock, Script, ScriptedModel, doing, ended

from voice_agent.engine import StopFlag
from voice_agent.errors import Cancelled, ModelError
from voice_agent.events import Reason, Source
from voice_agent.llm.model import Call, Finished, Message, Request, Text
from voice_agent.phrases import phrase
from voice_agent.research.answer import (
    AnswerLimits,
    Ending,
    FinalAnswer,
    Unfinished,
    close_cut,
    excerpt,
    fit,
    repeats,
    sayable,
)
from voice_agent.research.evidence import Evidence, Finding
from voice_agent.research.prompts import CLOSING, HONESTY, PERSONA, STRATEGY

QUESTION = "boiler pressure"
FACT = Finding("the boiler pressure is 1.5 bar", Source("boiler.md", "Boiler", "Pressure"))
CALL = Call("1", "search", {"query": "x"}, raw="<tool_call>")


class Final:
    """A final request with its model: what it wrote, and what came out."""

    def __init__(
        self,
        script: Script,
        *findings: Finding,
        limits: AnswerLimits | None = None,
        stop: StopFlag | None = None,
        reason: Reason = "time",
    ) -> None:
        self.model = ScriptedModel(script)
        self.clock = Clock()
        self.stop = stop or StopFlag()
        self.reason, self.language = reason, "en"
        self.history: tuple[Message, ...] = ()
        self.streamed: list[str] = []
        self.evidence = Evidence(lambda text: text.casefold().split(), lambda term: 1.0)
        self.evidence.add(findings)
        self.evidence.searched = ["boiler pressure", "heating bar"]
        self._final = FinalAnswer(self.model, limits or AnswerLimits(), self.clock)

    async def write(self) -> Ending:
        return await self._final.write(
            Unfinished(
                question=QUESTION,
                evidence=self.evidence,
                reason=self.reason,
                history=self.history,
                language=self.language,
                stop=self.stop,
                on_text=self.streamed.append,
            )
        )

    @property
    def request(self) -> Request:
        (request,) = self.model.requests
        return request

    @property
    def prompt(self) -> str:
        return "\n".join(message.content for message in self.request.messages)


async def test_the_answer_is_streamed_as_it_is_written() -> None:
    final = Final(["It is ", "1.5 bar."], FACT)
    ending = await final.write()
    assert (ending.text, ending.basis, ending.reason) == ("It is 1.5 bar.", "forced", "time")
    assert final.streamed == ["It is ", "1.5 bar."]


async def test_no_tools_are_offered_and_calls_are_impossible() -> None:
    final = Final(["It is 1.5 bar."], FACT)
    await final.write()
    assert (final.request.tools, final.request.calls_allowed) == ((), False)


async def test_it_runs_in_a_lane_of_its_own_with_its_own_bounds() -> None:
    final = Final(["Yes."], FACT, limits=AnswerLimits(max_tokens=99, timeout_s=7))
    await final.write()
    request = final.request
    assert (request.lane, request.max_tokens, request.deadline) == ("answer", 99, 107.0)


async def test_the_request_holds_evidence_with_its_source_and_the_question_last() -> None:
    final = Final(["It is 1.5 bar."], FACT)
    await final.write()
    assert FACT.text in final.prompt and "Boiler > Pressure" in final.prompt
    assert final.prompt.index(FACT.text) < final.prompt.index(f"Question: {QUESTION}")


async def test_the_request_names_what_was_looked_for_without_result() -> None:
    final = Final(["It is 1.5 bar."], FACT)
    await final.write()
    assert "heating bar" in final.prompt


async def test_a_forced_request_closes_with_the_instruction_to_answer_now() -> None:
    forced, plain = Final(["Yes."], FACT), Final(["Yes."], FACT, reason="none")
    await forced.write()
    await plain.write()
    assert forced.prompt.endswith(f"Question: {QUESTION}\n{CLOSING} {HONESTY}")
    assert plain.prompt.endswith(f"Question: {QUESTION}")


async def test_the_persona_stays_and_the_strategy_of_research_is_gone() -> None:
    final = Final(["It is 1.5 bar."], FACT)
    await final.write()
    assert final.request.messages[0] == Message("system", PERSONA)
    assert STRATEGY not in final.prompt


async def test_the_last_turns_are_held_as_far_as_they_fit() -> None:
    final = Final(["It is 1.5 bar."], FACT)
    final.model.prompt_tokens_per_s = 60.0
    old, new = ("long ago " * 60, "just now")
    final.history = tuple(
        Message(role, f"{when} {role}")  # type: ignore[arg-type]  # the roles
        for when in (old, new)
        for role in ("user", "assistant")
    )
    await final.write()
    assert final.request.messages[1:3] == final.history[2:]
    assert "long ago" not in final.prompt


async def test_of_a_long_last_turn_the_beginning_is_held() -> None:
    final = Final(["It is 1.5 bar."], FACT)
    final.model.prompt_tokens_per_s = 20.0
    asked = Message("user", "What is a boiler?")
    final.history = (asked, Message("assistant", "A boiler heats water. " * 40))
    await final.write()
    question, answer = final.request.messages[1:3]
    assert question == asked and answer.content.startswith("A boiler heats water.")
    assert len(answer.content) < 320 and answer.content.endswith(" …")


async def test_a_fallback_has_the_language_of_the_question() -> None:
    final = Final([ModelError("broken")], FACT)
    final.language = "de"
    await final.write()
    assert "".join(final.streamed).strip() == phrase("fallback", "de")


async def test_the_best_evidence_comes_and_what_is_unrelated_does_not() -> None:
    final = Final(["It is 1.5 bar."], Finding("cats sleep all day long"), FACT)
    await final.write()
    assert FACT.text in final.prompt and "cats" not in final.prompt


async def test_the_evidence_is_sized_by_the_speed_of_the_model() -> None:
    many = [Finding(f"boiler pressure note {i} " + "words " * 60) for i in range(40)]
    slow, fast = Final(["Yes."], *many), Final(["Yes."], *many)
    slow.model.prompt_tokens_per_s = 20
    await slow.write()
    await fast.write()
    assert len(slow.prompt) < 1_700 < len(fast.prompt)


async def test_the_evidence_never_takes_more_than_the_context() -> None:
    final = Final(["Yes."], *[Finding(f"boiler pressure {i} " + "words " * 60) for i in range(400)])
    final.model.prompt_tokens_per_s = 1e6
    await final.write()
    assert len(final.prompt) / 4 + final.request.max_tokens < final.model.context_tokens


async def test_without_evidence_the_program_speaks_for_itself() -> None:
    final = Final([])
    ending = await final.write()
    assert (ending.basis, ending.reason, final.model.requests) == ("forced", "nothing_found", [])
    assert "boiler pressure" in ending.text and "heating bar" in ending.text
    assert "".join(final.streamed) == ending.text


async def test_evidence_under_the_floor_is_none() -> None:
    final = Final([], Finding("cats sleep all day long"))
    assert (await final.write()).reason == "nothing_found"


@pytest.mark.parametrize(
    "script",
    [
        [ModelError("out of memory")],
        [CALL],
        ["It is ", CALL],
        [],
        [" \n"],
        ["..."],
        ["It is", ModelError("broken")],
    ],
)
async def test_when_it_fails_an_excerpt_is_the_answer(script: Script) -> None:
    final = Final(script, FACT)
    ending = await final.write()
    assert (ending.basis, ending.reason) == ("fallback", "time")
    assert phrase("excerpt", "en") in ending.text and FACT.text in ending.text


async def test_a_fallback_says_one_sentence_and_not_the_excerpt() -> None:
    final = Final([ModelError("broken")], FACT)
    await final.write()
    assert "".join(final.streamed).strip() == phrase("fallback", "en")


async def test_a_fallback_keeps_what_was_already_said_once() -> None:
    final = Final(["It is about", CALL], FACT)
    ending = await final.write()
    assert ending.text.count("It is about") == "".join(final.streamed).count("It is about") == 1


async def test_a_final_request_that_does_not_fit_falls_back() -> None:
    final = Final([], FACT, limits=AnswerLimits(max_tokens=9_000))
    assert (await final.write()).basis == "fallback"


@pytest.mark.parametrize("reason", ["length", "deadline"])
async def test_a_cut_answer_is_kept_closed_and_said_to_be_incomplete(reason: str) -> None:
    ends = ended("length" if reason == "length" else "deadline")
    final = Final([Text("It is 1.5 bar and"), ends], FACT)
    ending = await final.write()
    assert ending.text == f"It is 1.5 bar and… {phrase('incomplete', 'en')}"
    assert "".join(final.streamed) == ending.text
    assert ending.basis == "forced"


async def test_an_answer_that_goes_round_is_ended() -> None:
    final = Final(["the pressure is high, "] * 50, FACT)
    ending = await final.write()
    assert ending.text.count("the pressure is high") < 10
    assert final.request.stop.is_set() and not final.stop.is_set()


async def test_cancellation_is_no_fallback() -> None:
    stop = StopFlag()
    final = Final(["It ", doing(stop.set), "is 1.5 bar."], FACT, stop=stop)
    with pytest.raises(Cancelled):
        await final.write()
    assert final.streamed == ["It "]


async def test_the_final_request_is_measured_apart() -> None:
    final = Final([Text("Yes."), Finished("end", 50, 10, 40, 3)], FACT)
    assert (await final.write()).answer_tokens == 43


@pytest.mark.parametrize("text", ["", " \n", "...", "—"])
def test_nothing_can_be_said_of_signs_alone(text: str) -> None:
    assert not sayable(text)


@pytest.mark.parametrize("text", ["5", "Yes.", "… ja"])
def test_words_and_numbers_can_be_said(text: str) -> None:
    assert sayable(text)


@pytest.mark.parametrize(
    ("text", "round_and_round"),
    [
        ("the pressure is high, " * 4, True),
        ("One two three. " * 4, True),
        ("1.5 bar. Yes, it is. Yes, I am sure, yes.", False),
        ("abcdefgh " * 100, True),
        (" ".join(f"the boiler was serviced in {year}." for year in range(1990, 2025)), False),
    ],
)
def test_repetition_is_noticed(text: str, round_and_round: bool) -> None:
    assert repeats(text) is round_and_round


def test_a_finished_sentence_needs_no_closing() -> None:
    assert close_cut("It is 1.5 bar.", "en") == f" {phrase('incomplete', 'en')}"


def test_an_excerpt_is_bounded_and_cut_between_words() -> None:
    text = excerpt([Finding("boiler " * 1_000)], 200, "en").removeprefix(phrase("excerpt", "en"))
    assert len(text) < 210
    assert text.endswith("boiler …")


def test_what_does_not_fit_is_left_out_but_the_first_is_cut() -> None:
    long, short = Finding("boiler " * 100), Finding("short")
    assert fit([short, long], 100) == [short]
    (cut,) = fit([long], 100)
    assert long.text.startswith(cut.text) and 50 < len(cut.text) <= 100


async def test_a_model_that_fails_in_mid_answer_keeps_what_it_said() -> None:
    final = Final(["It is about", ModelError("broken")], FACT)
    ending = await final.write()
    assert ending.text.count("It is about") == "".join(final.streamed).count("It is about") == 1
