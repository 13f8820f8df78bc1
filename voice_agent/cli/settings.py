"""``settings list``, ``get``, ``set`` and ``reset``."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from voice_agent.cli.output import say, say_row
from voice_agent.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.settings import Loaded, Row


def add(verbs: "Verbs") -> None:
    """Add the verb ``settings`` and what it can do."""
    settings = verbs.add_parser("settings", help="show and change settings")
    actions = settings.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all settings, with their values and origins")
    listing.set_defaults(run=_list)
    get = actions.add_parser("get", help="one setting's value")
    get.add_argument("key", metavar="KEY", help="such as tts.rate")
    get.set_defaults(run=_get)
    change = actions.add_parser("set", help="change a setting, for good")
    change.add_argument("key", metavar="KEY", help="such as tts.rate")
    change.add_argument("value", metavar="VALUE")
    change.set_defaults(run=_set)
    reset = actions.add_parser("reset", help="return to the default")
    reset.add_argument("key", metavar="KEY", nargs="?", help="such as tts.rate")
    reset.add_argument("--all", action="store_true", help="every setting")
    reset.set_defaults(run=_reset)
    for action in (listing, get, change, reset):
        action.add_argument("--json", action="store_true", help="one JSON object a line")


def _list(args: argparse.Namespace) -> int:
    for row in _rows():
        say_row(row.to_json()) if args.json else say(_line(row))
    return 0


def _get(args: argparse.Namespace) -> int:
    from voice_agent.settings.fields import as_text
    from voice_agent.settings.loading import described

    described(args.key)
    row = next(row for row in _rows() if row.key == args.key)
    say_row(row.to_json()) if args.json else say(as_text(row.value))
    return 0


def _set(args: argparse.Namespace) -> int:
    from voice_agent.places import places
    from voice_agent.settings.editing import write_value
    from voice_agent.settings.loading import check

    file = places().config_file
    value = check(args.key, args.value)
    write_value(file, args.key, value)
    return _report([args.key], as_json=args.json)


def _reset(args: argparse.Namespace) -> int:
    from voice_agent.places import places
    from voice_agent.settings.editing import remove_values
    from voice_agent.settings.loading import described
    from voice_agent.settings.model import descriptions

    if args.all == bool(args.key):
        raise UsageError("'settings reset' takes either KEY or --all.", mend="Give one of them.")
    keys = list(descriptions()) if args.all else [described(args.key).key]
    removed = remove_values(places().config_file, keys)
    if args.all and not args.json:
        say(f"{len(removed)} settings returned to their defaults.")
    return _report(removed if args.all else keys, as_json=args.json)


def _report(keys: list[str], *, as_json: bool) -> int:
    """Say what is now in force, and whether the environment hides a change."""
    try:
        rows = {row.key: row for row in _rows()}
    except SettingsError as error:
        # The change is made; what else is wrong must not look as if it were not.
        sys.stderr.write(f"voice-agent: changed, but {error}\n")
        return 0
    for row in (rows[key] for key in keys):
        say_row(row.to_json()) if as_json else say(_line(row))
        if row.origin == "environment":
            from voice_agent.settings.sources import variable

            name = variable(row.key)
            sys.stderr.write(f"voice-agent: {name} is set in the environment and comes first.\n")
    _tell_running()
    return 0


def _tell_running() -> None:
    """Let the assistant that runs, if one does, take the change up; say what it cannot."""
    from voice_agent.control.client import connected
    from voice_agent.errors import ControlError
    from voice_agent.places import places

    socket = places().control_socket
    if not socket.exists():
        return
    try:
        with connected(socket) as assistant:
            answer = assistant.request("reload")
    except ControlError as error:
        sys.stderr.write(f"voice-agent: the running assistant has not taken it up: {error}\n")
        return
    if answer["taken_up"]:
        sys.stderr.write(f"voice-agent: taken up already: {', '.join(answer['taken_up'])}.\n")
    if answer["need_restart"]:
        keys = ", ".join(answer["need_restart"])
        sys.stderr.write(f"voice-agent: the running assistant needs a restart for {keys}.\n")


def _rows() -> "list[Row]":
    from voice_agent.settings import load_settings, rows

    loaded: Loaded = load_settings(os.environ)
    for notice in loaded.notices:
        sys.stderr.write(f"voice-agent: {notice}\n")
    return rows(loaded)


def _line(row: "Row") -> str:
    from voice_agent.settings.fields import as_text

    value = f"{as_text(row.value) or '(empty)'} {row.unit}".strip()
    return f"{row.key:<28} {value:<28} {row.origin:<12} {row.label}"
