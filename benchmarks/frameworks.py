"""The same questions, tools and model for this assistant and for other agent frameworks.

    PYTHONPATH=. python benchmarks/frameworks.py --data DIR --python PYTHON [--rows FILE]
        [--model NAME] [--systems local,server,smolagents,pydantic-ai] [--first 0] [--n 24]
        [--minutes M]

PYTHON is the interpreter of another virtual environment, in which the frameworks are installed.
24 questions over the example documents and 500 paragraphs: 8 shipped ones, 8 that two documents
answer together, 8 without an answer. ``local`` and ``server`` are this assistant, with the model
as it ships and as a server's. --rows keeps a line an answer (JSON); what stands in it is not asked
again, so that a long run can be made in parts; with --minutes no question is begun after so long
(exit code 3 where any is left). The table is of all lines.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice_agent.bench.comparison import Posed, judged, posed, table
from voice_agent.bench.hotpot import load_hotpot
from voice_agent.bench.metered import MeteredModel
from voice_agent.bench.questions import examples, load_questions
from voice_agent.bench.researching import local_research, open_shelves, weights
from voice_agent.bench.rows import Row, Rows
from voice_agent.bench.servers import ModelServer, ask_json, tool_call_server
from voice_agent.bench.squad import write_library
from voice_agent.engine import StopFlag
from voice_agent.errors import VoiceAgentError
from voice_agent.llm.access import Access
from voice_agent.llm.remote import RemoteModel
from voice_agent.research import prompts
from voice_agent.research.loop import Inquiry, ResearchLoop
from voice_agent.settings import Settings
from voice_agent.thinking import Shelves, research_over

MODEL = "qwen2.5-coder-0.5b-instruct"
SYSTEMS = ("local", "server", "smolagents", "pydantic-ai")
RUNNER = Path(__file__).parent / "framework_runner.py"
CONTEXT_TOKENS = 8192
LIMIT_S = 120.0
ANSWER_S = 30.0
START_S = 120.0
LATE = 3
HONEST = "If the documents do not tell it, say that it was not found."


@dataclass(frozen=True)
class Answered:
    """What a system made of a question; ``error`` says why there is no answer."""

    text: str
    error: str = ""


@dataclass(frozen=True)
class System:
    """A way to answer: ``ask`` a question, and ``spent`` for the requests since the last time."""

    ask: Callable[[str], Awaitable[Answered]]
    spent: Callable[[], list[dict[str, Any]]]


def settings_of(**llm: str) -> Settings:
    """Return the shipped settings with the two tools over documents alone, and bounded times."""
    research, answer = {"timeout_s": LIMIT_S - ANSWER_S}, {"timeout_s": ANSWER_S}
    return Settings.model_validate(
        {"llm": llm, "research": research, "answer": answer, "tools": {"enabled": []}}
    )


def own_system(research: ResearchLoop, model: MeteredModel) -> System:
    """Return this assistant as a system."""

    async def ask(question: str) -> Answered:
        try:
            reply = await research.reply(Inquiry(question, 1, StopFlag(), lambda event: None))
        except VoiceAgentError as error:
            return Answered("", f"{error}")
        return Answered(reply.ending.text)

    return System(ask, lambda: [each.row() for each in model.take()])


@asynccontextmanager
async def local_system(name: str, shelf: Shelves) -> AsyncIterator[System]:
    """Open this assistant with the model in its own process, as it ships."""
    async with local_research(settings_of(model=name), shelf) as (research, metered):
        yield own_system(research, metered)


@asynccontextmanager
async def server_system(server: ModelServer, shelf: Shelves) -> AsyncIterator[System]:
    """Open this assistant with the model on a server."""
    model = RemoteModel(Access(server.address, "served"), context_tokens=CONTEXT_TOKENS)
    try:
        metered = MeteredModel(model)
        research = research_over(settings_of(provider="openai"), metered, shelf, sufficiency=None)
        yield System(own_system(research, metered).ask, served_requests(server))
    finally:
        await model.close()


def served_requests(server: ModelServer) -> Callable[[], list[dict[str, Any]]]:
    """Return what tells the server's requests since it was last called."""
    seen = 0

    def spent() -> list[dict[str, Any]]:
        nonlocal seen
        rows: list[dict[str, Any]] = ask_json(f"{server.root}/requests?from={seen}")
        seen += len(rows)
        return rows

    return spent


