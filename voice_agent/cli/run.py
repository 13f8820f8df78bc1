"""``run``: the assistant on the microphone and loudspeaker, in the foreground."""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.errors import DeviceError

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Listener
    from voice_agent.session import Session
    from voice_agent.settings import Settings


def add(verbs: "Verbs") -> None:
    """Add the verb ``run``."""
    run = verbs.add_parser("run", help="listen for the wake word and answer questions")
    run.add_argument("--output-wav", type=Path, metavar="F", help="a file for the loudspeaker")
    run.add_argument("--json", action="store_true", help="one JSON object a line")
    run.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from voice_agent.cli.live_screen import LiveScreen
    from voice_agent.cli.output import JsonLines
    from voice_agent.cli.screen import tell_notices
    from voice_agent.settings import load_settings

    listener: Listener = JsonLines(sys.stdout) if args.json else LiveScreen(sys.stdout)
    loaded = load_settings()
    tell_notices(loaded)
    try:
        _find_microphone(loaded.settings)
    except DeviceError as error:
        if loaded.settings.audio.input_device:
            raise
        return _without_microphone(error, args, loaded.settings, listener)
    raise DeviceError("Listening to a microphone does not work in this version.")


def _find_microphone(settings: "Settings") -> None:
    from voice_agent.audio.devices import choose
    from voice_agent.audio.portaudio import query

    choose(query(), settings.audio.input_device, "input")


def _without_microphone(
    error: DeviceError, args: argparse.Namespace, settings: "Settings", listener: "Listener"
) -> int:
    """Answer the recorded question of the checkout, where there is one."""
    from voice_agent.cli.example import ANSWER, answer_recording, offer_documents
    from voice_agent.cli.signals import until_signal
    from voice_agent.places import checkout_examples, places, private_folder

    connect = "Connect one ('voice-agent devices' lists them) and start again"
    examples = checkout_examples()
    if examples is None:
        raise DeviceError(error.message, mend=f"{connect}, or type: voice-agent ask 'QUESTION'")
    sys.stderr.write(f"voice-agent: {error.message} {connect}. A recording asks meanwhile.\n")
    here = places()
    offer_documents(examples, here.library)
    answer_file = args.output_wav or private_folder(here.cache) / ANSWER
    sessions: list[Session] = []

    def stop(cause: str) -> bool:
        for session in sessions:
            session.cancel(cause)
        return bool(sessions)

    answering = answer_recording(
        examples, settings, here, listener=listener, answer_file=answer_file, use=sessions
    )
    return asyncio.run(until_signal(answering, stop))
