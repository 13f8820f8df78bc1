"""Plays the cues, on the loudspeaker that the answers come from: one at a time, and droppable."""

import asyncio
import logging
from collections.abc import Collection

from voice_agent.audio.cues import CUES, Cue, cue_sound
from voice_agent.audio.playback import Speaker
from voice_agent.errors import DeviceError

log = logging.getLogger(__name__)

THINKING_AFTER_S = 2.0
"""A thought that is shorter needs no cue."""
THINKING_EVERY_S = 4.0


class Earcons:
    """Cues for a loudspeaker, or none; only those in ``cues`` are heard, at ``volume`` (0 to 1).

    Used on the event loop's thread. Nothing here waits for the sound.
    """

    def __init__(
        self,
        speaker: Speaker | None,
        *,
        volume: float = 0.3,
        cues: Collection[Cue] = CUES,
        thinking_after_s: float = THINKING_AFTER_S,
        thinking_every_s: float = THINKING_EVERY_S,
    ) -> None:
        self._speaker = speaker
        wanted = cues if volume > 0 else ()
        self._sounds = {cue: cue_sound(cue, volume) for cue in wanted}
        self._after_s, self._every_s = thinking_after_s, thinking_every_s
        self._playing: asyncio.Task[None] | None = None
        self._thinking: asyncio.Task[None] | None = None

    @property
    def playing(self) -> bool:
        """Whether a cue is being heard."""
        return self._playing is not None and not self._playing.done()

    def play(self, cue: Cue) -> None:
        """Play ``cue`` in place of the one that is heard."""
        self.drop()
        sound = self._sounds.get(cue)
        if sound is not None and self._speaker is not None:
            self._playing = asyncio.create_task(self._play(cue, self._speaker), name=f"cue-{cue}")

    def drop(self) -> None:
        """End the cue that is heard, if one is, now."""
        if self._playing is not None:
            self._playing.cancel()
            self._playing = None

    def think(self, thinking: bool) -> None:
        """Say whether the assistant thinks: while it does, a cue is heard from time to time."""
        if not thinking and self._thinking is not None:
            self._thinking.cancel()
            self._thinking = None
        elif thinking and self._thinking is None and "thinking" in self._sounds:
            self._thinking = asyncio.create_task(self._think(), name="thinking-cues")

    async def _think(self) -> None:
        await asyncio.sleep(self._after_s)
        while True:
            self.play("thinking")
            await asyncio.sleep(self._every_s)

    async def _play(self, cue: Cue, speaker: Speaker) -> None:
        try:
            await speaker.play(self._sounds[cue])
        except DeviceError as error:
            log.warning("The cue %r could not be played: %s", cue, error)
