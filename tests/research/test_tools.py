"""A proposed call becomes a result that the model can use: research-loop.md, "Tools"."""

import asyncio
from typing import Any

import pytest
from fakes import forever

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError
from voice_agent.llm.model import Call, ToolSpec
from voice_agent.research.evidence import Finding
from voice_agent.research.tools import Result, Toolbox, ToolOutput, same_call

PARAMETERS = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
    "required": ["query"],
    "additionalProperties": False,
}


class Lookup:
    """A tool that gives ``output``, raises it, or never returns."""

    writes = False
    time_limit_s = 0.05

    def __init__(self, output: ToolOutput | Exception | None, name: str = "search") -> None:
        self.spec = ToolSpec(name, "Looks something up.", PARAMETERS)
        self.asked: list[dict[str, Any]] = []
        self._output = output

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        self.asked.append(arguments)
        if isinstance(self._output, Exception):
            raise self._output
        if self._output is None:
            await forever()
        assert isinstance(self._output, ToolOutput)
        return self._output


def call(name: str = "search", arguments: dict[str, Any] | None = None, problem: str = "") -> Call:
    return Call("1", name, arguments, raw="", problem=problem)


async def result_of(tool: Lookup, proposed: Call) -> Result:
    return await Toolbox([tool]).execute(proposed, question="What?", stop=StopFlag())


async def test_a_call_returns_text_and_findings() -> None:
    output = ToolOutput("1.5 bar", (Finding("1.5 bar"),))
    result = await result_of(Lookup(output), call(arguments={"query": "boiler"}))
    assert (result.status, result.text, result.findings) == ("ok", "1.5 bar", output.findings)


async def test_nothing_found_is_told_apart() -> None:
    assert (await result_of(Lookup(ToolOutput(" ")), call(arguments={"query": "x"}))).status == (
        "empty"
    )


@pytest.mark.parametrize(
    ("proposed", "said"),
    [
        (call(arguments={}), "'query' is a required property"),
        (call(arguments={"query": 3}), "$.query: 3 is not of type 'string'"),
        (call(arguments={"query": "x", "limit": 0}), "$.limit"),
        (call(arguments={"query": "x", "where": "y"}), "'where' was unexpected"),
        (call(name="find", arguments={"query": "x"}), "no tool 'find'; there are search"),
        (call(arguments=None, problem="not valid JSON: line 1"), "not valid JSON"),
        (call(arguments=None), "no JSON object"),
    ],
)
async def test_a_wrong_call_is_not_executed_and_says_why(proposed: Call, said: str) -> None:
    tool = Lookup(ToolOutput("found"))
    result = await result_of(tool, proposed)
    assert (result.status, tool.asked) == ("error", [])
    assert said in result.text


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (ToolError("The index is locked."), "search failed: The index is locked."),
        (ValueError("bug"), "search failed: ValueError: bug"),
        (None, "search took over 0.05 s."),
    ],
)
async def test_a_tool_that_fails_is_an_observation(fault: Exception | None, said: str) -> None:
    result = await result_of(Lookup(fault), call(arguments={"query": "x"}))
    assert (result.status, result.text) == ("error", said)


async def test_cancelling_ends_a_tool() -> None:
    running = asyncio.create_task(result_of(Lookup(None), call(arguments={"query": "x"})))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()


def test_tools_are_shown_in_a_fixed_order() -> None:
    names = ["write", "search", "alarm"]
    box = Toolbox([Lookup(None, name) for name in names])
    assert [spec.name for spec in box.specs] == names


def test_an_unknown_tool_writes_nothing() -> None:
    assert not Toolbox([]).writes("search")


def test_the_order_of_arguments_makes_no_other_call() -> None:
    one, two = {"query": "x", "limit": 1}, {"limit": 1, "query": "x"}
    assert same_call(call(arguments=one)) == same_call(call(arguments=two))
    assert same_call(call(arguments=one)) != same_call(call(arguments={"query": "y"}))
