"""Hundreds of spoken turns in one process, with random barge-ins: what grows, and what slows down.

    PYTHONPATH=. python benchmarks/soak.py [--turns 500] [--model NAME] [--seed 1]

The real pipeline and real models over the example documents; in place of the sound devices a
stand-in that says the wake word and questions, in real time. Every 25 turns a row is printed.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.capture import DeviceMicrophone
from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound, read_recording
from voice_agent.audio.playback import DeviceSpeaker
from voice_agent.audio.reference import PlayedSound
from voice_agent.bench.clips import Clips, wake_sound
from voice_agent.bench.holding import Held, held
from voice_agent.bench.questions import examples, load_questions
from voice_agent.bench.run import open_bench
from voice_agent.bench.stand_in import StandIn
from voice_agent.daemon import Wanted
from voice_agent.desk import Desk
from voice_agent.earcons import Earcons
from voice_agent.ears import load_ears
from voice_agent.events import Answer, Cancelled, Error, Event, Utterance
from voice_agent.live import Live
from voice_agent.places import places
from voice_agent.settings import Settings, load_settings

RATE_HZ = 48_000
FLOOR = 3e-4
EVERY = 25
CLIPS = 12
BARGE_IN_SHARE = 1 / 3
TURN_S = 180.0
HEARD_S = 30.0
REST_S = 1.0
STEP_S = 0.02


class Room(StandIn):
    """A stand-in whose microphone hears a little noise, and what is said into the room."""

    def __init__(self, dice: random.Random) -> None:
        super().__init__()
        self._noise = np.random.default_rng(dice.randrange(1 << 30))
        self._saying: deque[np.ndarray] = deque()

    def say(self, sound: Sound) -> None:
        """Let ``sound`` be heard next."""
        self._saying.append(sound.at(RATE_HZ).samples)

    @property
    def quiet(self) -> bool:
        """Whether all has been said."""
        return not self._saying

    def sounding(self, frames: int) -> NDArray[np.float32]:
        """Return the next ``frames`` of the room."""
        block = self._noise.normal(0, FLOOR, frames).astype(np.float32)
        if self._saying:
            said = self._saying.popleft()
            part = said[:frames]
            block[: len(part)] += part
            if len(said) > frames:
                self._saying.appendleft(said[frames:])
        return block


def look(temporary: Path) -> tuple[Held, int]:
    """Return what the process holds, and how many files are left in its TMPDIR."""
    return held(), sum(1 for _ in temporary.rglob("*"))


@dataclass
class Soak:
    """Asks, interrupts at random, and notes how long each turn took that ran to its end."""

    room: Room
    live: Live
    events: list[Event]
    wake: Sound
    questions: Sequence[Sound]
    dice: random.Random
    seconds: list[float | None] = field(default_factory=list)
    interrupted: int = 0
    failed: int = 0
    unheard: int = 0

    async def turn(self) -> None:
        """One question, answered or interrupted; one that is not heard is said again."""
        while not await self._asked():
            self.unheard += 1
        began_s = monotonic()
        if self.dice.random() < BARGE_IN_SHARE:
            await self._ended(self.dice.uniform(0.2, self._usual_s()))
            if self._ending() is None:
                self.room.say(self.wake)
        await self._ended(TURN_S)
        ending = self._ending()
        self.interrupted += isinstance(ending, Cancelled)
        self.failed += ending is None or isinstance(ending, Error)
        self.seconds.append(monotonic() - began_s if isinstance(ending, Answer) else None)
        await self._until(lambda: self.room.quiet, HEARD_S)
        await asyncio.sleep(REST_S)
        self.live.cancel("soak")  # the follow-up, or what the wake word asked for
        await asyncio.sleep(REST_S)

    def row(self, temporary: Path) -> str:
        """What is held now, and the median of the last turns, as a row of a Markdown table."""
        now, left = look(temporary)
        return (
            f"| {len(self.seconds)} | {now.memory_kb / 1000:.0f} | {now.threads} | {now.files} | "
            f"{left} | {median(self.seconds[-EVERY:]):.2f} | {self.interrupted} | "
            f"{self.failed} |"
        )

    async def _asked(self) -> bool:
        self.events.clear()
        self.room.say(self.wake)
        self.room.say(Sound(np.zeros(SAMPLE_RATE_HZ // 4, np.float32), SAMPLE_RATE_HZ))
        self.room.say(self.dice.choice(self.questions))
        heard = lambda: any(isinstance(event, Utterance) for event in self.events)  # noqa: E731
        return await self._until(heard, HEARD_S)

    async def _ended(self, limit_s: float) -> None:
        await self._until(lambda: self._ending() is not None, limit_s)

    def _ending(self) -> Event | None:
        kinds = (Answer, Cancelled, Error)
        return next((event for event in self.events if isinstance(event, kinds)), None)

    def _usual_s(self) -> float:
        return max(median(self.seconds), 1.0) if any(self.seconds) else 5.0

    @staticmethod
    async def _until(true: Callable[[], bool], limit_s: float) -> bool:
        for _ in range(round(limit_s / STEP_S)):
            if true():
                return True
            await asyncio.sleep(STEP_S)
        return true()


def median(seconds: Sequence[float | None]) -> float:
    """The median of those that there are."""
    return float(np.median([each for each in seconds if each is not None] or [np.nan]))


@asynccontextmanager
async def soaking(settings: Settings, folder: Path, dice: random.Random) -> AsyncIterator[Soak]:
    """Open the whole assistant over the example documents, and let it listen to a stand-in."""
    room, events = Room(dice), list[Event]()
    speaker = DeviceSpeaker(system=room, latency_s=settings.audio.output_latency_ms / 1000)
    source = examples()
    with speaker:
        wanted = Wanted(stt=True, speaker=speaker)
        async with open_bench(settings, places(), source / "documents", wanted) as stages:
            assert stages.voice is not None
            wake = await wake_sound(settings, stages.voice, None)
            clips = Clips(folder, stages.voice, wake[:0])
            asked = dice.sample(load_questions(source / "questions.toml"), CLIPS)
            said = [await clips.question(each.id, each.text) for each in asked]
            played = PlayedSound(speaker.device.rate_hz)
            speaker.tap = played
            with DeviceMicrophone(system=room) as microphone:
                ears = await asyncio.to_thread(load_ears, settings)
                desk = Desk(stages, ears, microphone, reference=played)
                desk.earcons, desk.follow_up_s = Earcons(speaker), settings.listen.follow_up_s
                live = Live(desk, events.append)
                listening = asyncio.create_task(live.run())
                sounds = [read_recording(clip.file) for clip in said]
                yield Soak(room, live, events, Sound(wake, SAMPLE_RATE_HZ), sounds, dice)
                live.stop("soak")
                await listening


async def run(turns: int, settings: Settings, dice: random.Random) -> None:
    """Print a row every 25 turns, and the last ones beside the first."""
    with tempfile.TemporaryDirectory(prefix="voice-agent-soak-") as name:
        async with soaking(settings, Path(name), dice) as soak:
            temporary = Path(name) / "tmp"
            temporary.mkdir()
            tempfile.tempdir = os.environ["TMPDIR"] = str(temporary)
            await _turns(soak, turns, temporary)
            tempfile.tempdir = None


async def _turns(soak: Soak, turns: int, temporary: Path) -> None:
    began_s, first, span = monotonic(), look(temporary), min(EVERY, turns)
    for n in range(1, turns + 1):
        await soak.turn()
        if n == span:
            first = look(temporary)
        if n % EVERY == 0 or n == turns:
            print(soak.row(temporary), flush=True)
    print(
        f"\nAfter {span} and after {turns} turns: median {median(soak.seconds[:span]):.2f} and "
        f"{median(soak.seconds[-span:]):.2f} s, {first} and {look(temporary)}; {soak.unheard} "
        f"questions were not heard and said again; {(monotonic() - began_s) / turns:.1f} s a turn."
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--model", default="qwen2.5-coder-0.5b-instruct")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    env = os.environ | {"VOICE_AGENT_LLM__MODEL": args.model, "VOICE_AGENT_TTS__RATE": "2"}
    settings = load_settings(env).settings
    sys.stdout.write(
        "| turns | MB | threads | files | temporary files | median turn, s | interrupted | failed |"
        "\n|---|---|---|---|---|---|---|---|\n"
    )
    asyncio.run(run(args.turns, settings, random.Random(args.seed)))


if __name__ == "__main__":
    main()
