"""The control socket and other users: the peer's user is checked, whatever the file's rights."""

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from voice_agent.control.protocol import request_line
from voice_agent.control.server import Began, ControlServer

AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
ASK = """\
import socket, sys
peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
try:
    peer.sendall(bytes.fromhex(sys.argv[2]))
    print(len(peer.recv(100)))
except ConnectionError:
    print(0)
"""


class Nothing:
    """Operations that note what they are told."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def perform(self, op: str) -> dict[str, Any]:
        self.done.append(op)
        return {}

    def ask(self, text: str, began: Began) -> None:
        self.done.append(text)

    def repeat(self, began: Began) -> None:
        self.done.append("repeat")


def open_to_all(path: Path) -> None:
    path.parent.chmod(0o755)
    path.chmod(0o777)


async def asked(path: Path, *as_whom: str) -> str:
    child = await asyncio.create_subprocess_exec(
        *as_whom,
        "/usr/bin/python3",
        "-c",
        ASK,
        path,
        request_line("stop").hex(),
        stdout=asyncio.subprocess.PIPE,
        stderr=sys.stderr,
    )
    output, _ = await asyncio.wait_for(child.communicate(), 30)
    return output.decode().strip()


async def test_another_user_gets_no_answer_even_through_an_open_door() -> None:
    operations = Nothing()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "control.sock"
        async with ControlServer(operations).serving(path):
            open_to_all(path)
            assert await asked(path, *AS_NOBODY) == "0"
            assert operations.done == []
            assert int(await asked(path)) > 0
            assert operations.done == ["stop"]
