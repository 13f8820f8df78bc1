"""``run``: the assistant on the microphone and loudspeaker, in the foreground."""

import argparse
import asyncio
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.cli.output import JsonLines, Output, StandardOutput
from voice_agent.errors import DeviceError, RecordingError, VoiceAgentError

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Listener
    from voice_agent.session import Session
    from voice_agent.settings import Settings


def add(verbs: "Verbs") -> None:
    """Add the verb ``run``."""
    run = verbs.add_parser("run", help="listen for the wake word and answer questions")
    run.add_argument(
        "--input-wav", type=Path, metavar="F", help="a recording in place of the microphone"
    )
    run.add_argument(
        "--output-wav", type=Path, metavar="F", help="a file in place of the loudspeaker"
    )
    run.add_argument("--json", action="store_true", help="one JSON object a line")
    run.add_argument(
        "--service",
        action="store_true",
        help="in the background: wait for a microphone, log for the journal, notify systemd",
    )
    run.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from voice_agent.cli.listening import Announcing, Listening
    from voice_agent.cli.live_screen import LiveScreen
    from voice_agent.cli.screen import tell_notices
    from voice_agent.cli.signals import until_signal
    from voice_agent.daemon import Files
    from voice_agent.places import places
    from voice_agent.settings import load_settings
    from voice_agent.settings.commented import write_commented

    write_commented(places().config_file)
    if args.service:
        return _as_service(load_settings().settings)
    output = Output(StandardOutput())
    listener = JsonLines(output) if args.json else LiveScreen(output)
    loaded = load_settings()
    tell_notices(loaded)
    if args.input_wav is None:
        try:
            _find_microphone(loaded.settings)
        except DeviceError as error:
            if loaded.settings.audio.input_device:
                raise
            code = _without_microphone(error, args, loaded.settings, listener)
            output.check()
            return code
    listening = Listening(
        loaded.settings,
        Files(recording=args.input_wav, output=args.output_wav),
        Announcing(listener, loaded.settings),
    )
    output.lost = lambda: listening.stop("output lost")
    code = asyncio.run(until_signal(listening.work(), listening.stop))
    output.check()
    return code


def _find_microphone(settings: "Settings") -> None:
    from voice_agent.audio.capture import DeviceMicrophone

    with DeviceMicrophone(settings.audio.input_device):
        return


def _as_service(settings: "Settings") -> int:
    from voice_agent.cli.listening import as_service
    from voice_agent.cli.signals import until_signal

    listening, background = as_service(settings)
    try:
        code = asyncio.run(until_signal(listening.work_as_service(background), listening.stop))
    except VoiceAgentError as error:
        logging.getLogger(__name__).error("%s", error)
        return error.exit_code
    return 1 if background.failed else code


def _without_microphone(
    error: DeviceError, args: argparse.Namespace, settings: "Settings", listener: "Listener"
) -> int:
    """Answer the recorded question of the checkout, where there is one."""
    from voice_agent.cli.example import ANSWER, answer_recording, asked_library
    from voice_agent.cli.signals import until_signal
    from voice_agent.places import checkout_examples, places, private_file

    connect = "Connect one ('voice-agent devices' lists them) and start again"
    examples = checkout_examples()
    if examples is None:
        raise DeviceError(error.message, mend=f"{connect}, or type: voice-agent ask 'QUESTION'")
    sys.stderr.write(f"voice-agent: {error.message} {connect}. A recording asks meanwhile.\n")
    here = places()
    answer_file = args.output_wav or _private_place(here.cache / ANSWER)
    sessions: list[Session] = []

    def stop(cause: str) -> bool:
        for session in sessions:
            session.cancel(cause)
        return bool(sessions)

    with asked_library(examples, here) as asked:
        answering = answer_recording(
            examples, settings, asked, listener=listener, answer_file=answer_file, use=sessions
        )
        try:
            return asyncio.run(until_signal(answering, stop))
        finally:
            if args.output_wav is None and answer_file.exists():
                private_file(answer_file)


def _private_place(file: Path) -> Path:
    """Make the folder of ``file``, which nobody has named a place for; return the file."""
    from voice_agent.places import CACHE_VARIABLE, how_to_write, private_folder

    try:
        private_folder(file.parent)
    except OSError as error:
        raise RecordingError(
            f"{file} cannot be written: {error.strerror}.",
            mend=how_to_write(file, CACHE_VARIABLE, error),
            file=file,
        ) from error
    return file
