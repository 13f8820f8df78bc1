"""``ask``: one question, typed, recorded or from stdin."""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.cli.output import JsonLines, Output, StandardOutput
from voice_agent.errors import RecordingError, UsageError

if TYPE_CHECKING:
    from voice_agent.audio.format import Sound
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Listener
    from voice_agent.research.asking import Asker
    from voice_agent.turn import Ending

MAX_QUESTION_CHARS = 2_000


def add(verbs: "Verbs") -> None:
    """Add the verb ``ask``."""
    ask = verbs.add_parser("ask", help="ask one question")
    ask.add_argument("text", metavar="TEXT", nargs="?", help="the question; else from stdin")
    ask.add_argument("--audio", type=Path, metavar="F", help="a recorded question")
    ask.add_argument("--out", type=Path, metavar="F", help="write the spoken answer to a WAV file")
    ask.add_argument("--quiet", action="store_true", help="do not speak the answer")
    ask.add_argument("--json", action="store_true", help="one JSON object a line")
    ask.set_defaults(run=_ask)


def _ask(args: argparse.Namespace) -> int:
    from voice_agent.audio.format import read_recording
    from voice_agent.cli.parser import CANCELLED

    if args.text is not None and args.audio is not None:
        raise UsageError("A question is either text or --audio.", mend="Leave one of them out.")
    if args.out is not None:
        _check_place(args.out)
    asked: str | Sound = read_recording(args.audio) if args.audio else question_from(args.text)
    try:
        return asyncio.run(_answer(args, asked))
    except asyncio.CancelledError:  # interrupted while it started: there was no turn to cancel
        return CANCELLED


def _check_place(out: Path) -> None:
    """Say before any work is done that the spoken answer could not be kept."""
    if out.is_dir() or not os.access(out.resolve().parent, os.W_OK):
        raise RecordingError(
            f"{out} cannot be written.",
            mend="Name a file in a folder that exists and is yours.",
            file=out,
        )


def question_from(text: str | None) -> str:
    """Return the question that was typed, or without ``text`` what comes from stdin.

    Raises UsageError where there is none, or too long a one.
    """
    if text is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("There is no question.", mend="Give it after 'ask', or in a pipe.")
        text = sys.stdin.buffer.read(4 * MAX_QUESTION_CHARS + 4).decode("utf-8", "replace")
    # bytes that are no UTF-8 come as halves of letters, which no database and no model takes
    question = text.encode("utf-8", "replace").decode("utf-8").strip()
    if not question:
        raise UsageError("The question is empty.", mend="Give it after 'ask', or in a pipe.")
    if len(question) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"The question has over {MAX_QUESTION_CHARS} characters.",
            mend="Shorten it; long texts belong in the library: voice-agent library add FOLDER.",
        )
    return question


async def _answer(args: argparse.Namespace, asked: "str | Sound") -> int:
    from voice_agent.cli.screen import Screen, tell_empty_library, tell_notices
    from voice_agent.cli.signals import caught
    from voice_agent.daemon import Wanted, open_stages
    from voice_agent.places import places
    from voice_agent.session import Session
    from voice_agent.settings import load_settings

    output = Output(StandardOutput())
    listener: Listener = JsonLines(output) if args.json else Screen(output)
    loaded = load_settings()
    tell_notices(loaded)
    wanted = Wanted(
        stt=args.audio is not None,
        loudspeaker=not args.quiet,
        sound_file=args.out,
        asker=_asker(),
    )
    main = asyncio.current_task()
    sessions: list[Session] = []

    def interrupt(sent: signal.Signals) -> None:
        """Cancel the turn; before there is one, the program."""
        if sessions:
            sessions[0].cancel(sent.name)
        elif main is not None:
            main.cancel()

    with caught(interrupt):
        async with open_stages(loaded.settings, places(), wanted) as stages:
            tell_empty_library(stages.documents)
            session = Session(stages, listener)
            sessions.append(session)
            if not wanted.voice:  # nobody else hears the rest of the answer
                output.lost = lambda: session.cancel("output lost")
            if isinstance(asked, str):
                ending = await session.ask(asked)
            else:
                ending = await session.hear(asked, source=str(args.audio))
    output.check()
    return _code(ending)


def _asker() -> "Asker":
    """Who answers when the assistant asks back: the person at the terminal, where there is one."""
    from voice_agent.cli.asking import TerminalAsker
    from voice_agent.research.asking import Nobody

    if sys.stdin is None or not sys.stdin.isatty():
        return Nobody()
    return TerminalAsker(sys.stdin.fileno())


def _code(ending: "Ending") -> int:
    from voice_agent.cli.parser import CANCELLED
    from voice_agent.events import Answer, Error

    if isinstance(ending, Error):
        sys.stderr.write(f"voice-agent: {ending.message} {ending.mend}\n")
        return 1
    return 0 if isinstance(ending, Answer) else CANCELLED