class Framework:
    """Another framework, in a process of its own; one that is late is ended and started anew."""

    def __init__(self, python: Path, name: str, server: ModelServer) -> None:
        self._command = (str(python), str(RUNNER), name, server.root)
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, question: str) -> Answered:
        """Let it answer ``question``."""
        process = await self._started()
        assert process.stdin is not None and process.stdout is not None
        instructions = f"{prompts.system_prompt()} {HONEST}"
        told = json.dumps({"question": question, "instructions": instructions})
        process.stdin.write(told.encode() + b"\n")
        try:
            async with asyncio.timeout(LIMIT_S):
                line = await process.stdout.readline()
        except TimeoutError:
            await self.close()
            return Answered("", f"no answer in {LIMIT_S:.0f} s")
        if not line:
            await self.close()
            return Answered("", "the framework ended")
        answer = json.loads(line)
        return Answered(answer["text"], answer["error"])

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=1 << 22,
            )
            assert self._process.stdout is not None
            async with asyncio.timeout(START_S):
                await self._process.stdout.readline()
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@asynccontextmanager
async def opened(args: argparse.Namespace, folder: Path) -> AsyncIterator[dict[str, Any]]:
    """Yield what opens each system, over one library in ``folder``."""
    paragraphs, _questions = load_hotpot(args.data / "hotpot" / "questions.jsonl")
    (folder / "paragraphs").mkdir()
    write_library(paragraphs, folder / "paragraphs")
    file = await asyncio.to_thread(weights, args.model)
    documents = [examples() / "documents", folder / "paragraphs"]
    async with open_shelves(documents, folder) as shelf:
        index = folder / "library.sqlite3"

        @asynccontextmanager
        async def by_server(name: str) -> AsyncIterator[System]:
            with tool_call_server(file, folder / f"{name}.log", library=index) as server:
                if name == "server":
                    async with server_system(server, shelf) as system:
                        yield system
                    return
                framework = Framework(args.python, name, server)
                try:
                    yield System(framework.ask, served_requests(server))
                finally:
                    await framework.close()

        yield {
            name: (lambda: local_system(args.model, shelf))
            if name == "local"
            else (lambda name=name: by_server(name))
            for name in args.systems
        }


async def answer(system: System, args: argparse.Namespace, name: str, asked: Posed) -> Row:
    """Let ``system`` answer one question; return what came of it and what it cost."""
    origin, question = asked
    began = time.monotonic()
    answered = await system.ask(question.text)
    seconds = time.monotonic() - began
    spent = await asyncio.to_thread(system.spent)
    verdict = judged(origin, question, answered.text)
    return {
        "model": args.model,
        "system": name,
        "id": question.id,
        "origin": origin,
        "question": question.text,
        "text": answered.text,
        "error": answered.error,
        "right": verdict.right,
        "why": verdict.why,
        "seconds": round(seconds, 1),
        "requests": len(spent),
        "processed_tokens": sum(each.get("evaluated_tokens", 0) for each in spent),
        "prompt_tokens": sum(each.get("prompt_tokens", 0) for each in spent),
        "output_tokens": sum(each.get("output_tokens", 0) for each in spent),
    }


@dataclass(frozen=True)
class Left:
    """What is still to be asked of each system, and until when (`time.monotonic`)."""

    questions: dict[str, list[Posed]]
    until: float

    @property
    def late(self) -> bool:
        """Whether no other question may be begun."""
        return time.monotonic() > self.until


def left(args: argparse.Namespace, rows: Sequence[Row]) -> Left:
    """Return what is wanted and not in ``rows``."""
    shipped = load_questions(examples() / "questions.toml")
    _paragraphs, hotpot = load_hotpot(args.data / "hotpot" / "questions.jsonl")
    wanted = posed(shipped, hotpot)[args.first : args.first + args.n]
    done = {(row["model"], row["system"], row["id"]) for row in rows}
    todo = {
        name: [one for one in wanted if (args.model, name, one[1].id) not in done]
        for name in args.systems
    }
    until = time.monotonic() + 60 * args.minutes
    return Left({name: questions for name, questions in todo.items() if questions}, until)


async def run(args: argparse.Namespace, rows: Sequence[Row], add: Callable[[Row], None]) -> bool:
    """Ask what is not answered yet; return whether any question was left for lack of time."""
    todo = left(args, rows)
    with tempfile.TemporaryDirectory(prefix="voice-agent-frameworks-") as folder:
        async with opened(args, Path(folder)) as systems:
            for name in todo.questions:
                await ask_one(args, name, systems[name], todo, add=add)
    return any(todo.questions.values())


async def ask_one(
    args: argparse.Namespace,
    name: str,
    opening: Callable[[], AbstractAsyncContextManager[System]],
    todo: Left,
    *,
    add: Callable[[Row], None],
) -> None:
    """Ask one system its questions, as long as there is time."""
    if todo.late:
        return
    questions = todo.questions[name]
    async with opening() as system:
        while questions and not todo.late:
            add(await answer(system, args, name, questions[0]))
            del questions[0]


def main(argv: Sequence[str]) -> int:
    """Run the benchmark; return 0, or 3 where questions are left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, metavar="DIR")
    parser.add_argument("--python", type=Path, default=Path(sys.executable), metavar="PYTHON")
    parser.add_argument("--model", default=MODEL, metavar="NAME")
    parser.add_argument("--systems", type=lambda s: s.split(","), default=list(SYSTEMS))
    parser.add_argument("--first", type=int, default=0, help="number of the first question")
    parser.add_argument("--n", type=int, default=24, help="how many questions (default: 24)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin none after")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="keeps a line an answer")
    args = parser.parse_args(argv)

    def add(row: Row) -> None:
        kept.add(row)
        right = "right" if row["right"] else f"WRONG ({row['why']})"
        shown = " ".join((row["text"] or row["error"]).split())[:100]
        print(f"{row['system']:12} {row['origin']:9} {row['seconds']:6.1f} s  {right}: {shown}")
        sys.stdout.flush()

    try:
        kept = Rows(args.rows)
        late = asyncio.run(run(args, kept.all(), add))
    except VoiceAgentError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    if kept.all():
        print(f"\n{table(kept.all())}")
    return LATE if late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
