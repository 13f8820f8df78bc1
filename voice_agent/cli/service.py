"""``service install``, ``uninstall``, ``status`` and ``logs``: the systemd user service."""

import argparse
import getpass
import subprocess
from typing import TYPE_CHECKING

from voice_agent.cli.arguments import count
from voice_agent.cli.output import say, say_row
from voice_agent.errors import ControlError

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs

_SHOWN = {
    "LoadState": "loaded",
    "UnitFileState": "enabled",
    "ActiveState": "active",
    "SubState": "state",
    "StatusText": "says",
    "MainPID": "process",
    "NRestarts": "restarts",
    "Result": "result",
}


def add(verbs: "Verbs") -> None:
    """Add the verb ``service`` and what it can do."""
    service = verbs.add_parser("service", help="the assistant as a background service")
    actions = service.add_subparsers(dest="action", metavar="ACTION", required=True)
    install = actions.add_parser("install", help="install or renew it, and start it")
    install.add_argument("--no-start", action="store_true", help="only from the next login on")
    install.set_defaults(run=_install)
    uninstall = actions.add_parser("uninstall", help="stop and remove it; data stays")
    uninstall.set_defaults(run=_uninstall)
    status = actions.add_parser("status", help="whether it is installed and runs")
    status.add_argument("--json", action="store_true", help="one JSON object")
    status.set_defaults(run=_status)
    logs = actions.add_parser("logs", help="what it has logged")
    logs.add_argument(
        "--lines", "-n", type=count, default=100, metavar="N", help="the last N lines (100)"
    )
    logs.add_argument("--follow", "-f", action="store_true", help="and those that come")
    logs.set_defaults(run=_logs)


def _install(args: argparse.Namespace) -> int:
    from voice_agent.control.unit import UNIT, systemctl, unit_file, unit_text
    from voice_agent.places import CONFIG_VARIABLE, how_to_write
    from voice_agent.settings import load_settings

    file = unit_file()
    text = unit_text(load_settings().settings)
    systemctl("show-environment")  # nothing is written where there is no service manager
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ControlError(
            f"{file} cannot be written: {error.strerror}.",
            mend=how_to_write(file, CONFIG_VARIABLE, error),
            file=file,
        ) from error
    systemctl("daemon-reload")
    systemctl("enable", UNIT)
    if not args.no_start:
        systemctl("reset-failed", UNIT, check=False)
        systemctl("restart", "--no-block", UNIT)
    say(f"Installed as {file}; it starts when you log in.")
    if not args.no_start:
        say("It is starting now: 'voice-agent status' shows when it listens.")
    if not _lingers():
        say("To keep it running while you are logged out: loginctl enable-linger")
    return 0


def _uninstall(args: argparse.Namespace) -> int:
    from voice_agent.control.unit import UNIT, systemctl, unit_file
    from voice_agent.places import places

    file = unit_file()
    if not file.exists():
        raise ControlError("The service is not installed.")
    systemctl("disable", "--now", UNIT)
    file.unlink()
    systemctl("daemon-reload")
    systemctl("reset-failed", UNIT, check=False)
    here = places()
    say(f"Removed. Your settings and data stay in {here.config} and {here.data}.")
    return 0


def _status(args: argparse.Namespace) -> int:
    from voice_agent.control.unit import UNIT, systemctl

    names = ",".join(_SHOWN)
    lines = systemctl("show", UNIT, f"--property={names}").splitlines()
    found = dict(line.partition("=")[::2] for line in lines if "=" in line)
    if args.json:
        say_row({_SHOWN[name]: found.get(name, "") for name in _SHOWN})
    elif found.get("LoadState") != "not-found":
        for name, label in _SHOWN.items():
            say(f"{label + ':':<10} {found.get(name) or '-'}")
    if found.get("LoadState") == "not-found":
        raise ControlError("The service is not installed.", mend="voice-agent service install")
    if found.get("ActiveState") not in ("active", "activating"):
        mend = "voice-agent service logs; systemctl --user start voice-agent"
        raise ControlError("The service does not run.", mend=mend)
    return 0


def _logs(args: argparse.Namespace) -> int:
    from voice_agent.control.unit import UNIT

    command = ["journalctl", "--user", "--unit", UNIT, "--lines", str(args.lines), "--no-pager"]
    try:
        return subprocess.run([*command, *(["--follow"] if args.follow else [])]).returncode
    except OSError as error:
        raise ControlError(f"journalctl cannot be used: {error.strerror}.") from error


def _lingers() -> bool:
    try:
        shown = subprocess.run(
            ["loginctl", "show-user", getpass.getuser(), "--property=Linger"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    return shown.stdout.strip() == "Linger=yes"
