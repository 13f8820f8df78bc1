"""A live session among fakes: what is heard is put in, and the events that it gave are kept."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
from fakes import FakeEars, FakeMicrophone, FakeSpeaker, FakeVoice, Script, ScriptedTranscriber
from scripted_research import Research

from voice_agent.asking_aloud import VoiceAsker
from voice_agent.audio.cues import CUES, Cue, cue_sound
from voice_agent.conversation import State
from voice_agent.desk import Desk
from voice_agent.earcons import Earcons
from voice_agent.events import Event, Wake, name_of
from voice_agent.ledger import Ledger
from voice_agent.live import Live
from voice_agent.session import Stages
from voice_agent.turns.front_end import Addressed, FrontEndEvent

WAKE = Wake(word="hey_jarvis", score=0.9, t_s=1.0)
QUESTION = Addressed(1.2, 2.0, np.zeros(16_000, np.float32), 2.5)


class Room:
    """A live session, the things around it, and the events that it gave."""

    def __init__(self, ledger: Ledger, *replies: Script, **stages: object) -> None:
        self.asker = VoiceAsker()
        limits = {name: stages.pop(name) for name in ("confirm_writes", "tools") if name in stages}
        self.research = Research(*replies, asker=self.asker, **limits)
        self.speaker = FakeSpeaker()
        self.stages = Stages(self.research.loop, ledger, voice=FakeVoice(), speaker=self.speaker)
        self.stages.transcriber = ScriptedTranscriber(*["Which colour?"] * 3)
        for name, stage in stages.items():
            setattr(self.stages, name, stage)
        self.ears, self.microphone = FakeEars(), FakeMicrophone()
        self.desk = Desk(self.stages, self.ears, self.microphone, asker=self.asker)
        self.events: list[Event] = []
        self.live = Live(self.desk, self.events.append)

    def with_cues(self) -> "Room":
        """Let it have cues, on a loudspeaker of their own, so that answers stand alone."""
        self.cues_heard = FakeSpeaker(instant=True)
        self.desk.earcons = Earcons(self.cues_heard, thinking_after_s=0.05, volume=1.0)
        return self

    @property
    def cues(self) -> list[Cue]:
        """The cues that were heard."""
        names = {cue_sound(cue, 1.0).samples.tobytes(): cue for cue in CUES}
        return [names[sound.samples.tobytes()] for sound in self.cues_heard.sounds]

    @property
    def names(self) -> list[str]:
        return [name_of(event) for event in self.events]

    @asynccontextmanager
    async def running(self, follow_up_s: float = 0.0) -> AsyncIterator[None]:
        self.desk.follow_up_s = follow_up_s
        self.live = Live(self.desk, self.events.append)
        task = asyncio.create_task(self.live.run())
        yield
        self.live.stop("test")
        self.microphone.hear()
        await asyncio.wait_for(task, 10)

    async def hears(self, *events: FrontEndEvent) -> None:
        self.ears.coming += events
        self.microphone.hear()
        await until(lambda: not self.ears.coming)

    async def speaks(self, sounds: int = 1) -> None:
        await until(lambda: len(self.speaker.sounds) >= sounds)
        assert self.live.state is State.SPEAKING

    async def is_in(self, state: State) -> None:
        await until(lambda: self.live.state is state)


async def until(true: Callable[[], bool]) -> None:
    for _ in range(5_000):
        if true():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never happened")
