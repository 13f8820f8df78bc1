"""Composition root: the only place that knows all stages, and the order of start and stop.

Models load before any sound device opens: loading stalls every Python thread for a moment.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from voice_agent.asking_aloud import VoiceAsker
from voice_agent.audio.capture import DeviceMicrophone, RecordedMicrophone
from voice_agent.audio.cues import CUES
from voice_agent.audio.playback import DeviceSpeaker, Speaker, Speakers, WavSpeaker
from voice_agent.audio.reference import PlayedSound, Reference
from voice_agent.audio.timeline import TimelineSpeaker
from voice_agent.catalogue import Catalogue, locate_weights
from voice_agent.desk import Desk
from voice_agent.earcons import Earcons
from voice_agent.ears import load_ears
from voice_agent.errors import DeviceError
from voice_agent.ledger import Ledger
from voice_agent.ledger.recordings import Recordings
from voice_agent.library import Library
from voice_agent.llm.llama import load_library
from voice_agent.places import Places
from voice_agent.preparing import Answers, prepared
from voice_agent.research.asking import Asker, Nobody
from voice_agent.session import Stages
from voice_agent.settings import Settings
from voice_agent.speech_models import load_transcriber, load_voice, prepare_remarks
from voice_agent.thinking import Shelves, open_research


@dataclass(frozen=True)
class Wanted:
    """Which stages a verb needs: speech to text, a loudspeaker, a file for the sound.

    ``speaker`` is one of the verb's own, to be used besides or instead; ``asker`` reaches the user
    in the middle of a reply. ``later``: a local language model is opened when the
    research, which then is a `Preparing`, is told to begin.
    """

    stt: bool = False
    loudspeaker: bool = False
    sound_file: Path | None = None
    speaker: Speaker | None = None
    asker: Asker = field(default_factory=Nobody)
    later: bool = False

    @property
    def voice(self) -> bool:
        """Whether anything is spoken."""
        return self.loudspeaker or self.sound_file is not None or self.speaker is not None


@asynccontextmanager
async def open_stages(settings: Settings, places: Places, wanted: Wanted) -> AsyncIterator[Stages]:
    """Open the ledger, the library, the models and last the loudspeaker; close them in reverse.

    Raises what the stages raise: a missing model, a broken database, a file that cannot be
    written. A loudspeaker that is not there is said once on stderr; the rest works without.
    """
    catalogue = Catalogue.load()
    async with AsyncExitStack() as opened:
        ledger = opened.enter_context(Ledger.open(places.ledger))
        ledger.expire(settings.history.keep_days)
        library = opened.enter_context(
            Library.open(places.library, max_bytes=settings.library.max_file_mb * 1_000_000)
        )
        located = await asyncio.to_thread(_locate, catalogue, settings, places, wanted)
        shelves = Shelves(library, ledger, wanted.asker)
        opening = open_research(
            settings, places, shelves, catalogue=catalogue, weights=located.get("llm")
        )
        later = wanted.later and "llm" in located
        if later:
            await asyncio.to_thread(load_library)
        research: Answers = await opened.enter_async_context(
            prepared(opening) if later else opening
        )
        stages = Stages(
            research=research,
            ledger=ledger,
            documents=sum(folder.documents for folder in library.folders()),
            language=settings.stt.language,
            recordings=_recordings(settings, places, ledger),
        )
        if wanted.stt:
            stages.transcriber = opened.enter_context(
                await load_transcriber(settings.stt, places.models)
            )
        if wanted.voice:
            tts = settings.tts
            voice = opened.enter_context(
                await asyncio.to_thread(
                    load_voice, tts.voice, places.models, rate=tts.rate, volume=tts.volume
                )
            )
            stages.voice, stages.first_clause_chars = voice, tts.first_clause_chars
            remarks = prepare_remarks(voice, first_clause_chars=tts.first_clause_chars)
            opened.callback(asyncio.create_task(remarks).cancel)
            stages.speaker = _speaker(settings, wanted, voice.rate_hz, opened)
        yield stages


@dataclass(frozen=True)
class Files:
    """Files in place of the devices: what is heard, and where what is spoken goes."""

    recording: Path | None = None
    output: Path | None = None


@asynccontextmanager
async def open_desk(
    settings: Settings,
    places: Places,
    files: Files,
    began: Callable[[float], None],
    *,
    later: bool = False,
) -> AsyncIterator[Desk]:
    """Open all that a live session works with, models before devices; close it in reverse.

    ``later``: a local language model is the exception, see `Wanted`.
    ``began`` gets the moment of the microphone's first sample, on the loop's clock. Raises what
    `open_stages` raises, and RecordingError, and DeviceError where there is no microphone.
    """
    async with AsyncExitStack() as opened:
        recorded = RecordedMicrophone(files.recording) if files.recording else None
        file = opened.enter_context(TimelineSpeaker(files.output)) if files.output else None
        asker = VoiceAsker()
        wanted = Wanted(stt=True, loudspeaker=file is None, speaker=file, asker=asker, later=later)
        stages = await opened.enter_async_context(open_stages(settings, places, wanted))
        ears = await asyncio.to_thread(load_ears, settings)

        def on_first_sample(at_s: float) -> None:
            if file is not None:
                file.begin(at_s)
            began(at_s)

        microphone = recorded or opened.enter_context(DeviceMicrophone(settings.audio.input_device))
        if isinstance(microphone, DeviceMicrophone) and isinstance(stages.speaker, DeviceSpeaker):
            stages.speaker.look_again = microphone.look_again
            microphone.make_way = stages.speaker.make_way
        yield Desk(
            stages=stages,
            ears=ears,
            microphone=microphone,
            devices=_devices(microphone, stages.speaker, files),
            reference=_reference(stages.speaker),
            follow_up_s=settings.listen.follow_up_s,
            asker=asker,
            answer_s=settings.listen.answer_wait_s,
            earcons=Earcons(
                stages.speaker,
                volume=settings.cues.volume,
                cues=[cue for cue in CUES if cue in settings.cues.wanted],
            ),
            on_first_sample=on_first_sample,
        )


def names_of_models(settings: Settings) -> dict[str, str]:
    """Return the names of the models that the settings choose, by role."""
    llm = settings.llm
    language = llm.model if llm.provider == "local" else llm.remote_model
    return {"llm": language, "stt": settings.stt.model, "tts": settings.tts.voice}


def _recordings(settings: Settings, places: Places, ledger: Ledger) -> Recordings:
    wanted = settings.recordings
    recordings = Recordings(places.recordings, wanted=wanted.keep, max_age_days=wanted.max_age_days)
    recordings.tidy(ledger.existing)
    return recordings


def _devices(
    microphone: DeviceMicrophone | RecordedMicrophone, speaker: Speaker | None, files: Files
) -> dict[str, str | None]:
    recording, output = files.recording, files.output
    heard = microphone.device.name if isinstance(microphone, DeviceMicrophone) else str(recording)
    if isinstance(speaker, DeviceSpeaker):
        return {"input": heard, "output": speaker.device.name}
    return {"input": heard, "output": str(output) if output else None}


def _reference(speaker: Speaker | None) -> Reference | None:
    if isinstance(speaker, TimelineSpeaker):
        return speaker
    if isinstance(speaker, DeviceSpeaker):
        played = PlayedSound(speaker.device.rate_hz)
        speaker.tap = played
        return played
    return None


def _locate(
    catalogue: Catalogue, settings: Settings, places: Places, wanted: Wanted
) -> dict[str, Path]:
    """Return the verified files of the models that are needed, by role."""
    names = {"llm": settings.llm.model} if settings.llm.provider == "local" else {}
    if wanted.stt:
        names["stt"] = settings.stt.model
    if wanted.voice:
        names["tts"] = settings.tts.voice
    return {role: locate_weights(catalogue.model(n), places.models) for role, n in names.items()}


def _speaker(
    settings: Settings, wanted: Wanted, rate_hz: int, opened: AsyncExitStack
) -> Speaker | None:
    speakers: list[Speaker] = [] if wanted.speaker is None else [wanted.speaker]
    if wanted.sound_file is not None:
        speakers.append(opened.enter_context(WavSpeaker(wanted.sound_file, rate_hz)))
    if wanted.loudspeaker:
        audio = settings.audio
        device = DeviceSpeaker(audio.output_device, latency_s=audio.output_latency_ms / 1000)
        try:
            speakers.append(opened.enter_context(device))
        except DeviceError as error:
            sys.stderr.write(f"voice-agent: {_unspoken(error, wanted.sound_file)}\n")
    return Speakers(speakers) if len(speakers) > 1 else next(iter(speakers), None)


def _unspoken(error: DeviceError, sound_file: Path | None) -> str:
    """Say that nobody hears the answer; who has asked for a file need not be told to."""
    if sound_file is None:
        return f"the answer is not spoken: {error}"
    return f"the answer is not spoken aloud, only into {sound_file}: {error.message}"
