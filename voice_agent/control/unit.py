"""The unit of the systemd user service: its text, its place, and the command that drives it."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from voice_agent.errors import ControlError
from voice_agent.places import checkout_examples, places
from voice_agent.settings import Settings

UNIT = "voice-agent.service"
_PASSED_ON = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")
_SYSTEMCTL_S = 60


def unit_file(env: Mapping[str, str] = os.environ) -> Path:
    """Return where the user's unit belongs (systemd.unit(5))."""
    return places(env).config.parent / "systemd" / "user" / UNIT


def unit_text(settings: Settings, env: Mapping[str, str] = os.environ) -> str:
    """Return the unit of the program that runs now, with ``settings`` in force.

    Without a server in the settings it can reach no network at all.
    """
    template = (resources.files("voice_agent.control") / UNIT).read_text(encoding="utf-8")
    limit_mb = settings.service.memory_max_mb
    local = settings.llm.provider == "local"
    values = {
        "program": _program(),
        "folder": _checkout() or "~",
        "environment": "\n".join(
            f"Environment={_quoted(f'{name}={env[name]}')}" for name in _PASSED_ON if env.get(name)
        ),
        "memory": f"{limit_mb}M" if limit_mb else "infinity",
        "families": "AF_UNIX" if local else "AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        "denied": "any" if local else "",
    }
    return re.sub(r"\{(\w+)\}\n?", lambda found: _filled(values[found[1]], found[0]), template)


def systemctl(*arguments: str, check: bool = True) -> str:
    """Return what ``systemctl --user`` prints; raises ControlError where it fails."""
    try:
        done = subprocess.run(
            ["systemctl", "--user", "--no-pager", *arguments],
            capture_output=True,
            text=True,
            timeout=_SYSTEMCTL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ControlError(
            f"systemctl cannot be used: {error}.",
            mend="Without systemd, start 'voice-agent run' in your session's autostart.",
        ) from error
    if check and done.returncode:
        reason = (done.stderr.strip() or f"it ended with {done.returncode}").splitlines()[0]
        raise ControlError(
            f"'systemctl --user {' '.join(arguments)}' failed: {reason.rstrip('.')}.",
            mend="Run it in a session of your own user (not with su or sudo).",
        )
    return done.stdout


def _filled(value: str, placeholder: str) -> str:
    """Return a value in its place; the line of an empty one goes with it."""
    return f"{value}\n" if value and placeholder.endswith("\n") else value


def _program() -> str:
    """From a checkout, the checkout's code; else the installed script."""
    if _checkout():
        return f"{_quoted(sys.executable)} -m voice_agent"
    return _quoted(str(Path(sys.executable).parent / "voice-agent"))


def _checkout() -> str:
    examples = checkout_examples()
    return str(examples.parent).replace("%", "%%") if examples else ""


def _quoted(word: str) -> str:
    """Return ``word`` for a unit file: systemd.syntax(7)."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'
