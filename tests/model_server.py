"""A real OpenAI-compatible server: llama-cpp-python's own, in a process of its own."""

import contextlib
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from local_hub import closed_address

NAME = "small"
KEY = "a-key-for-tests"
START_S = 120


@dataclass(frozen=True)
class ModelServer:
    """Where the server is, and what it wrote."""

    address: str
    log: Path


@contextlib.contextmanager
def model_server(gguf: Path, log: Path) -> Iterator[ModelServer]:
    """Serve the model in ``gguf`` until the block ends."""
    address = closed_address()
    options = {
        "model": str(gguf),
        "model_alias": NAME,
        "api_key": KEY,
        "host": "127.0.0.1",
        "port": address.rpartition(":")[2],
        "n_ctx": "4096",
        "n_threads": "2",
        "n_threads_batch": "2",
        "logits_all": "false",  # else it keeps a gigabyte of them
        "verbose": "false",
    }
    command = [sys.executable, "-m", "llama_cpp.server"]
    command += [part for name, value in options.items() for part in (f"--{name}", value)]
    env = os.environ | {"OMP_WAIT_POLICY": "passive"}
    with log.open("wb") as written:
        server = subprocess.Popen(command, env=env, stdout=written, stderr=written)
    try:
        _wait_until_it_answers(server, address, log)
        yield ModelServer(f"{address}/v1", log)
    finally:
        server.terminate()
        server.wait()


def _wait_until_it_answers(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    asked = urllib.request.Request(
        f"{address}/v1/models", headers={"Authorization": f"Bearer {KEY}"}
    )
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        with contextlib.suppress(urllib.error.URLError):
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=5)
            return
        time.sleep(0.1)
    raise AssertionError(f"The model's server did not start: {log.read_text()[-2000:]}")
