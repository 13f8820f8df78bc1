"""Tools: what they declare, and how a proposed call becomes a result that the model can use."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from jsonschema import Draft202012Validator

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError, VoiceAgentError
from voice_agent.events import ToolStatus
from voice_agent.llm.model import Call, ToolSpec
from voice_agent.research.evidence import Finding
from voice_agent.research.sections import Section


@dataclass(frozen=True)
class ToolOutput:
    """What a tool returned: the text for the model, and the findings that are evidence.

    ``sections`` are all of a source that is too long to be shown whole. ``declined``: the user did
    not want it.
    """

    text: str
    findings: tuple[Finding, ...] = ()
    sections: tuple[Section, ...] = ()
    declined: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing was found."""
        return not self.text.strip()


@dataclass(frozen=True)
class Result:
    """What came of one proposed call; ``note`` is said of its findings to the model."""

    call: Call
    status: ToolStatus
    text: str
    findings: tuple[Finding, ...] = ()
    sections: tuple[Section, ...] = ()
    note: str = ""


class Tool(Protocol):
    """A tool that the model may call; its failures are `ToolError`."""

    spec: ToolSpec
    writes: bool
    """Whether it changes anything: then it is never repeated, skipped or cached."""
    time_limit_s: float
    """Seconds after which a read is given up. A write is asked to stop and waited for: what may
    still change something is never left to itself."""

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        """Do what is asked; ``question`` is the user's, for tools that choose by relevance."""
        ...


class Toolbox:
    """The tools of the assistant, by name."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them, in a fixed order."""
        return tuple(tool.spec for tool in self._tools.values())

    @property
    def can_write(self) -> bool:
        """Whether any of the tools changes something."""
        return any(tool.writes for tool in self._tools.values())

    def writes(self, name: str) -> bool:
        """Whether the tool ``name`` changes anything."""
        tool = self._tools.get(name)
        return tool is not None and tool.writes

    def time_limit_s(self, name: str) -> float:
        """The time limit of the tool ``name``, in seconds."""
        return self._tools[name].time_limit_s

    async def execute(self, call: Call, *, question: str, stop: StopFlag) -> Result:
        """Run one call; every failure becomes a result that tells the model what was wrong.

        A write whose failure is none that it declares may have changed something: its outcome is
        unknown.
        """
        tool = self._tools.get(call.name)
        problem = self.problem(call)
        if problem or tool is None or call.arguments is None:
            return Result(call, "error", f"The call was not executed: {problem}")
        try:
            async with asyncio.timeout(None if tool.writes else tool.time_limit_s):
                output = await tool.run(call.arguments, question=question, stop=stop)
        except TimeoutError:
            return Result(call, "error", f"{call.name} took over {tool.time_limit_s:g} s.")
        except VoiceAgentError as error:
            return Result(call, "error", f"{call.name} failed: {error.message}")
        except Exception as error:  # noqa: BLE001  # the one place where a tool's bug is contained
            status: ToolStatus = "unknown" if tool.writes else "error"
            return Result(call, status, f"{call.name} failed: {type(error).__name__}: {error}")
        if output.declined:
            return Result(call, "declined", output.text)
        if output.empty:
            return Result(call, "empty", "Nothing was found.")
        return Result(call, "ok", output.text, output.findings, output.sections)

    def problem(self, call: Call) -> str:
        """Return what is wrong with the call, empty if it can be executed."""
        return call.problem or self._problem(self._tools.get(call.name), call)

    def _problem(self, tool: Tool | None, call: Call) -> str:
        if tool is None:
            return f"there is no tool {call.name!r}; there are {', '.join(self._tools)}."
        if call.arguments is None:
            return "its arguments are no JSON object."
        checked = Draft202012Validator(tool.spec.parameters).iter_errors(call.arguments)
        return "; ".join(f"{error.json_path}: {error.message}" for error in checked)


def same_call(call: Call) -> str:
    """A key under which two calls are the same: name and arguments, whatever their order."""
    return f"{call.name} {json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)}"


__all__ = ["Result", "Tool", "ToolError", "ToolOutput", "Toolbox", "same_call"]
