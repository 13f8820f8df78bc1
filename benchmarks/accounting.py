"""Whether what a reply is charged is what it cost: the seam's own count beside llama.cpp's.

    PYTHONPATH=. python benchmarks/accounting.py [--first 0] [--n 30] [--rows FILE]
    PYTHONPATH=. python benchmarks/accounting.py --remote [--first 0] [--n 10] [--rows FILE]

The shipped questions are answered in three ways, in turn: as shipped, with a verdict on each
draft, and by a model that must search by itself with few tokens. With --remote the model is a
server's: one that sends usage figures, and llama-cpp-python's own, which sends none in a stream.
--rows keeps a line a reply (JSON); what stands in it is not asked again, so that a long run can be
made in parts; the table and the verdict are of all lines. The exit code is 1 where a figure does
not match.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice_agent.bench.accounts import estimates, faults, table, verdict
from voice_agent.bench.metered import Metered, MeteredModel
from voice_agent.bench.questions import Question, examples, load_questions
from voice_agent.bench.researching import shelves_of, weights
from voice_agent.bench.rows import Row, Rows
from voice_agent.bench.servers import ModelServer, ask_json, llama_cpp_server, tool_call_server
from voice_agent.engine import Engine, StopFlag, usable_cores
from voice_agent.errors import VoiceAgentError
from voice_agent.events import Event, Round
from voice_agent.llm.access import Access
from voice_agent.llm.counting import plain_tokens
from voice_agent.llm.llama import Llama
from voice_agent.llm.local import LocalModel
from voice_agent.llm.model import Message, Request
from voice_agent.llm.remote import RemoteModel
from voice_agent.llm.wire import body_of, prompt_of
from voice_agent.research.loop import Inquiry, ResearchLoop
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.settings import Settings
from voice_agent.thinking import Shelves, research_over

MODEL = "qwen2.5-coder-0.5b-instruct"
NAME = "served"
CONTEXT_TOKENS = 8192
ANSWER_TOKENS = 4096
VERDICT_TOKENS = 2048
SEQUENCES = 3
FEW_TOKENS = 5_000
VERDICT = 0.75
RESEARCH_S = 60.0
ANSWER_S = 30.0


@dataclass(frozen=True)
class Way:
    """One way to answer: the research, its metered model, and what else is known of a reply.

    ``more`` gets the requests of a reply once it is over, and returns further figures of its row.
    """

    name: str
    research: ResearchLoop
    model: MeteredModel
    more: Callable[[Sequence[Metered]], Mapping[str, Any]]


def settings_of(**sections: dict[str, Any]) -> Settings:
    """Return the shipped settings with bounded times, and ``sections`` over them."""
    research = {"timeout_s": RESEARCH_S} | sections.pop("research", {})
    return Settings.model_validate(
        {"research": research, "answer": {"timeout_s": ANSWER_S}, **sections}
    )


@asynccontextmanager
async def local_ways() -> AsyncIterator[list[Way]]:
    """Open the small model on this machine, and three ways to answer with it."""
    engine = Engine("llm")
    tokens = CONTEXT_TOKENS + ANSWER_TOKENS + VERDICT_TOKENS
    llama = await engine.run(
        lambda: Llama(
            weights(MODEL), context_tokens=tokens, threads=usable_cores(), sequences=SEQUENCES
        )
    )
    model = LocalModel(llama, engine, context_tokens=CONTEXT_TOKENS, answer_tokens=ANSWER_TOKENS)
    metered = MeteredModel(model, model)
    searching = settings_of(research={"prefetch": False, "token_budget": FEW_TOKENS})
    last = 0

    def counted(_requests: Sequence[Metered]) -> dict[str, int]:
        nonlocal last
        before, last = last, llama.counted_tokens()
        return {"counted": last - before}

    try:
        async with shelves_of(examples() / "documents") as shelf:
            loops = {
                "as shipped": research_over(
                    settings_of(), metered, shelf, sufficiency=Sufficiency(metered, 0.0)
                ),
                "verdicts": research_over(
                    settings_of(), metered, shelf, sufficiency=Sufficiency(metered, VERDICT)
                ),
                "searching": research_over(searching, metered, shelf, sufficiency=None),
            }
            for opening in loops["as shipped"].openings():
                await model.prepare(opening)
            await _warm_up(model)
            counted(())
            yield [Way(name, loop, metered, counted) for name, loop in loops.items()]
    finally:
        await model.close()
        engine.close()


async def _warm_up(model: LocalModel) -> None:
    """Generate a little: of what was never done llama.cpp's counters say one in place of none."""
    hello = (Message("user", "Hello"),)
    async for _piece in model.stream(Request(hello, 4, StopFlag(), deadline=float("inf"))):
        pass


