"""``bench stt``, ``tts``, ``llm`` and ``library``: the parts alone, without sound devices."""

import argparse
import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice_agent.cli.arguments import count, count_to
from voice_agent.cli.measuring import listener, measured
from voice_agent.cli.output import say

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Listener

Measure = Callable[[argparse.Namespace, "Listener"], Coroutine[Any, Any, None]]

_MOST_PASSAGES = 10_000_000


def add(what: "Verbs") -> None:
    """Add what is measured of single parts."""
    for add_parser in (_stt_parser, _tts_parser, _llm_parser, _library_parser):
        parser, measure = add_parser(what)
        parser.add_argument("--json", action="store_true", help="one JSON object a line")
        parser.set_defaults(run=_runner(measure))


def _stt_parser(what: "Verbs") -> tuple[argparse.ArgumentParser, Measure]:
    stt = what.add_parser(
        "stt",
        help="time and misheard words of speech to text, beside the library's own way",
        description="Transcribes each recording as the assistant does and as faster-whisper does "
        "by itself, with the same model and threads, in turn. FILE is a recording, its text beside "
        "it in a file that ends in .txt.",
    )
    stt.add_argument("files", nargs="*", type=Path, metavar="FILE", help="a recording")
    stt.add_argument("--data", type=Path, metavar="DIR", help="a folder with a transcripts.tsv")
    stt.add_argument("--limit", type=count, metavar="N", help="only N, spread over all of them")
    stt.add_argument("--model", metavar="NAME", help="speech model; see 'models list'")
    stt.add_argument("--no-curve", action="store_true", help="leave out the other paddings")
    return stt, _stt


def _tts_parser(what: "Verbs") -> tuple[argparse.ArgumentParser, Measure]:
    tts = what.add_parser(
        "tts",
        help="first sound and speed of the voice",
        description="Says sentences of the example documents: whole, and the first clause and the "
        "rest of each alone.",
    )
    tts.add_argument("--sentences", type=count, default=30, metavar="N", help="how many (30)")
    tts.add_argument(
        "--clause-chars",
        type=count,
        metavar="N",
        help="shortest first clause, in place of tts.first_clause_chars",
    )
    return tts, _tts


def _llm_parser(what: "Verbs") -> tuple[argparse.ArgumentParser, Measure]:
    llm = what.add_parser(
        "llm",
        help="speed of the local language model, restored prefix, cancelling",
        description="Has the local language model process prompts made of the example documents.",
    )
    llm.add_argument("--runs", type=count, default=5, metavar="N", help="values of each kind (5)")
    llm.add_argument(
        "--tokens", type=count, default=500, metavar="N", help="length of a prompt, about (500)"
    )
    llm.add_argument("--model", metavar="NAME", help="language model; see 'models list'")
    return llm, _llm


def _library_parser(what: "Verbs") -> tuple[argparse.ArgumentParser, Measure]:
    library = what.add_parser(
        "library",
        help="time and memory of the library against its size",
        description="Fills a temporary library with passages made by recombining sentences of the "
        "example documents, and searches it for the example questions.",
    )
    library.add_argument(
        "--passages",
        type=_sizes,
        default=[1_000, 10_000, 100_000],
        metavar="N,N,...",
        help="sizes to grow to (1000,10000,100000)",
    )
    return library, _library


def _sizes(text: str) -> list[int]:
    return [count_to(_MOST_PASSAGES)(part) for part in text.split(",")]


def _runner(measure: Measure) -> Callable[[argparse.Namespace], int]:
    def run(args: argparse.Namespace) -> int:
        from voice_agent.bench.parts_report import shown

        return measured(measure(args, listener(shown, json=args.json)))

    return run


async def _stt(args: argparse.Namespace, show: "Listener") -> None:
    from voice_agent.bench import recordings, transcribing
    from voice_agent.catalogue import Catalogue, locate_weights
    from voice_agent.engine import usable_cores
    from voice_agent.errors import UsageError
    from voice_agent.places import places
    from voice_agent.settings import load_settings
    from voice_agent.settings.loading import check
    from voice_agent.stt.decoding import PADDING_S

    if bool(args.files) == bool(args.data):
        raise UsageError(
            "Either recordings or a folder is measured.",
            mend="Give one of: voice-agent bench stt FILE..., voice-agent bench stt --data DIR",
        )
    found = recordings.of_folder(args.data) if args.data else recordings.of_files(args.files)
    stt = load_settings().settings.stt
    model = args.model or stt.model
    check("stt.model", model, mend="Give --model one of these.")
    folder = locate_weights(Catalogue.load().model(model), places().models).parent
    asked = transcribing.ways(PADDING_S, () if args.no_curve else transcribing.PADDINGS_S)
    threads = stt.thread_count(usable_cores())
    taken: list[transcribing.RecordingHeard] = []
    loaded = transcribing.loaded(folder, threads=threads, language=stt.language)
    async with loaded as bench:
        async for result in bench.results(recordings.evenly(found, args.limit), asked):
            taken.append(result)
            show(result)
    show(transcribing.stt_figures(taken, asked, model=model, threads=threads))


async def _tts(args: argparse.Namespace, show: "Listener") -> None:
    from voice_agent.bench import voicing
    from voice_agent.bench.questions import examples
    from voice_agent.bench.shelf import sentences_of
    from voice_agent.places import places
    from voice_agent.settings import load_settings
    from voice_agent.speech_models import load_voice

    tts = load_settings().settings.tts
    name, chars = tts.voice, args.clause_chars or tts.first_clause_chars
    texts = sentences_of(examples() / "documents")
    step = max(1, len(texts) // args.sentences)
    taken: list[voicing.SentenceVoiced] = []
    with await asyncio.to_thread(load_voice, name, places().models) as voice:
        asked = texts[::step][: args.sentences]
        async for result in voicing.voiced(voice, asked, first_clause_chars=chars):
            taken.append(result)
            show(result)
    show(voicing.tts_figures(taken, voice=name, first_clause_chars=chars))


async def _llm(args: argparse.Namespace, show: "Listener") -> None:
    from voice_agent.bench import generating
    from voice_agent.bench.questions import examples
    from voice_agent.bench.shelf import sentences_of
    from voice_agent.catalogue import Catalogue, locate_weights
    from voice_agent.cli.bench import with_model
    from voice_agent.places import places
    from voice_agent.settings import load_settings
    from voice_agent.thinking import local_model

    settings = with_model(load_settings().settings, args.model)
    file = locate_weights(Catalogue.load().model(settings.llm.model), places().models)
    words = " ".join(sentences_of(examples() / "documents")).split()
    taken: list[generating.LlmTaken] = []
    with tempfile.TemporaryDirectory(prefix="voice-agent-bench-") as folder:
        async with local_model(settings, file, prefix_folder=Path(folder)) as model:
            going = generating.taken(model, words, runs=args.runs, prompt_tokens=args.tokens)
            async for value in going:
                taken.append(value)
                show(value)
    show(generating.llm_figures(taken, model=settings.llm.model))


async def _library(args: argparse.Namespace, show: "Listener") -> None:
    from voice_agent.bench import shelf
    from voice_agent.bench.questions import examples, load_questions

    questions = [question.text for question in load_questions(examples() / "questions.toml")]
    pool = shelf.sentences_of(examples() / "documents")
    if not args.json:
        say(shelf.NOTE)

    def work(folder: Path) -> None:
        for size in shelf.sizes(folder, pool, questions, args.passages):
            show(size)

    with tempfile.TemporaryDirectory(prefix="voice-agent-bench-") as folder:
        await asyncio.to_thread(work, Path(folder))
