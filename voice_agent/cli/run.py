"""``run``: the assistant on the microphone and loudspeaker, in the foreground."""

import argparse
import asyncio
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.errors import ControlError, DeviceError

if TYPE_CHECKING:
    from voice_agent.cli.live_screen import LiveScreen
    from voice_agent.cli.output import JsonLines
    from voice_agent.cli.verbs import Verbs
    from voice_agent.control.operations import Control
    from voice_agent.desk import Desk
    from voice_agent.events import Event, Listener, SoundLost
    from voice_agent.places import Places
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
    run.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from voice_agent.cli.live_screen import LiveScreen
    from voice_agent.cli.output import JsonLines
    from voice_agent.cli.screen import tell_notices
    from voice_agent.settings import load_settings

    listener = JsonLines(sys.stdout) if args.json else LiveScreen(sys.stdout)
    loaded = load_settings()
    tell_notices(loaded)
    if args.input_wav is None:
        try:
            _find_microphone(loaded.settings)
        except DeviceError as error:
            if loaded.settings.audio.input_device:
                raise
            return _without_microphone(error, args, loaded.settings, listener)
    return _listen(args, loaded.settings, listener)


def _find_microphone(settings: "Settings") -> None:
    from voice_agent.audio.capture import DeviceMicrophone

    with DeviceMicrophone(settings.audio.input_device):
        return


def _listen(
    args: argparse.Namespace, settings: "Settings", listener: "JsonLines | LiveScreen"
) -> int:
    """Be the assistant until a signal comes, or the recording and the last turn have ended."""
    from voice_agent.cli.screen import tell_empty_library
    from voice_agent.cli.signals import until_signal
    from voice_agent.control.operations import Control
    from voice_agent.daemon import Files, names_of_models, open_desk
    from voice_agent.live import Live
    from voice_agent.places import places

    running: list[Live] = []
    # as from outside: so it ends in the same way, whatever it does at the moment
    control = Control(lambda cause: signal.raise_signal(signal.SIGTERM), names_of_models(settings))

    def began(at_s: float) -> None:
        listener.begin(at_s)
        control.begin(at_s)
        words = " or ".join(f"'{word.replace('_', ' ')}'" for word in settings.wake.words)
        sys.stderr.write(f"voice-agent: listening for {words}. Ctrl-C ends it.\n")

    def tell(event: "Event") -> None:
        control(event)
        listener(event)

    async def work() -> int:
        files = Files(recording=args.input_wav, output=args.output_wav)
        async with AsyncExitStack() as opened:
            await _reachable(control, places(), opened, alone=args.input_wav is None)
            desk = await opened.enter_async_context(open_desk(settings, places(), files, began))
            tell_empty_library(desk.stages.documents)
            live = Live(desk, tell)
            running.append(live)
            control.uses(live)
            await live.run()
            if lost := _sound_lost(desk):
                listener(lost)
        return 0

    def stop(cause: str) -> bool:
        for live in running:
            live.stop(cause)
        return bool(running)

    return asyncio.run(until_signal(work(), stop))


async def _reachable(
    control: "Control", places: "Places", opened: AsyncExitStack, *, alone: bool
) -> None:
    """Open the control socket. ``alone``: refuse to be a second assistant at the microphone."""
    try:
        await opened.enter_async_context(control.server.serving(places.control_socket))
    except ControlError as error:
        if alone:
            raise
        sys.stderr.write(f"voice-agent: this one cannot be controlled. {error.message}\n")


def _sound_lost(desk: "Desk") -> "SoundLost | None":
    """Return what the devices lost; None where recordings stood in for both."""
    from voice_agent.audio.capture import DeviceMicrophone
    from voice_agent.audio.playback import DeviceSpeaker
    from voice_agent.events import SoundLost

    microphone = desk.microphone if isinstance(desk.microphone, DeviceMicrophone) else None
    speaker = desk.stages.speaker
    speaker = speaker if isinstance(speaker, DeviceSpeaker) else None
    if microphone is None and speaker is None:
        return None
    return SoundLost(
        overruns=microphone.overruns if microphone else 0,
        dropped_blocks=microphone.dropped_blocks if microphone else 0,
        underruns=speaker.underruns if speaker else 0,
    )


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
