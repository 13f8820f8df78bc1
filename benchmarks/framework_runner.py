"""Answers questions with another agent framework; `frameworks.py` starts it in a place of its own.

    PYTHON benchmarks/framework_runner.py smolagents|pydantic-ai ADDRESS

It needs the framework and the standard library alone. ADDRESS is that of benchmarks/
tool_call_server.py. Each line on stdin is a JSON object with ``question`` and ``instructions``,
each on stdout one with ``text`` and ``error``. Every question gets an agent of its own; settings
are the framework's, but for the length of a reply and the temperature.
"""

import json
import sys
import urllib.request
from collections.abc import Callable
from typing import Any

OUTPUT_TOKENS = 512
Ask = Callable[[str, str], str]


class Tools:
    """The two tools, as the server runs them."""

    def __init__(self, address: str, question: str) -> None:
        self._address = address
        self._question = question

    def search_documents(self, query: str) -> str:
        """Search the user's documents for passages about something.

        Args:
            query: words to look for
        """
        return self._run("search_documents", {"query": query})

    def read_document(self, title: str, heading: str = "") -> str:
        """Read what one of the user's documents, named by its title or path, says about it.

        Args:
            title: title or path of the document
            heading: heading of the part to read
        """
        wanted = {"title": title} | ({"heading": heading} if heading else {})
        return self._run("read_document", wanted)

    def _run(self, name: str, arguments: dict[str, str]) -> str:
        body = {"arguments": arguments, "question": self._question}
        asked = urllib.request.Request(f"{self._address}/tools/{name}", json.dumps(body).encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked) as answer:
            return str(json.load(answer)["text"])


def smolagents(address: str) -> Ask:
    """Return what asks a ToolCallingAgent."""
    from smolagents import OpenAIModel, ToolCallingAgent

    model = OpenAIModel(
        "served",
        api_base=f"{address}/v1",
        api_key="none",
        max_tokens=OUTPUT_TOKENS,
        temperature=0.0,
    )

    def ask(question: str, instructions: str) -> str:
        agent = ToolCallingAgent(
            tools=_smolagents_tools(Tools(address, question)),
            model=model,
            instructions=instructions,
            verbosity_level=0,
        )
        return str(agent.run(question) or "")

    return ask


def _smolagents_tools(tools: Tools) -> list[Any]:
    from smolagents import Tool

    text = {"type": "string"}
    heading = text | {"description": "heading of the part to read", "nullable": True}

    class Search(Tool):
        name = "search_documents"
        description = "Search the user's documents for passages about something."
        inputs = {"query": text | {"description": "words to look for"}}
        output_type = "string"

        def forward(self, query: str) -> str:
            return tools.search_documents(query)

    class Read(Tool):
        name = "read_document"
        description = (
            "Read what one of the user's documents, named by its title or path, says about it."
        )
        inputs = {
            "title": text | {"description": "title or path of the document"},
            "heading": heading,
        }
        output_type = "string"

        def forward(self, title: str, heading: str | None = None) -> str:
            return tools.read_document(title, heading or "")

    return [Search(), Read()]


def pydantic_ai(address: str) -> Ask:
    """Return what asks a pydantic-ai agent."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{address}/v1", api_key="none")
    model = OpenAIChatModel("served", provider=provider)

    def ask(question: str, instructions: str) -> str:
        tools = Tools(address, question)
        agent = Agent(
            model,
            instructions=instructions,
            tools=[tools.search_documents, tools.read_document],
            model_settings={"max_tokens": OUTPUT_TOKENS, "temperature": 0.0},
        )
        return str(agent.run_sync(question).output or "")

    return ask


FRAMEWORKS: dict[str, Callable[[str], Ask]] = {"smolagents": smolagents, "pydantic-ai": pydantic_ai}


def main(name: str, address: str) -> None:
    """Answer line by line until stdin ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # what a framework prints is no answer
    ask = FRAMEWORKS[name](address)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        told = {"text": "", "error": ""}
        try:
            told["text"] = ask(asked["question"], asked["instructions"])
        except Exception as error:  # noqa: BLE001  # whatever a framework ends with is its result
            told["error"] = f"{type(error).__name__}: {error}"[:500]
        print(json.dumps(told), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
