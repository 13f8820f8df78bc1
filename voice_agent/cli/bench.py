"""``bench``: right answers and times over questions whose answers are known."""

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.cli.arguments import count
from voice_agent.cli.output import JsonLines, StandardOutput, say

if TYPE_CHECKING:
    from voice_agent.bench.figures import Benchmark, Mode, QuestionAnswered
    from voice_agent.bench.questions import Question
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Event, Listener
    from voice_agent.settings import Settings


def add(verbs: "Verbs") -> None:
    """Add the verb ``bench``."""
    from voice_agent.cli import bench_desk, bench_parts

    bench = verbs.add_parser(
        "bench",
        help="measure right answers and times",
        description="Without WHAT, as 'answers': asks the questions to the example documents, "
        "typed and then spoken, and prints how many answers were right and how long they took. "
        "Settings and models are yours; library and record are temporary.",
    )
    what = bench.add_subparsers(dest="what", metavar="WHAT")
    answers = what.add_parser(
        "answers",
        help="right answers and times, without sound devices",
        argument_default=argparse.SUPPRESS,
    )
    for parser in (bench, answers):
        _add_options(parser)
    bench_desk.add(what)
    bench_parts.add(what)


def _add_options(bench: argparse.ArgumentParser) -> None:
    bench.add_argument("--typed", action="store_true", help="only typed questions")
    bench.add_argument("--spoken", action="store_true", help="only spoken ones, said by the voice")
    bench.add_argument("--limit", type=count, metavar="N", help="only the first N questions")
    bench.add_argument("--ids", metavar="IDS", help="only these, such as q01,q02")
    bench.add_argument("--model", metavar="NAME", help="language model; see 'models list'")
    bench.add_argument("--questions", type=Path, metavar="F", help="other questions (TOML)")
    bench.add_argument("--documents", type=Path, metavar="DIR", help="other documents")
    bench.add_argument("--json", action="store_true", help="one JSON object a line")
    bench.set_defaults(run=_bench)


def _bench(args: argparse.Namespace) -> int:
    from voice_agent.bench.questions import chosen, examples, load_questions
    from voice_agent.settings import load_settings

    file = args.questions or examples() / "questions.toml"
    documents = args.documents or examples() / "documents"
    questions = chosen(load_questions(file), ids=args.ids, limit=args.limit)
    settings = with_model(load_settings().settings, args.model)
    modes = modes_of(typed=args.typed, spoken=args.spoken)
    show: Listener = _lines()
    if args.json:
        show = JsonLines(StandardOutput())
    return asyncio.run(_run(settings, documents, questions, modes=modes, show=show))


def with_model(settings: "Settings", name: str | None) -> "Settings":
    """Return ``settings`` with another language model; raises SettingsError if it is none.

    With a server it is the model's name there, which only the server knows.
    """
    from voice_agent.settings.loading import check

    if name is None:
        return settings
    field = "model" if settings.llm.provider == "local" else "remote_model"
    check(f"llm.{field}", name, mend="Give --model one of these.")
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={field: name})})


def modes_of(*, typed: bool, spoken: bool) -> "list[Mode]":
    """Return the ways to ask, in order; both where none was named."""
    both = typed == spoken
    asked: list[tuple[Mode, bool]] = [("typed", typed or both), ("spoken", spoken or both)]
    return [mode for mode, wanted in asked if wanted]


async def _run(
    settings: "Settings",
    documents: Path,
    questions: "list[Question]",
    *,
    modes: "list[Mode]",
    show: "Listener",
) -> int:
    from voice_agent.bench.run import Bench, SilentSpeaker, open_bench
    from voice_agent.cli.parser import CANCELLED
    from voice_agent.cli.signals import caught
    from voice_agent.daemon import Wanted
    from voice_agent.places import places

    wanted = Wanted(stt="spoken" in modes, speaker=SilentSpeaker())
    results: list[QuestionAnswered] = []
    async with open_bench(settings, places(), documents, wanted) as stages:
        bench = Bench(stages)
        with caught(lambda sent: bench.cancel(sent.name)):
            async for result in bench.results(questions, modes):
                results.append(result)
                show(result)
            show(_summary(results, modes, settings.llm.model_in_use, interrupted=bench.interrupted))
    return CANCELLED if bench.interrupted else 0


def _summary(
    results: "list[QuestionAnswered]", modes: "list[Mode]", model: str, *, interrupted: bool
) -> "Benchmark":
    from voice_agent.bench.figures import Benchmark, figures

    by_mode = {mode: figures([r for r in results if r.mode == mode]) for mode in modes}
    return Benchmark(
        model=model,
        questions=len(results),
        typed=by_mode.get("typed"),
        spoken=by_mode.get("spoken"),
        interrupted=interrupted,
    )


def _lines() -> "Listener":
    """Return a listener that writes a line a question, and the table."""
    from voice_agent.bench.figures import Benchmark, QuestionAnswered
    from voice_agent.bench.report import line, table

    def show(event: "Event") -> None:
        if isinstance(event, QuestionAnswered):
            say(line(event))
        elif isinstance(event, Benchmark):
            say(f"\n{table(event)}")

    return show
