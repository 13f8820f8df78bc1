"""The assistant beside a stock voice pipeline: the same spoken questions, models and evidence.

    PYTHONPATH=. python benchmarks/stock.py [--questions 30] [--ids q01,q02] [--rows FILE]
        [--minutes M] [--pipelines ours,stock] [--model NAME] [--wake FILE] [--json]

Both wait at one virtual desk and take turns on each question, another one first each time; what
they hear is the same recording, for ours after the wake word. The wait is measured in recordings of
microphone and loudspeaker, from the last word to the answer's first sound; the recorded answers are
judged. --rows keeps a line an answer (JSON); a question that all of them were asked is not asked
again, so that a long run can be made in parts; with --minutes no question is begun after so long
(exit code 3 where any is left). The table is of all lines with this model.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound, read_recording, write_wav
from voice_agent.bench.assistant import VirtualDesk, virtual_desk
from voice_agent.bench.clips import Clip, Clips, wake_sound
from voice_agent.bench.idle import cpu_seconds
from voice_agent.bench.latency import TURN_S, Exchange, exchanges, judged, recorded_answer
from voice_agent.bench.questions import Question, chosen, examples, load_questions
from voice_agent.bench.rows import Row, Rows
from voice_agent.bench.side_by_side import OURS, figures, order, row, table, unasked
from voice_agent.catalogue import Catalogue, locate_weights
from voice_agent.cli.bench import with_model
from voice_agent.engine import usable_cores
from voice_agent.errors import ModelError, VoiceAgentError
from voice_agent.events import Timings
from voice_agent.library import Library
from voice_agent.places import places
from voice_agent.settings import Settings, load_settings
from voice_agent.speech_models import load_transcriber, load_voice
from voice_agent.stt import Transcriber

PIPELINES = (OURS, "stock")
START_S = 300.0
LISTEN_S = 60.0
LATE = 3
BUSY = 0.3
QUIET_S = 60.0
LOG_CHARS = 1_000

Ask = Callable[[Question, Clip], Awaitable[Exchange]]


class Peer:
    """Another pipeline at the desk, in a process of its own; it listens when it is told to."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self._name = name
        self._process = process
        self._log = log

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    async def told(self, event: str, timeout_s: float) -> dict[str, Any]:
        """Return its next event so named. Raises ModelError where none comes."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._next(event)
        except TimeoutError:
            raise ModelError(f"{self._name}: no {event!r} came in {timeout_s:.0f} s.") from None

    async def _next(self, event: str) -> dict[str, Any]:
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            found: dict[str, Any] = json.loads(line)
            if found["event"] == event:
                return found
        written = self._log.read_text("utf-8", "replace")[-LOG_CHARS:]
        raise ModelError(f"{self._name} has ended: {written}")

    async def ask(self, desk: VirtualDesk, question: Question, clip: Clip) -> Exchange:
        """Let it listen, ask ``question`` without the wake word, and return what came of it."""
        assert self._process.stdin is not None
        told_before = len(desk.events.told)
        self._process.stdin.write(b"listen\n")
        await self.told("listening", LISTEN_S)
        alone = await asyncio.to_thread(without_wake_word, clip)
        said_s = await desk.say(alone.file)
        answer = await self.told("answer", TURN_S)
        recorded = await recorded_answer(desk, alone, said_s, said_s)
        listened = {each.name for each in desk.events.told[told_before:]} & {"wake", "utterance"}
        return Exchange(
            question=question,
            understood=answer.get("understood", ""),
            written=answer.get("text", ""),
            failure=answer.get("failure", "") or ("ours listened, too" if listened else ""),
            answer=recorded.answer,
            word_to_sound_s=recorded.word_to_sound_s,
            timings=Timings(**answer.get("timings", {})),
        )


def without_wake_word(clip: Clip) -> Clip:
    """Return the question of ``clip`` alone, in a file beside it."""
    samples = read_recording(clip.file).samples[round(clip.question_s * SAMPLE_RATE_HZ) :]
    file = clip.file.with_name(f"{clip.file.stem}-alone.wav")
    write_wav(file, Sound(np.ascontiguousarray(samples), SAMPLE_RATE_HZ))
    return Clip(file, len(samples) / SAMPLE_RATE_HZ)


@asynccontextmanager
async def peer(
    name: str, command: Sequence[str], env: Mapping[str, str], log: Path
) -> AsyncIterator[Peer]:
    """Start another pipeline, wait until it is ready, and end it. Raises ModelError."""
    with log.open("wb") as written:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=written,
            limit=1 << 22,
        )
    try:
        started = Peer(name, process, log)
        await started.told("ready", START_S)
        yield started
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def stock_command(settings: Settings, library: Path) -> list[str]:
    """Return the command of the stock pipeline, with the assistant's own models and threads."""
    catalogue, models = Catalogue.load(), places().models
    files = {
        "--whisper": locate_weights(catalogue.model(settings.stt.model), models).parent,
        "--gguf": locate_weights(catalogue.model(settings.llm.model), models),
        "--voice": locate_weights(catalogue.model(settings.tts.voice), models),
        "--library": library,
        "--threads": settings.llm.thread_count(usable_cores()),
        "--language": settings.stt.language,
    }
    options = [part for name, value in files.items() for part in (name, str(value))]
    return [sys.executable, str(Path(__file__).with_name("stock_runner.py")), *options]


