"""Answers on the desktop: notifications with the sources, where the user wants them.

Source of the protocol: freedesktop.org, Desktop Notifications Specification 1.2. The only module
that imports ``jeepney``.
"""

import asyncio
import html
import logging
from pathlib import Path

from voice_agent.events import Answer, Event

log = logging.getLogger(__name__)

_NAME = "org.freedesktop.Notifications"
_APPLICATION = "Voice agent"
_LIMIT_S = 5.0
_LONGEST_CHARS = 1_000


class DesktopNotices:
    """A listener that shows each answer as a notification of the user's desktop session.

    Where there is no session, or nothing in it shows notifications, that is logged once.
    """

    def __init__(self) -> None:
        self._showing: set[asyncio.Task[None]] = set()
        self._told = False

    def __call__(self, event: Event) -> None:
        """Show an answer; nobody waits for it."""
        if isinstance(event, Answer) and event.text.strip():
            task = asyncio.create_task(self._show(notice(event)), name="desktop-notice")
            self._showing.add(task)
            task.add_done_callback(self._showing.discard)

    async def close(self) -> None:
        """Let what is being shown come to its end."""
        await asyncio.gather(*self._showing)

    async def _show(self, text: str) -> None:
        from jeepney.io.common import RouterClosed  # type: ignore[import-untyped]  # has no types
        from jeepney.wrappers import DBusErrorResponse  # type: ignore[import-untyped]  # has no types

        try:
            async with asyncio.timeout(_LIMIT_S):
                await _notify(text)
        # no session bus is a KeyError, one of a strange kind a RuntimeError or ValueError
        except (
            OSError,
            EOFError,
            KeyError,
            RuntimeError,
            ValueError,
            RouterClosed,
            DBusErrorResponse,
        ) as error:
            if not self._told:
                self._told = True
                log.warning("Answers cannot be shown on the desktop: %s", _reason(error))


def notice(answer: Answer) -> str:
    """Return the text of an answer's notification, in the markup that notifications have."""
    text = answer.text.strip()
    if len(text) > _LONGEST_CHARS:
        text = text[:_LONGEST_CHARS] + "…"
    names = dict.fromkeys(Path(source.path).name for source in answer.sources)
    sources = f"\n({', '.join(names)})" if names else ""
    return html.escape(text + sources, quote=False)


async def _notify(text: str) -> None:
    """Call Notify of the session's notification server."""
    from jeepney import DBusAddress, new_method_call  # type: ignore[import-untyped]  # has no types
    from jeepney.io.asyncio import open_dbus_router  # type: ignore[import-untyped]  # has no types
    from jeepney.wrappers import unwrap_msg

    address = DBusAddress("/org/freedesktop/Notifications", _NAME, _NAME)
    arguments: tuple[object, ...] = (_APPLICATION, 0, "", _APPLICATION, text, [], {}, -1)
    async with open_dbus_router(bus="SESSION") as router:
        call = new_method_call(address, "Notify", "susssasa{sv}i", arguments)
        unwrap_msg(await router.send_and_get_reply(call))


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return "there is no desktop session (DBUS_SESSION_BUS_ADDRESS is not set)."
    if isinstance(error, TimeoutError):
        return f"nothing answered within {_LIMIT_S:.0f} s."
    return f"{error or type(error).__name__}."
