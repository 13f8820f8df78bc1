"""OpenAI-compatible servers as child processes, on the loopback interface."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voice_agent.engine import usable_cores
from voice_agent.errors import ModelError

START_S = 120.0
_POLL_S = 0.1
_END_S = 10.0
_LOG_CHARS = 2_000


@dataclass(frozen=True)
class ModelServer:
    """Where a server is: ``address`` ends in /v1; ``log`` is what it has written."""

    address: str
    log: Path

    @property
    def root(self) -> str:
        """The address without /v1."""
        return self.address.removesuffix("/v1")


def free_port() -> int:
    """Return a port of the loopback interface on which nobody listens."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


def ask_json(address: str, body: Mapping[str, Any] | None = None, timeout_s: float = 300.0) -> Any:
    """Return what ``address`` answers, decoded; with ``body`` it is sent there.

    Raises OSError where it refuses or does not answer.
    """
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(asked, timeout=timeout_s) as answer:
        return json.load(answer)


@contextlib.contextmanager
def llama_cpp_server(
    gguf: Path, log: Path, *, name: str, key: str = "", context_tokens: int = 4096
) -> Iterator[ModelServer]:
    """Serve ``gguf`` by llama-cpp-python's own server until the block ends.

    It does not parse calls, and sends no usage figures in a stream. Raises ModelError.
    """
    port, threads = free_port(), str(usable_cores())
    options = {
        "model": str(gguf),
        "model_alias": name,
        "host": "127.0.0.1",
        "port": str(port),
        "n_ctx": str(context_tokens),
        "n_threads": threads,
        "n_threads_batch": threads,
        "logits_all": "false",  # else it keeps a gigabyte of them
        "verbose": "false",
    } | ({"api_key": key} if key else {})
    command = [sys.executable, "-m", "llama_cpp.server"]
    command += [part for option, value in options.items() for part in (f"--{option}", value)]
    with _running(command, port, log, key=key) as server:
        yield server


@contextlib.contextmanager
def tool_call_server(
    gguf: Path, log: Path, *, context_tokens: int = 8192, library: Path | None = None
) -> Iterator[ModelServer]:
    """Serve ``gguf`` by benchmarks/tool_call_server.py until the block ends; see there.

    Raises ModelError.
    """
    port = free_port()
    program = Path(__file__).resolve().parents[2] / "benchmarks" / "tool_call_server.py"
    command = [sys.executable, str(program), "--gguf", str(gguf), "--port", str(port)]
    command += ["--context", str(context_tokens)]
    command += ["--library", str(library)] if library else []
    with _running(command, port, log) as server:
        yield server


@contextlib.contextmanager
def _running(
    command: Sequence[str], port: int, log: Path, *, key: str = ""
) -> Iterator[ModelServer]:
    checkout = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, (checkout, os.environ.get("PYTHONPATH"))))
    env = os.environ | {"OMP_WAIT_POLICY": "passive", "PYTHONPATH": paths}
    server = ModelServer(f"http://127.0.0.1:{port}/v1", log)
    with log.open("wb") as written:
        process = subprocess.Popen(command, env=env, stdout=written, stderr=written)
    try:
        _wait_until_it_answers(process, server, key)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_answers(process: subprocess.Popen[bytes], server: ModelServer, key: str) -> None:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    asked = urllib.request.Request(f"{server.address}/models", headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError):
            opener.open(asked, timeout=5).close()
            return
        time.sleep(_POLL_S)
    written = server.log.read_text("utf-8", "replace")[-_LOG_CHARS:]
    raise ModelError(f"The model's server did not start: {written}")
