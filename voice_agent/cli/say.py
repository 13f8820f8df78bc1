"""``say``: text to speech."""

import argparse
import asyncio
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.cli.output import JsonLines, StandardOutput
from voice_agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voice_agent.audio.playback import Speaker
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Listener
    from voice_agent.settings import Settings
    from voice_agent.speaking import Speaking


def add(verbs: "Verbs") -> None:
    """Add the verb ``say``."""
    say = verbs.add_parser("say", help="speak a text, as answers are spoken")
    say.add_argument("text", metavar="TEXT", nargs="?", help="what to say; without it, from stdin")
    say.add_argument("--out", type=Path, metavar="F", help="into this WAV file, not aloud")
    say.add_argument("--json", action="store_true", help="one JSON object a line")
    say.set_defaults(run=_say)


def _say(args: argparse.Namespace) -> int:
    from voice_agent.engine import StopFlag
    from voice_agent.places import places
    from voice_agent.settings import load_settings
    from voice_agent.speaking import Speaking
    from voice_agent.speech_models import load_voice

    text = _text(args)
    settings = load_settings().settings
    listener: Listener = JsonLines(StandardOutput()) if args.json else lambda event: None
    tts = settings.tts
    with load_voice(tts.voice, places().models, rate=tts.rate, volume=tts.volume) as voice:
        _check_words(text, voice.language)
        with _speaker(args.out, settings, voice.rate_hz) as speaker:
            speaking = Speaking(
                voice,
                speaker,
                turn=None,
                stop=StopFlag(),
                emit=listener,
                first_clause_chars=0 if args.out else tts.first_clause_chars,
            )
            said = asyncio.run(_speak(text, speaking))
    if not said:
        sys.stderr.write("voice-agent: nothing in the text can be said.\n")
    return 0


def _text(args: argparse.Namespace) -> str:
    if args.text is not None:
        return str(args.text)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("There is no text.", mend="Give it after 'say', or through a pipe.")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _check_words(text: str, language: str) -> None:
    """Say before a file or a loudspeaker is opened that there is nothing to say."""
    from voice_agent.sentences import SentenceStream
    from voice_agent.spoken_text import spoken

    sentences = SentenceStream(language)
    if not any(spoken(each, language) for each in [*sentences.feed(text), *sentences.flush()]):
        raise UsageError("There is nothing to say in the text.", mend="Give it words or numbers.")


@contextmanager
def _speaker(out: Path | None, settings: "Settings", rate_hz: int) -> "Iterator[Speaker]":
    from voice_agent.audio.playback import DeviceSpeaker, WavSpeaker

    if out is not None:
        with WavSpeaker(out, rate_hz) as file:
            yield file
        return
    audio = settings.audio
    latency_s = audio.output_latency_ms / 1000
    with DeviceSpeaker(audio.output_device, latency_s=latency_s) as device:
        yield device


async def _speak(text: str, speaking: "Speaking") -> bool:
    """Say the text as an answer is said; return whether anything in it could be."""
    speaking.feed(text)
    speaking.end()
    await speaking.run()
    return bool(speaking.spoken_text)
