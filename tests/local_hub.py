"""A model hub on the loopback interface, which can be made to fail as real ones do."""

import contextlib
import http.server
import socket
import threading
from collections.abc import Iterator
from typing import Any


class LocalHub(http.server.ThreadingHTTPServer):
    """Serves ``files`` (path to bytes), with Range unless told otherwise."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.files: dict[str, bytes] = {}
        self.cuts_bytes: list[int] = []  # the next answers end after so many bytes
        self.knows_range = True
        self.starts: list[int] = []  # where each request began

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answer(http.server.BaseHTTPRequestHandler):
    server: LocalHub

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        start = self._start()
        self.server.starts.append(start)
        if content is None:
            return self.send_error(404)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        cut = self.server.cuts_bytes.pop(0) if self.server.cuts_bytes else None
        self.wfile.write(content[start:][:cut])

    def _start(self) -> int:
        asked = self.headers.get("Range", "") if self.server.knows_range else ""
        return int(asked.removeprefix("bytes=").removesuffix("-") or 0)

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def local_hub() -> Iterator[LocalHub]:
    with LocalHub() as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield hub
        hub.shutdown()
        thread.join()


def closed_address() -> str:
    """An address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
