"""The protocol of the control socket, version 1: one JSON object a line, in UTF-8.

A request, of at most 8,192 bytes with its newline::

    {"v": 1, "op": "status", "id": 7}

``v`` is the version and ``op`` the operation; ``id``, a whole number or up to 64 characters, is
optional and comes back in every line that belongs to the request. Fields that are not known are
ignored. Each request is answered by one line with ``ok``, in the order of the requests::

    {"v": 1, "id": 7, "ok": true, ...}
    {"v": 1, "id": 7, "ok": false, "code": "muted", "message": "...", "mend": "..."}

========= =============== =====================================================================
op        its own fields  does
========= =============== =====================================================================
status                    answers ``status``: an object, see `voice_agent.control.status`
listen                    listens to a question, as if the wake word had been said
cancel                    is silent, and stops what goes on
mute                      hears nothing until ``unmute``; an answer that is spoken goes on
unmute                    hears again
stop                      ends the assistant
reload                    takes up changed settings; answers ``taken_up`` and ``need_restart``
ask       ``text``        answers a typed question, in place of what goes on; streams its events
repeat                    says the last answer once more; streams its events
follow                    streams every event of the assistant, until the client leaves
========= =============== =====================================================================

A streamed event is ``{"v": 1, "id": 7, "event": {...}}``, the inner object as ``--json`` prints
it. The stream of ``ask`` and ``repeat`` ends with one of ``answer``, ``cancelled``, ``error``.

Codes: ``bad_request`` (no such JSON, version, operation or value), ``too_long`` (the line; the
connection is closed), ``busy`` (too many clients, or too many streams of one), ``starting`` (not
listening yet), ``muted``, ``nothing_to_repeat``, ``settings`` (they cannot be used).

A client that does not read what it gets, or sends nothing and follows nothing for a minute, is
dropped. A request is taken every 20 ms from one client at most.
"""

import json
from dataclasses import dataclass
from typing import Any

VERSION = 1
MAX_LINE_BYTES = 8_192
MAX_TEXT_CHARS = 2_000
OPERATIONS = (
    "status",
    "listen",
    "cancel",
    "mute",
    "unmute",
    "stop",
    "reload",
    "ask",
    "repeat",
    "follow",
)

_MAX_ID_CHARS = 64
_MAX_ID = 2**53

Id = int | str | None


@dataclass(frozen=True)
class Request:
    """What a client wants; ``text`` is the question of ``ask``."""

    op: str
    id: Id = None
    text: str = ""


class Refused(Exception):
    """A request that is not done; ``code`` is one of the protocol's."""

    def __init__(self, code: str, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.mend = mend


def parse(line: bytes) -> Request:
    """Return the request in ``line``; raises `Refused` for everything that is not one."""
    request = _object(line)
    if request.get("v") != VERSION:
        raise _bad(f"'v' must be {VERSION}.")
    op = request.get("op")
    if not isinstance(op, str) or op not in OPERATIONS:
        raise _bad(f"'op' must be one of {', '.join(OPERATIONS)}.")
    return Request(op, id_of(request), _text(request) if op == "ask" else "")


def id_of(request: dict[str, Any]) -> Id:
    """Return the request's id; raises `Refused` where it cannot be one."""
    given = request.get("id")
    if given is None:
        return None
    if isinstance(given, bool):
        raise _bad("'id' must be a whole number or a text.")
    if isinstance(given, int) and abs(given) <= _MAX_ID:
        return given
    if isinstance(given, str) and len(given) <= _MAX_ID_CHARS:
        return given
    raise _bad(f"'id' must be a whole number or up to {_MAX_ID_CHARS} characters.")


def done(request: Request, **fields: Any) -> bytes:
    """Return the line that says that ``request`` is done."""
    return _line(request.id, {"ok": True} | fields)


def refused(refusal: Refused, id: Id = None) -> bytes:
    """Return the line that says why a request is not done."""
    fields = {"code": refusal.code, "message": refusal.message, "mend": refusal.mend}
    return _line(id, {"ok": False} | fields)


def streamed(event: dict[str, Any], id: Id) -> bytes:
    """Return the line of an event, which is given in its JSON form."""
    return _line(id, {"event": event})


def request_line(op: str, **fields: Any) -> bytes:
    """Return the line of a request, as a client sends it."""
    return _line(None, {"op": op} | fields)


def _line(id: Id, fields: dict[str, Any]) -> bytes:
    head: dict[str, Any] = {"v": VERSION} if id is None else {"v": VERSION, "id": id}
    return json.dumps(head | fields).encode("ascii") + b"\n"


def _object(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:  # too deep, too many digits, not UTF-8
        raise _bad("A request is one JSON object on one line.") from error
    if not isinstance(request, dict):
        raise _bad("A request is one JSON object on one line.")
    return request


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _text(request: dict[str, Any]) -> str:
    text = request.get("text")
    if not isinstance(text, str) or not text.strip():
        raise _bad("'text' must be the question.")
    if len(text) > MAX_TEXT_CHARS:
        raise _bad(f"'text' must have {MAX_TEXT_CHARS} characters at most.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:  # half of a surrogate pair
        raise _bad("'text' must be valid Unicode.") from error
    return text.strip()


def _bad(message: str) -> Refused:
    return Refused("bad_request", message, "See the protocol in voice_agent/control/protocol.py.")
