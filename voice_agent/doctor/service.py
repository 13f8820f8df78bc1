"""Checks of the running assistant and its systemd unit."""

import os
import stat
from pathlib import Path

from voice_agent.control.client import connected
from voice_agent.control.unit import UNIT, systemctl, unit_file, unit_text
from voice_agent.doctor.findings import Finding, fault, good
from voice_agent.errors import ControlError
from voice_agent.places import Places
from voice_agent.settings import Settings


def control(places: Places) -> Finding:
    """Check the control socket, and what the assistant behind it says of itself."""
    check, path = "control socket", places.control_socket
    if not path.exists():
        return good(check, "no assistant is running")
    for each, mode in ((path, 0o600), (path.parent, 0o700)):
        status = each.stat()
        if status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & ~mode:
            return Finding(check, "mend", f"{each} is open to others.", f"chmod {mode:o} '{each}'")
    try:
        with connected(path) as assistant:
            told = assistant.request("status")["status"]
    except ControlError as error:
        return Finding(check, "mend", f"{path} is there, but: {error.message}", "Start it again.")
    if told["trouble"] and told["state"] == "waiting":
        return Finding(check, "mend", told["trouble"]["message"], told["trouble"]["mend"])
    return good(check, f"an assistant is running: {told['state']}")


def unit(settings: Settings, file: Path | None = None) -> Finding:
    """Check that the installed unit is this program's, enabled, and not failed."""
    check, file = "service", file or unit_file()
    if not file.exists():
        return good(check, "not installed ('voice-agent service install' would)")
    renew = "voice-agent service install"
    if file.read_text(encoding="utf-8", errors="replace") != unit_text(settings):
        return Finding(check, "mend", f"{file} is not what these settings make of it.", renew)
    try:
        shown = systemctl("show", UNIT, "--property=ActiveState,UnitFileState,NRestarts")
    except ControlError as error:
        return fault(check, error)
    found = dict(line.partition("=")[::2] for line in shown.splitlines())
    if found.get("UnitFileState") != "enabled":
        return Finding(check, "mend", "The service is not enabled.", renew)
    if found.get("ActiveState") == "failed":
        mend = f"voice-agent service logs; then {renew}"
        return Finding(check, "mend", "The service has failed.", mend)
    return good(check, f"{found.get('ActiveState')}, {found.get('NRestarts')} restarts")
