"""The assistant as a child process at a virtual desk: spoken to, and listened to."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voice_agent.bench.documents import fill_library
from voice_agent.bench.monitor import Recording, recording
from voice_agent.bench.sound_server import LOUDSPEAKER, MICROPHONE, SoundServer, sound_server
from voice_agent.errors import DeviceError, ModelError
from voice_agent.places import Places

READY_S = 300.0
"""Loading the models may take so long."""

_LISTENING = "listening for"
_OWN_POSITION = ("wake", "speech_started", "speech_ended", "utterance", "partial")
_END_S = 10.0
_ATTEMPTS = 3
_WAKE_S = 5.0
_UTTERANCE_S = 40.0

ENDINGS = ("answer", "cancelled", "error")
"""The events with one of which every turn ends."""


@dataclass(frozen=True)
class Told:
    """An event of the assistant, and when it arrived, on the event loop's clock."""

    event: dict[str, Any]
    at_s: float

    @property
    def name(self) -> str:
        """What happened."""
        return str(self.event["event"])


class Events:
    """All that the assistant has told, in order, and when it happened on our clock."""

    def __init__(self) -> None:
        self.told: list[Told] = []
        self.ended = False
        self._more = asyncio.Condition()

    async def add(self, told: Told) -> None:
        """Take the next event."""
        async with self._more:
            self.told.append(told)
            self._more.notify_all()

    async def end(self) -> None:
        """No more will come."""
        async with self._more:
            self.ended = True
            self._more.notify_all()

    async def next(self, names: tuple[str, ...], since: int, timeout_s: float) -> Told | None:
        """Return the first event so named from number ``since`` on; None if none comes in time.

        Raises ModelError when the assistant has ended.
        """
        try:
            async with asyncio.timeout(timeout_s), self._more:
                await self._more.wait_for(
                    lambda: self.ended or self.first(names, since) is not None
                )
        except TimeoutError:
            return None
        found = self.first(names, since)
        if found is None:
            raise ModelError(
                "The assistant under measurement ended.", mend="Run 'voice-agent run' to see why."
            )
        return found

    def first(self, names: tuple[str, ...], since: int = 0) -> Told | None:
        """Return the first event so named from number ``since`` on, as far as they have come."""
        return next((told for told in self.told[since:] if told.name in names), None)

    def happened_s(self, told: Told) -> float:
        """Return when it happened by its ``t_s``, never later than it arrived."""
        t_s = told.event.get("t_s")
        return told.at_s if t_s is None else min(self._began_s() + float(t_s), told.at_s)

    def _began_s(self) -> float:
        """Return the zero of ``t_s``, by the event that came promptest after it was stamped."""
        stamped = [told for told in self.told if told.name not in _OWN_POSITION] or self.told
        return min(told.at_s - float(told.event["t_s"]) for told in stamped)


@dataclass(frozen=True)
class Asked:
    """A question that was heard: the number of the first event since, and when saying it began."""

    since: int
    said_s: float


@dataclass
class VirtualDesk:
    """A running assistant, its microphone and its loudspeaker.

    ``spoken`` and ``heard`` are what microphone and loudspeaker have played; ``ready_s`` is how
    long the assistant took from its start until it listened.
    """

    server: SoundServer
    process: asyncio.subprocess.Process
    events: Events
    spoken: Recording
    heard: Recording
    ready_s: float

    async def say(self, file: Path) -> float:
        """Play a sound file into the microphone to its end; return when that began, roughly."""
        began_s = asyncio.get_running_loop().time()
        playing = await asyncio.create_subprocess_exec(
            "paplay",
            f"--device={MICROPHONE}",
            "--latency-msec=20",
            str(file),
            env=self.server.env,
        )
        try:
            if await playing.wait():
                raise DeviceError(f"{file} could not be played into the virtual microphone.")
        finally:
            if playing.returncode is None:
                playing.terminate()
                await playing.wait()
        return began_s

    async def ask(self, file: Path) -> Asked:
        """Say the wake word and a question, again if it is not heard; return when it was heard.

        Raises ModelError when it is not heard in three attempts.
        """
        for _ in range(_ATTEMPTS):
            since = len(self.events.told)
            said_s = await self.say(file)
            wake = await self.events.next(("wake",), since, _WAKE_S)
            if wake and await self.events.next(("utterance",), since, _UTTERANCE_S):
                return Asked(since, said_s)
            await asyncio.sleep(_WAKE_S)
        raise ModelError(
            "The assistant under measurement did not hear the question.",
            mend="Give another recording of the wake word with --wake FILE.",
        )


@asynccontextmanager
async def virtual_desk(
    user: Places, documents: Path, overrides: Mapping[str, str]
) -> AsyncIterator[VirtualDesk]:
    """Start a private sound server and on it ``voice-agent run`` over ``documents``; end both.

    Settings, models and caches are the user's, ``overrides`` are environment variables over
    them; library, record and control socket are thrown away. Raises DeviceError and ModelError.
    """
    with tempfile.TemporaryDirectory(prefix="voice-agent-bench-") as name:
        folder = Path(name)
        own = replace(user, data=folder / "data" / user.data.name)
        await asyncio.to_thread(fill_library, own, documents)
        (own.data / "models").symlink_to(user.models)
        (folder / "server").mkdir()
        with sound_server(folder / "server") as server:
            env = os.environ | server.devices | _own(folder) | dict(overrides)
            async with (
                recording(server, MICROPHONE) as spoken,
                recording(server, LOUDSPEAKER) as heard,
                _running(env, folder / "errors") as (process, events, ready_s),
            ):
                yield VirtualDesk(server, process, events, spoken, heard, ready_s)


def _own(folder: Path) -> dict[str, str]:
    return {
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_RUNTIME_DIR": str(folder),
        "VOICE_AGENT_AUDIO__INPUT_DEVICE": "default",
        "VOICE_AGENT_AUDIO__OUTPUT_DEVICE": "default",
    }


@asynccontextmanager
async def _running(
    env: dict[str, str], errors: Path
) -> AsyncIterator[tuple[asyncio.subprocess.Process, Events, float]]:
    loop, events = asyncio.get_running_loop(), Events()
    began_s = loop.time()
    with errors.open("wb") as sink:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "voice_agent", "run", "--json"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=sink,
            env=env,
            limit=1 << 22,
        )
    assert process.stdout is not None
    reading = asyncio.create_task(_read(process.stdout, events))
    try:
        await _until_listening(process, errors, began_s + READY_S)
        yield process, events, round(loop.time() - began_s, 2)
    finally:
        await _ended(process)
        await asyncio.wait([reading], timeout=_END_S)
        reading.cancel()


async def _until_listening(
    process: asyncio.subprocess.Process, errors: Path, until_s: float
) -> None:
    loop = asyncio.get_running_loop()
    while _LISTENING not in (said := await asyncio.to_thread(errors.read_text, "utf-8", "replace")):
        if process.returncode is not None or loop.time() > until_s:
            last = said.strip().splitlines()[-1:] or ["it said nothing"]
            raise ModelError(
                f"The assistant under measurement did not start: {last[0]}",
                mend="Run 'voice-agent run' to see why.",
            )
        await asyncio.sleep(0.05)


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


async def _read(stream: asyncio.StreamReader, events: Events) -> None:
    loop = asyncio.get_running_loop()
    while line := await stream.readline():
        at_s = loop.time()
        await events.add(Told(json.loads(line), at_s))
    await events.end()