@asynccontextmanager
async def remote_ways(folder: Path) -> AsyncIterator[list[Way]]:
    """Open two servers with the small model, and for each a way to answer with it."""
    file = await asyncio.to_thread(weights, MODEL)
    async with AsyncExitStack() as opened:
        shelf = await opened.enter_async_context(shelves_of(examples() / "documents"))
        with_usage = opened.enter_context(tool_call_server(file, folder / "with-usage"))
        without = opened.enter_context(
            llama_cpp_server(file, folder / "without", name=NAME, context_tokens=CONTEXT_TOKENS)
        )
        noted = 0

        def as_served(requests: Sequence[Metered]) -> dict[str, Any]:
            nonlocal noted
            served = ask_json(f"{with_usage.root}/requests?from={noted}")
            noted += len(served)
            usage = [row["prompt_tokens"] for row in served]
            return {"served": served, "usage": usage}

        def asked_again(requests: Sequence[Metered]) -> dict[str, Any]:
            return {"usage": [_usage(without, each) for each in requests]}

        yield [
            await _remote_way("usage sent", with_usage, shelf, opened=opened, more=as_served),
            await _remote_way("none sent", without, shelf, opened=opened, more=asked_again),
        ]


async def _remote_way(
    name: str,
    server: ModelServer,
    shelf: Shelves,
    *,
    opened: AsyncExitStack,
    more: Callable[[Sequence[Metered]], Mapping[str, Any]],
) -> Way:
    model = RemoteModel(Access(server.address, NAME), context_tokens=CONTEXT_TOKENS)
    opened.push_async_callback(model.close)
    metered = MeteredModel(model)
    settings = settings_of(llm={"provider": "openai"})
    return Way(name, research_over(settings, metered, shelf, sufficiency=None), metered, more)


def _usage(server: ModelServer, metered: Metered) -> int:
    """Ask a request again, not as a stream, for the usage figure that comes only so."""
    body = body_of(metered.request, NAME) | {"stream": False, "max_tokens": 1}
    del body["stream_options"]
    return int(ask_json(f"{server.address}/chat/completions", body)["usage"]["prompt_tokens"])


async def account(way: Way, n: int, question: Question) -> Row:
    """Answer one question; return what it was charged beside what it cost."""
    events: list[Event] = []
    reply = await way.research.reply(Inquiry(question.text, n, StopFlag(), events.append))
    requests = way.model.take()
    more = dict(await asyncio.to_thread(way.more, requests))
    usage = more.pop("usage", None)
    row = {
        "n": n,
        "id": question.id,
        "way": way.name,
        "basis": reply.ending.basis,
        "reason": reply.ending.reason,
        "charged": reply.charged_tokens,
        "answer_tokens": reply.ending.answer_tokens,
        "told": sum(event.charged for event in events if isinstance(event, Round)),
        "requests": [each.row() for each in requests],
        "exact": usage is None,
        **more,
    }
    for each, noted, counted in zip(requests, row["requests"], usage or (), strict=False):
        noted["plain_tokens"] = plain_tokens(prompt_of(each.request).size_bytes)
        noted["usage_prompt_tokens"] = counted
    return row


async def run(args: argparse.Namespace, rows: Rows) -> None:
    """Account for the replies that are asked for and not in ``rows``, one after another."""
    questions = load_questions(examples() / "questions.toml")
    done = {row["n"] for row in rows.all()}
    numbers = [n for n in range(args.first, args.first + args.n) if n not in done]
    with tempfile.TemporaryDirectory(prefix="voice-agent-servers-") as folder:
        opening = remote_ways(Path(folder)) if args.remote else local_ways()
        async with opening as ways:
            for n in numbers:
                rows.add(await account(ways[n % len(ways)], n, questions[n % len(questions)]))


def main(argv: Sequence[str]) -> int:
    """Run the benchmark; return 0 where all matches, 1 where anything does not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--remote", action="store_true", help="with models on servers")
    parser.add_argument("--first", type=int, default=0, help="number of the first reply")
    parser.add_argument("--n", type=int, help="how many replies (default: 30, remote 10)")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="keeps a line a reply")
    args = parser.parse_args(argv)
    args.n = (10 if args.remote else 30) if args.n is None else args.n
    try:
        kept = Rows(args.rows)
        asyncio.run(run(args, kept))
    except VoiceAgentError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    rows = kept.all()
    if args.remote:
        print(estimates(rows), end="\n\n")
    print(table(rows), verdict(rows), sep="\n\n")
    return 1 if any(map(faults, rows)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
