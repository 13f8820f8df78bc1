"""The one sentence that is said after a turn which failed, or of which there is no record."""

import asyncio

from voice_agent.audio.playback import Speaker
from voice_agent.errors import LedgerError, TranscriptionError
from voice_agent.events import Answer, Error, Listener
from voice_agent.phrases import Phrase, phrase
from voice_agent.speaking import Speaking, heard_out
from voice_agent.tts import Voice
from voice_agent.turn import Ending, Turn

_OF_STAGE: dict[str, Phrase] = {
    TranscriptionError.stage: "no_speech",
    LedgerError.stage: "no_record",
}


def apology(ending: Ending, *, recorded: bool) -> Phrase | None:
    """Return what is to be said after ``ending``, if anything."""
    if isinstance(ending, Error):
        return _OF_STAGE.get(ending.stage, "failed")
    return "unrecorded" if isinstance(ending, Answer) and not recorded else None


async def say_after(
    turn: Turn, name: Phrase, voice: Voice, speaker: Speaker, *, emit: Listener
) -> None:
    """Say ``name`` after the end of ``turn``, unless that is cancelled meanwhile.

    Its events belong to no turn: nothing comes after a turn's ending.
    """
    turn.silenced_by(speaker.abort)
    speaking = Speaking(voice, speaker, turn=None, stop=turn.stop, emit=emit)
    speaking.feed(phrase(name, voice.language))
    speaking.end()
    await heard_out(asyncio.create_task(speaking.run()))
