"""A metered model notes what passes through it, and changes nothing."""

import pytest
from fakes import ScriptedModel

from voice_agent.bench.metered import MeteredModel
from voice_agent.engine import StopFlag
from voice_agent.errors import ModelError
from voice_agent.llm.model import Finished, Message, Request, Text

REQUEST = Request((Message("user", "how high"),), 8, StopFlag(), deadline=float("inf"))


async def test_a_request_is_noted_with_what_was_expected_and_what_it_cost() -> None:
    model = MeteredModel(ScriptedModel(["two words"]))
    said = [piece async for piece in model.stream(REQUEST)]
    (noted,) = model.take()
    assert said == [Text("two words"), noted.finished]
    assert noted.expected.new_tokens == 3 and noted.spent_tokens == 5 and noted.whole
    assert model.take() == []


async def test_a_request_that_fails_is_noted_too() -> None:
    model = MeteredModel(ScriptedModel([ModelError("broken")]))
    with pytest.raises(ModelError):
        [piece async for piece in model.stream(REQUEST)]
    (noted,) = model.take()
    assert (noted.finished, noted.whole, noted.row()["reason"]) == (None, False, "failed")


async def test_the_last_token_of_a_cut_reply_was_not_computed() -> None:
    model = MeteredModel(ScriptedModel([Finished("length", 10, 4, 6, 3)]))
    [piece async for piece in model.stream(REQUEST)]
    (noted,) = model.take()
    assert (noted.spent_tokens, noted.computed_tokens) == (9, 8)


async def test_a_model_that_cannot_weigh_says_so() -> None:
    with pytest.raises(ModelError):
        await MeteredModel(ScriptedModel()).likelihood(REQUEST, ("yes", "no"))
