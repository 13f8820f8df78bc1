"""The other end of the control socket: requests to the running assistant."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from voice_agent.control.protocol import request_line
from voice_agent.errors import ControlError

ANSWER_S = 10.0
"""An assistant that loads a model answers late."""


class ControlClient:
    """A connection to the assistant that runs; see `connected`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile("rb")

    def request(self, op: str, **fields: Any) -> dict[str, Any]:
        """Return the answer to a request. Raises ControlError with the assistant's own reason."""
        try:
            self._connection.sendall(request_line(op, **fields))
            answer = self._next()
        except TimeoutError as error:
            raise ControlError(
                f"The running voice-agent has not answered within {ANSWER_S:.0f} s.",
                mend="See 'voice-agent service logs', or start it again.",
            ) from error
        except OSError as error:
            raise _left() from error
        if not answer.get("ok"):
            raise ControlError(str(answer.get("message")), mend=str(answer.get("mend", "")))
        return answer

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what is streamed, until the assistant ends or the reader leaves."""
        self._connection.settimeout(None)
        while True:
            try:
                line = self._next()
            except (ControlError, OSError):
                return
            if isinstance(event := line.get("event"), dict):
                yield event

    def _next(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise _left()
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer


@contextmanager
def connected(path: Path) -> Iterator[ControlClient]:
    """Connect to the assistant whose socket is at ``path``.

    Raises ControlError with one clear line where none is running.
    """
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
        connection.settimeout(ANSWER_S)
        try:
            _connect(connection, path)
        except OSError as error:
            raise ControlError(
                "No voice-agent is running.",
                mend="Start it with 'voice-agent run', or for good with "
                "'voice-agent service install'.",
            ) from error
        yield ControlClient(connection)


def _connect(connection: socket.socket, path: Path) -> None:
    """Connect by the folder's descriptor: the path may be longer than a socket's may be."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        connection.connect(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)


def _left() -> ControlError:
    return ControlError("The voice-agent ended meanwhile.", mend="See 'voice-agent service logs'.")
