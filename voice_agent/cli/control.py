"""``status``, ``listen``, ``cancel``, ``mute``, ``unmute``, ``stop``, ``repeat`` and ``follow``."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from voice_agent.cli.output import StandardOutput, say, say_row

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs

_AT_ONCE = {
    "listen": "listen to a question, as if the wake word had been said",
    "cancel": "stop the answer, or stop listening to a question",
    "mute": "hear nothing until 'unmute'",
    "unmute": "hear again",
    "repeat": "say the last answer again",
    "stop": "end the assistant that runs",
}


SILENT_S = 10.0
"""No microphone that works delivers digital silence for so long."""


def add(verbs: "Verbs") -> None:
    """Add the verbs that talk to the assistant that runs."""
    status = verbs.add_parser("status", help="what the assistant that runs is doing")
    status.set_defaults(run=_status)
    follow = verbs.add_parser("follow", help="show its questions, answers and sources as they come")
    follow.set_defaults(run=_follow)
    added = [status, follow]
    for name, text in _AT_ONCE.items():
        verb = verbs.add_parser(name, help=text)
        verb.set_defaults(run=_at_once)
        added.append(verb)
    for verb in added:
        verb.add_argument("--json", action="store_true", help="one JSON object a line")


def _at_once(args: argparse.Namespace) -> int:
    from voice_agent.control.client import connected
    from voice_agent.places import places

    with connected(places().control_socket) as assistant:
        answer = assistant.request(args.verb)
    if args.json:
        say_row({"ok": answer["ok"]})
    return 0


def _status(args: argparse.Namespace) -> int:
    from voice_agent.control.client import connected
    from voice_agent.places import places

    with connected(places().control_socket) as assistant:
        status = assistant.request("status")["status"]
    if args.json:
        say_row(status)
        return 0
    for name, text in _lines(status):
        say(f"{name + ':':<12} {text}")
    return 0


def _follow(args: argparse.Namespace) -> int:
    from voice_agent.cli.live_screen import LiveScreen
    from voice_agent.control.client import connected
    from voice_agent.events import from_json
    from voice_agent.places import places

    screen = LiveScreen(StandardOutput())
    with connected(places().control_socket) as assistant:
        assistant.request("follow")
        for event in assistant.events():
            if args.json:
                say_row(event)
            elif (known := from_json(event)) is not None:
                screen(known)
    sys.stderr.write("voice-agent: the assistant has ended.\n")
    return 0


def _lines(status: dict[str, Any]) -> list[tuple[str, str]]:
    state = status["state"] + (", muted" if status["muted"] else "")
    counters = ", ".join(f"{number} {name}" for name, number in status["counters"].items())
    devices, trouble = status["devices"], status["trouble"]
    lines = [
        ("state", state),
        ("up", f"{_time(status['uptime_s'])}, of which {_time(status['heard_s'])} heard"),
        ("memory", f"{status['memory_mb']} MB in process {status['pid']}"),
        ("models", ", ".join(f"{role} {name}" for role, name in status["models"].items())),
        ("microphone", devices["input"] or "none"),
        ("loudspeaker", devices["output"] or "none"),
        ("documents", "not known yet" if status["documents"] is None else status["documents"]),
        ("counted", counters),
    ]
    if status["silent_s"] >= SILENT_S:
        lines.append(("silence", "the microphone is digitally silent: is it muted?"))
    if trouble:
        ago = f"{_time(trouble['ago_s'])} ago" + (", over" if trouble["over"] else "")
        lines.append(("trouble", f"{ago}: {trouble['message']} {trouble['mend']}".strip()))
    return [(name, str(text)) for name, text in lines]


def _time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
