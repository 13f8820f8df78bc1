"""Sentences that the assistant says of itself, between the turns."""

import asyncio
import logging

from voice_agent.audio.playback import Speaker
from voice_agent.errors import DeviceError, SynthesisError
from voice_agent.phrases import Phrase, phrase
from voice_agent.tts import Voice

log = logging.getLogger(__name__)


class Remarks:
    """Says one fixed sentence at a time, where there are a voice and a loudspeaker."""

    def __init__(self, voice: Voice | None, speaker: Speaker | None) -> None:
        self._voice = voice
        self._speaker = speaker
        self._saying: asyncio.Task[None] | None = None

    def say(self, name: Phrase) -> None:
        """Say it in place of what is being said; what cannot be spoken is logged."""
        self.drop()
        if self._voice is not None and self._speaker is not None:
            saying = self._say(name, self._voice, self._speaker)
            self._saying = asyncio.create_task(saying, name=f"remark-{name}")

    def drop(self) -> None:
        """Be silent now."""
        if self._saying is not None:
            self._saying.cancel()
            self._saying = None

    async def _say(self, name: Phrase, voice: Voice, speaker: Speaker) -> None:
        try:
            speech = await voice.synthesize(phrase(name, voice.language))
            await speaker.play(speech.sound)
        except (DeviceError, SynthesisError) as error:
            log.info("Not said aloud (%s): %s", name, error)