@dataclass(frozen=True)
class Together:
    """All pipelines at the desk: how each is asked, and the processes that must be quiet."""

    ask: dict[str, Ask]
    pids: list[int]
    follow_up_s: float

    async def quiet(self) -> None:
        """Wait until none is at work any more, and a question without wake word is not ours."""
        await asyncio.sleep(self.follow_up_s + 0.5)
        until_s = time.monotonic() + QUIET_S
        while time.monotonic() < until_s:
            before_s = sum(map(cpu_seconds, self.pids))
            await asyncio.sleep(1)
            if sum(map(cpu_seconds, self.pids)) - before_s < BUSY:
                return


@asynccontextmanager
async def together(args: argparse.Namespace, settings: Settings) -> AsyncIterator[Together]:
    """Start all pipelines at one desk, and end them."""
    documents = examples() / "documents"
    overrides = {"VOICE_AGENT_LLM__MODEL": settings.llm.model}
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="voice-agent-stock-")))
        with Library.open(folder / "library.sqlite3") as library:
            await asyncio.to_thread(library.add, documents)
        desk = await stack.enter_async_context(virtual_desk(places(), documents, overrides))

        async def ours(question: Question, clip: Clip) -> Exchange:
            return [each async for each in exchanges(desk, [(question, clip)])][0]

        asks: dict[str, Ask] = {OURS: ours}
        pids = [desk.process.pid]
        env = desk.server.env | {"OMP_WAIT_POLICY": "passive"}
        commands = {"stock": stock_command(settings, folder / "library.sqlite3")}
        for name in (name for name in args.pipelines if name != OURS):
            log = folder / f"{name}.log"
            other = await stack.enter_async_context(peer(name, commands[name], env, log))
            asks[name] = lambda question, clip, other=other: other.ask(desk, question, clip)
            pids.append(other.pid)
        yield Together(asks, pids, settings.listen.follow_up_s)


@dataclass(frozen=True)
class Judging:
    """What says the questions, and what hears the answers."""

    clips: Clips
    transcriber: Transcriber
    language: str


@asynccontextmanager
async def judging(args: argparse.Namespace, settings: Settings) -> AsyncIterator[Judging]:
    """Load both."""
    with ExitStack() as stack:
        models = places().models
        voice = stack.enter_context(await asyncio.to_thread(load_voice, settings.tts.voice, models))
        transcriber = stack.enter_context(await load_transcriber(settings.stt, models))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="voice-agent-stock-"))
        wake = await wake_sound(settings, voice, args.wake)
        yield Judging(Clips(Path(folder), voice, wake), transcriber, settings.stt.language)


async def run(
    args: argparse.Namespace, settings: Settings, rows: Sequence[Row], add: Callable[[Row], None]
) -> bool:
    """Ask what is not answered yet; return whether any question was left for lack of time."""
    questions = load_questions(examples() / "questions.toml")
    answerable = [question for question in questions if question.answerable]
    wanted = chosen(questions if args.ids else answerable, ids=args.ids, limit=args.questions)
    model = settings.llm.model
    left = unasked(wanted, rows, model=model, pipelines=args.pipelines)
    until_s = time.monotonic() + 60 * args.minutes
    if not left or args.minutes <= 0:
        return bool(left)
    async with judging(args, settings) as judge, together(args, settings) as desk:
        while left and time.monotonic() < until_s:
            clip = await judge.clips.question(left[0].id, left[0].text)
            for name in order(args.pipelines, wanted.index(left[0])):
                await desk.quiet()
                exchange = await desk.ask[name](left[0], clip)
                result = await judged(exchange, judge.transcriber, judge.language)
                add(row(model, name, result))
            del left[0]
    return bool(left)


def shown(answer: Row) -> str:
    """Return what a person reads of one answer."""
    right = "right" if answer["right"] else f"WRONG ({answer['why']})"
    wait_s = answer["word_to_sound_s"]
    wait = "   -  " if wait_s is None else f"{wait_s:6.2f}"
    heard = " ".join(answer["heard_answer"].split())[:80]
    return f"{answer['pipeline']:8} {answer['id']:5} {wait} s  {right}: {heard}"


def main(argv: Sequence[str]) -> int:
    """Run the benchmark; return 0, or 3 where questions are left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=30, metavar="N", help="how many (30)")
    parser.add_argument("--ids", metavar="IDS", help="only these, such as q01,q02")
    parser.add_argument("--pipelines", type=lambda s: s.split(","), default=list(PIPELINES))
    parser.add_argument("--model", metavar="NAME", help="language model; see 'models list'")
    parser.add_argument("--wake", type=Path, metavar="FILE", help="a recording of the wake word")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin none after")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="keeps a line an answer")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    args = parser.parse_args(argv)
    if unknown := set(args.pipelines) - set(PIPELINES):
        parser.error(f"unknown pipelines: {', '.join(sorted(unknown))}")

    def add(answer: Row) -> None:
        kept.add(answer)
        print(json.dumps(answer, ensure_ascii=False) if args.json else shown(answer), flush=True)

    try:
        kept = Rows(args.rows)
        settings = with_model(load_settings().settings, args.model)
        late = asyncio.run(run(args, settings, kept.all(), add))
    except VoiceAgentError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    done = figures(kept.all(), model=settings.llm.model, pipelines=args.pipelines)
    if args.json:
        print(json.dumps({"model": settings.llm.model, "pipelines": [asdict(p) for p in done]}))
    else:
        print(f"\n{table(done)}")
    return LATE if late else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
