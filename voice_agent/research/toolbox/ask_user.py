"""The tool by which the model asks the user back."""

from typing import Any

from voice_agent.engine import StopFlag
from voice_agent.llm.model import ToolSpec
from voice_agent.research.asking import Asking
from voice_agent.research.tools import ToolOutput

ASK_USER = "ask_user"


class AskUser:
    """Asks one short question; the answer is the result, silence declines."""

    spec = ToolSpec(
        ASK_USER,
        "Ask the user one short question, only when you cannot go on.",
        {
            "type": "object",
            "properties": {"question": {"type": "string", "minLength": 1, "maxLength": 300}},
            "required": ["question"],
            "additionalProperties": False,
        },
    )
    writes = False
    time_limit_s = 600.0  # how long silence is waited for is the asker's

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        """Return what the user answered to ``arguments["question"]``."""
        answer = await self._asking.ask(str(arguments["question"]), "question")
        return ToolOutput(answer or "The user did not answer.", declined=answer is None)
