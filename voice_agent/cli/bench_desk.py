"""``bench barge-in``, ``latency`` and ``idle``: at a virtual desk with sound devices of its own."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice_agent.cli.measuring import listener, measured

if TYPE_CHECKING:
    from voice_agent.bench.clips import Clips
    from voice_agent.bench.first_sound import AnsweredAloud
    from voice_agent.bench.interruption import Interrupted, State
    from voice_agent.bench.latency import Exchange
    from voice_agent.bench.questions import Question
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Listener
    from voice_agent.settings import Settings

_NOTE = (
    " Starts a sound server of its own with a virtual microphone and loudspeaker, and 'run' on it."
)


@dataclass(frozen=True)
class _Setting:
    """What a measurement works with; ``overrides`` are environment variables of the child."""

    settings: "Settings"
    documents: Path
    questions: "list[Question]"
    overrides: dict[str, str]
    show: "Listener"


Measure = Callable[[argparse.Namespace, _Setting], Coroutine[Any, Any, None]]


def add(what: "Verbs") -> None:
    """Add what is measured at a virtual desk."""
    from voice_agent.cli.arguments import count

    barge_in = what.add_parser(
        "barge-in",
        help="how soon the wake word silences it, in every state",
        description="Says the wake word while it thinks and speaks, and measures in a recording "
        "of the loudspeaker how soon it is silent." + _NOTE,
    )
    barge_in.add_argument("--runs", type=count, default=24, metavar="N", help="how many (24)")
    barge_in.add_argument(
        "--watch", type=count, default=8, metavar="S", help="seconds of silence to see (8)"
    )
    latency = what.add_parser(
        "latency",
        help="from the last word to the first sound, stage by stage",
        description="Asks questions aloud, measures in recordings how long the answer lets wait, "
        "and judges the recorded answers." + _NOTE,
    )
    latency.add_argument(
        "--questions", type=count, default=20, metavar="N", help="how many of the examples' (20)"
    )
    latency.add_argument("--ids", metavar="IDS", help="only these, such as q01,q02")
    latency.add_argument("--svg", type=Path, metavar="FILE", help="the stages as a picture")
    idle = what.add_parser(
        "idle",
        help="processor time and memory while nobody speaks",
        description="Lets it listen to silence, then to noise." + _NOTE,
    )
    idle.add_argument(
        "--minutes", type=_minutes, default=1.0, metavar="M", help="how long each (1)"
    )
    measures: dict[str, tuple[argparse.ArgumentParser, Measure]] = {
        "barge-in": (barge_in, _barge_in),
        "latency": (latency, _latency),
        "idle": (idle, _idle),
    }
    for name, (parser, measure) in measures.items():
        if name != "idle":
            parser.add_argument(
                "--wake", type=Path, metavar="FILE", help="a recording of the wake word"
            )
        parser.add_argument("--model", metavar="NAME", help="language model; see 'models list'")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.set_defaults(run=_runner(measure))


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 24 * 60:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes")
    return minutes


def _runner(measure: Measure) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        from voice_agent.bench.desk_report import shown
        from voice_agent.bench.questions import examples, load_questions
        from voice_agent.bench.sound_server import check_installed
        from voice_agent.cli.bench import with_model
        from voice_agent.settings import load_settings

        check_installed()
        settings = with_model(load_settings().settings, args.model)
        setting = _Setting(
            settings=settings,
            documents=examples() / "documents",
            questions=load_questions(examples() / "questions.toml"),
            overrides={"VOICE_AGENT_LLM__MODEL": settings.llm.model},
            show=listener(shown, json=args.json),
        )
        return measured(measure(args, setting))

    return run


async def _barge_in(args: argparse.Namespace, setting: _Setting) -> None:
    from voice_agent.bench.barge_in import FORCED
    from voice_agent.bench.interruption import STATES, barge_in

    aims = [STATES[n % len(STATES)] for n in range(args.runs)]
    forced: list[State] = [aim for aim in aims if aim == "final answer"]
    plain: list[State] = [aim for aim in aims if aim != "final answer"]
    known = next(question for question in setting.questions if question.answerable)
    unknown = next(question for question in setting.questions if not question.answerable)
    results: list[Interrupted] = []
    async with _clips(setting.settings, args.wake) as clips:
        for question, chosen_aims, overrides in ((known, plain, {}), (unknown, forced, FORCED)):
            runs = _Runs(chosen_aims, first=len(results) + 1, watch_s=args.watch)
            async for result in _interrupted(setting, clips, (question, overrides), runs):
                results.append(result)
                setting.show(result)
    setting.show(barge_in(results, args.watch))


@dataclass(frozen=True)
class _Runs:
    """What to aim at, the number of the first run, and how long to watch the loudspeaker."""

    aims: "list[State]"
    first: int
    watch_s: float


async def _interrupted(
    setting: _Setting, clips: "Clips", asked: "tuple[Question, dict[str, str]]", runs: _Runs
) -> "AsyncIterator[Interrupted]":
    """Interrupt the answer to one question, by an assistant that has some settings of its own."""
    import random

    from voice_agent.bench.assistant import virtual_desk
    from voice_agent.bench.barge_in import SLOWLY, Interruptions, run_on
    from voice_agent.places import places

    if not runs.aims:
        return
    question, overrides = asked
    wake, clip = clips.wake(), await clips.question(question.id, question.text)
    long = await clips.question("long", run_on(setting.questions[:3]))
    env = setting.overrides | SLOWLY | overrides
    async with virtual_desk(places(), setting.documents, env) as desk:
        going = Interruptions(desk, wake, watch_s=runs.watch_s, chance=random.Random(1))
        async for result in going.results(clip, long, runs.aims, first=runs.first):
            yield result


async def _latency(args: argparse.Namespace, setting: _Setting) -> None:
    from voice_agent.bench.assistant import virtual_desk
    from voice_agent.bench.first_sound import latency, picture
    from voice_agent.bench.latency import exchanges, judged
    from voice_agent.bench.questions import chosen
    from voice_agent.places import places
    from voice_agent.speech_models import load_transcriber

    answerable = [question for question in setting.questions if question.answerable]
    questions = chosen(
        setting.questions if args.ids else answerable, ids=args.ids, limit=args.questions
    )
    taken: list[Exchange] = []
    async with _clips(setting.settings, args.wake) as clips:
        asked = [(each, await clips.question(each.id, each.text)) for each in questions]
        async with virtual_desk(places(), setting.documents, setting.overrides) as desk:
            ready_s = desk.ready_s
            async for exchange in exchanges(desk, asked):
                taken.append(exchange)
                sys.stderr.write(f"voice-agent: {exchange.question.id} was asked.\n")
    results: list[AnsweredAloud] = []
    with await load_transcriber(setting.settings.stt, places().models) as transcriber:
        for exchange in taken:
            results.append(await judged(exchange, transcriber, setting.settings.stt.language))
            setting.show(results[-1])
    figures = latency(results, model=setting.settings.llm.model, ready_s=ready_s)
    setting.show(figures)
    if args.svg is not None:
        _write(args.svg, picture(figures))


def _write(file: Path, text: str) -> None:
    from voice_agent.errors import UsageError

    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(
            f"{file} cannot be written: {reason}.",
            mend="Name a file in a folder that exists and is yours.",
        ) from error


async def _idle(args: argparse.Namespace, setting: _Setting) -> None:
    from voice_agent.bench.assistant import virtual_desk
    from voice_agent.bench.idle import idle_costs
    from voice_agent.places import places

    with tempfile.TemporaryDirectory(prefix="voice-agent-bench-") as folder:
        async with virtual_desk(places(), setting.documents, setting.overrides) as desk:
            async for cost in idle_costs(desk, Path(folder), args.minutes):
                setting.show(cost)


@asynccontextmanager
async def _clips(settings: "Settings", wake: Path | None) -> "AsyncIterator[Clips]":
    """Have the voice say what is played into the microphone; see that the wake word is heard."""
    from voice_agent.bench.clips import Clips, wake_sound
    from voice_agent.places import places
    from voice_agent.speech_models import load_voice

    with (
        await asyncio.to_thread(load_voice, settings.tts.voice, places().models) as voice,
        tempfile.TemporaryDirectory(prefix="voice-agent-bench-") as folder,
    ):
        yield Clips(Path(folder), voice, await wake_sound(settings, voice, wake))
