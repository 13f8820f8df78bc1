"""Telling systemd how the service is: the datagrams of sd_notify(3), and its watchdog.

Source of the protocol: sd_notify(3), sd_watchdog_enabled(3).
"""

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping

log = logging.getLogger(__name__)

NO_MICROPHONE_S = 600
"""While a microphone is known to be gone the program heals itself; after this systemd does."""


class Notifier:
    """Sends to the socket that systemd named in ``env``; without one it does nothing.

    Times are seconds of ``clock``.
    """

    def __init__(
        self,
        env: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = _address(env.get("NOTIFY_SOCKET", ""))
        self._watchdog_s = _watchdog_s(env)
        self._clock = clock
        self._fed_s = float("-inf")
        self._ready = False
        self._patient = False

    @property
    def watchdog_s(self) -> float:
        """How long systemd waits for a sign of life; 0: for ever."""
        return self._watchdog_s

    def status(self, text: str) -> None:
        """Show ``text`` in ``systemctl status``."""
        self._send(f"STATUS={text}")

    def heard(self) -> None:
        """Say that the microphone's sound has passed the whole front end.

        The first call says READY; the later ones feed the watchdog, some times in its interval.
        """
        now_s = self._clock()
        if not self._ready:
            self._ready = True
            self._send("READY=1")
        if not self._watchdog_s:
            return
        if self._patient:
            self._patient = False
            self._send(f"WATCHDOG_USEC={_usec(self._watchdog_s)}")
        elif now_s - self._fed_s < self._watchdog_s / 8:
            return
        self._fed_s = now_s
        self._send("WATCHDOG=1")

    def microphone_lost(self) -> None:
        """Ask for patience: nothing is heard, and the program knows it and tries again."""
        if self._ready and self._watchdog_s and not self._patient:
            self._patient = True
            self._send(f"WATCHDOG_USEC={_usec(NO_MICROPHONE_S)}\nWATCHDOG=1")

    def stopping(self) -> None:
        """Say that the service ends."""
        self._send("STOPPING=1")

    def _send(self, message: str) -> None:
        """Send without waiting; systemd that does not listen is no reason to stop."""
        if self._address is None:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
                sending.setblocking(False)
                sending.sendto(message.encode(), self._address)
        except OSError as error:
            log.warning("systemd could not be notified: %s", error)


def _address(name: str) -> str | None:
    """Return the socket's address; a name that begins with @ is an abstract one."""
    if name.startswith("@"):
        return "\0" + name[1:]
    return name if name.startswith("/") else None


def _watchdog_s(env: Mapping[str, str]) -> float:
    usec, pid = env.get("WATCHDOG_USEC", ""), env.get("WATCHDOG_PID", "")
    if not usec.isdecimal() or (pid and pid != str(os.getpid())):
        return 0.0
    return int(usec) / 1e6


def _usec(seconds: float) -> int:
    return round(seconds * 1e6)
