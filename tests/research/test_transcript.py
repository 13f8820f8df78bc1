"""The final request that keeps the whole exchange: research-loop.md, "Ending", 2 and 3."""

from fakes import Clock, Script, ScriptedModel
from scripted_research import QUESTION, Shelf

from voice_agent.engine import StopFlag
from voice_agent.errors import ModelError, ProviderError
from voice_agent.llm.model import Message, Request, Size
from voice_agent.research.answer import AnswerLimits, Ending, FinalAnswer, Unfinished
from voice_agent.research.evidence import Evidence, Finding

FACT = Finding(f"{QUESTION} : 1.5 bar")
SYSTEM, ASKED = Message("system", "Be short."), Message("user", QUESTION)
RESULT = Message("tool", FACT.text, call_id="1.1", name="search")


class Final:
    """A final request made from an exchange."""

    def __init__(self, script: Script, *messages: Message, context_tokens: int = 8192) -> None:
        self.model = ScriptedModel(script, context_tokens=context_tokens)
        self.exchange = Request(
            (SYSTEM, ASKED, *messages), 64, StopFlag(), 0.0, tools=(Shelf().spec,)
        )
        self.evidence = Evidence(str.split, lambda term: 1.0)
        self.evidence.add([FACT])

    async def write(self) -> Ending:
        limits = AnswerLimits(max_tokens=99, timeout_s=7, compose="transcript")
        return await FinalAnswer(self.model, limits, Clock()).write(
            Unfinished(
                question=QUESTION,
                evidence=self.evidence,
                reason="steps",
                history=(),
                language="en",
                stop=StopFlag(),
                on_text=str,
                exchange=self.exchange,
            )
        )

    @property
    def request(self) -> Request:
        (request,) = self.model.requests
        return request


async def test_the_whole_exchange_is_kept_and_the_question_repeated_last() -> None:
    final = Final(["1.5 bar."], Message("assistant", "Hm."), RESULT)
    assert (await final.write()).text == "1.5 bar."
    assert final.request.messages[:-1] == final.exchange.messages
    assert final.request.messages[-1].role == "user"
    assert QUESTION in final.request.messages[-1].content


async def test_where_the_user_spoke_last_the_roles_still_alternate() -> None:
    final = Final(["1.5 bar."])
    await final.write()
    assert [message.role for message in final.request.messages] == ["system", "user"]
    assert final.request.messages[-1].content.count(QUESTION) == 2


async def test_the_tools_stay_but_calls_are_not_allowed() -> None:
    final = Final(["1.5 bar."])
    await final.write()
    assert (final.request.tools, final.request.calls_allowed) == (final.exchange.tools, False)


async def test_it_has_the_bounds_of_the_answer() -> None:
    final = Final(["1.5 bar."])
    await final.write()
    assert (final.request.max_tokens, final.request.deadline) == (99, 107.0)


async def test_an_exchange_that_does_not_fit_gives_way_to_the_evidence() -> None:
    final = Final(["1.5 bar."], Message("assistant", "word " * 300), RESULT, context_tokens=300)
    assert (await final.write()).text == "1.5 bar."
    assert FACT.text in final.request.messages[-1].content and final.request.tools == ()


class Refusing(ScriptedModel):
    """A model whose chat template refuses an exchange with tools in it."""

    async def measure(self, request: Request) -> Size:
        if request.tools:
            raise ModelError("The roles must alternate.")
        return await super().measure(request)


async def test_an_exchange_that_the_template_refuses_gives_way_to_the_evidence() -> None:
    final = Final(["1.5 bar."], RESULT)
    final.model = Refusing(["1.5 bar."])
    assert (await final.write()).basis == "forced"
    assert FACT.text in final.request.messages[-1].content and final.request.tools == ()


async def test_a_server_that_fails_is_the_reason_of_the_fallback() -> None:
    ending = await Final(["It is", ProviderError("The server broke off.")]).write()
    assert (ending.basis, ending.reason) == ("fallback", "provider")
    assert ending.text.startswith("It is\n") and FACT.text in ending.text
