"""``transcribe``: recordings to text."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.cli.output import JsonLines, StandardOutput, say
from voice_agent.errors import RecordingError

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Event, Listener
    from voice_agent.stt import Transcriber


def add(verbs: "Verbs") -> None:
    """Add the verb ``transcribe``."""
    verb = verbs.add_parser("transcribe", help="write down what is said in recordings")
    verb.add_argument(
        "files", metavar="F", nargs="+", type=Path, help="a recording: WAV, FLAC or OGG"
    )
    verb.add_argument(
        "--language", metavar="L", help="what is spoken, such as en or de; auto recognises it"
    )
    verb.add_argument("--model", metavar="NAME", help="such as whisper-base; see 'models list'")
    verb.add_argument("--json", action="store_true", help="one JSON object a line")
    verb.set_defaults(run=_transcribe)


def _transcribe(args: argparse.Namespace) -> int:
    return asyncio.run(_all(args))


async def _all(args: argparse.Namespace) -> int:
    from voice_agent.places import places
    from voice_agent.settings import load_settings
    from voice_agent.settings.loading import check
    from voice_agent.speech_models import load_transcriber

    stt = load_settings().settings.stt
    language = args.language or stt.language
    show = JsonLines(StandardOutput()) if args.json else _Lines(named=len(args.files) > 1)
    if args.model is not None:
        check("stt.model", args.model, mend="Give --model one of these.")
        stt = stt.model_copy(update={"model": args.model})
    with await load_transcriber(stt, places().models) as transcriber:
        done = [await _one(transcriber, file, language, show) for file in args.files]
    return 0 if all(done) else 1


async def _one(transcriber: "Transcriber", file: Path, language: str, show: "Listener") -> bool:
    """Show what is said in ``file``, or why it cannot be read; return whether it could."""
    from voice_agent.audio.format import read_recording
    from voice_agent.events import Error, Transcript

    try:
        sound = await asyncio.to_thread(read_recording, file)
    except RecordingError as error:
        sys.stderr.write(f"voice-agent: {error}\n")
        show(Error(stage=error.stage, message=error.message, mend=error.mend, file=str(file)))
        return False
    heard = await transcriber.transcribe(sound, language=language)
    show(
        Transcript(
            text=heard.text,
            language=heard.language,
            audio_s=heard.audio_s,
            stt_s=heard.stt_s,
            file=str(file),
        )
    )
    return True


class _Lines:
    """A listener that writes each transcript on a line; among several, with its file's name."""

    def __init__(self, *, named: bool) -> None:
        self._named = named

    def __call__(self, event: "Event") -> None:
        from voice_agent.events import Transcript

        if isinstance(event, Transcript):
            say(f"{event.file}: {event.text}" if self._named else event.text)
