"""``replay``: the listening front end over recordings, faster than real time."""

import argparse
import asyncio
import math
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice_agent.cli.output import say, say_row
from voice_agent.errors import RecordingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voice_agent.audio.format import Sound
    from voice_agent.cli.verbs import Verbs
    from voice_agent.events import Event, Partial, Transcript
    from voice_agent.settings.model import Settings
    from voice_agent.stt import Transcriber, Transcription
    from voice_agent.turns.front_end import FrontEnd, FrontEndEvent

_BLOCK_S = 0.02
_SILENCE_BEFORE_S = 1.0
"""Silence before the first recording: a detector that has heard nothing yet is deaf."""
_SILENCE_AFTER_S = 3.0
"""Silence that goes on after each recording: wake words are detected after their end."""


def add(verbs: "Verbs") -> None:
    """Add the verb ``replay``."""
    verb = verbs.add_parser("replay", help="what the microphone's sound would have started")
    verb.add_argument(
        "files", metavar="F", nargs="+", type=Path, help="a recording: WAV, FLAC or OGG"
    )
    verb.add_argument(
        "--playback", metavar="F", type=Path, help="what the loudspeaker played meanwhile"
    )
    verb.add_argument("--no-wake", action="store_true", help="take all speech as spoken to us")
    verb.add_argument("--transcribe", action="store_true", help="write down what was said")
    verb.add_argument("--json", action="store_true", help="one JSON object a line")
    verb.set_defaults(run=_replay)


def _replay(args: argparse.Namespace) -> int:
    return asyncio.run(_all(args))


async def _all(args: argparse.Namespace) -> int:
    from voice_agent.audio.format import read_recording
    from voice_agent.cli.screen import tell_notices
    from voice_agent.places import places
    from voice_agent.settings import load_settings
    from voice_agent.speech_models import load_transcriber

    loaded = load_settings()
    tell_notices(loaded)
    settings = loaded.settings
    playback = await asyncio.to_thread(read_recording, args.playback) if args.playback else None
    show = _Json() if args.json else _Lines(named=len(args.files) > 1)
    with ExitStack() as undo:
        stt = None
        if args.transcribe:
            stt = undo.enter_context(await load_transcriber(settings.stt, places().models))
        replay = _Replay(settings, no_wake=args.no_wake, stt=stt, playback=playback, show=show)
        done = [await replay.file(file) for file in args.files]
    return 0 if all(done) else 1


class _Replay:
    """One run over some files; the detector hears them one after the other, as live.

    With ``playback`` each file is a room of its own, which the echo canceller has to learn anew.
    """

    def __init__(
        self,
        settings: "Settings",
        *,
        no_wake: bool,
        stt: "Transcriber | None",
        playback: "Sound | None",
        show: "_Json | _Lines",
    ) -> None:
        self._settings = settings
        self._no_wake = no_wake
        self._texts = None if stt is None else _Texts(stt, settings.stt.language)
        self._playback = playback
        self._show = show
        self._front = self._opened()

    def _opened(self) -> "FrontEnd":
        from voice_agent.ears import load_ears

        front = load_ears(self._settings, no_wake=self._no_wake)
        front.feed(_silence(_SILENCE_BEFORE_S))
        return front

    async def file(self, file: Path) -> bool:
        """Show what happens in ``file``, or why it cannot be read; return whether it could."""
        from voice_agent.audio.format import read_recording
        from voice_agent.events import Error

        try:
            sound = await asyncio.to_thread(read_recording, file)
        except RecordingError as error:
            sys.stderr.write(f"voice-agent: {error}\n")
            fault = Error(stage=error.stage, message=error.message, mend=error.mend, t_s=0.0)
            self._show(fault, file)
            return False
        if self._playback is not None:
            self._front = self._opened()
        start_s = self._front.position_s
        self._listen_anew()
        async for event in self._events(sound):
            self._show(_moved(event, -start_s), file)
        self._front.stop_listening()
        return True

    async def _events(self, sound: "Sound") -> AsyncIterator["Event"]:
        for microphone, playback in _blocks(sound, self._playback):
            for happened in self._front.feed(microphone, playback):
                async for event in self._shown(happened):
                    yield event

    async def _shown(self, happened: "FrontEndEvent") -> AsyncIterator["Event"]:
        """Yield the events that one of the front end's is shown as."""
        from voice_agent.events import Utterance
        from voice_agent.turns.front_end import Addressed, NothingSaid, OwnSpeech

        if isinstance(happened, Addressed):
            yield Utterance(start_s=happened.start_s, end_s=happened.end_s, t_s=happened.t_s)
        elif not isinstance(happened, NothingSaid | OwnSpeech):
            yield happened
        if self._texts is not None:
            async for text in self._texts.events(happened, self._front):
                yield text
        if isinstance(happened, Addressed):
            self._listen_anew()

    def _listen_anew(self) -> None:
        if self._no_wake:
            self._front.listen(wait_s=math.inf)


class _Texts:
    """The partial transcripts, which tell the endpointing what they end with, and the final ones.

    Positions are those of a machine that transcribes at once, so that they are the same on every
    machine; ``stt_s`` says how long it took here. A partial that was made in the pause that then
    ended the question is its final transcript.
    """

    def __init__(self, stt: "Transcriber", language: str) -> None:
        self._stt = stt
        self._language = language
        self._last: Transcription | None = None

    async def events(
        self, happened: "FrontEndEvent", front: "FrontEnd"
    ) -> AsyncIterator["Partial | Transcript"]:
        """Yield what is understood after ``happened``."""
        from voice_agent.events import Partial, SpeechEnded, SpeechStarted, Transcript
        from voice_agent.turns.completeness import looks_complete
        from voice_agent.turns.front_end import Addressed

        if isinstance(happened, SpeechStarted):
            self._last = None
        elif isinstance(happened, SpeechEnded) and front.listening:
            self._last = await self._heard(front.so_far())
            front.hint(looks_complete(self._last.text, self._last.language))
            yield Partial(t_s=happened.t_s, **_written(self._last))
        elif isinstance(happened, Addressed):
            text = self._last or await self._heard(happened.samples)
            self._last = None
            yield Transcript(t_s=happened.t_s, **_written(text))

    async def _heard(self, samples: "NDArray[np.float32]") -> "Transcription":
        from voice_agent.audio.format import SAMPLE_RATE_HZ, Sound

        return await self._stt.transcribe(Sound(samples, SAMPLE_RATE_HZ), language=self._language)


def _written(text: "Transcription") -> dict[str, Any]:
    return {
        "text": text.text,
        "language": text.language,
        "audio_s": text.audio_s,
        "stt_s": text.stt_s,
    }


def _blocks(
    sound: "Sound", playback: "Sound | None"
) -> "Iterator[tuple[NDArray[np.float32], NDArray[np.float32] | None]]":
    """Yield the sound and the silence after it, with what the loudspeaker played meanwhile."""
    import numpy as np

    samples = np.concatenate([sound.samples, _silence(_SILENCE_AFTER_S)])
    played = None
    if playback is not None:
        played = np.zeros_like(samples)
        played[: len(playback.samples)] = playback.samples[: len(played)]
    size = int(_BLOCK_S * sound.rate_hz)
    for start in range(0, len(samples), size):
        end = start + size
        yield samples[start:end], None if played is None else played[start:end]


def _silence(seconds: float) -> "NDArray[np.float32]":
    import numpy as np

    from voice_agent.audio.format import SAMPLE_RATE_HZ

    return np.zeros(int(seconds * SAMPLE_RATE_HZ), np.float32)


def _moved(event: "Event", by_s: float) -> "Event":
    """Return ``event`` with all its positions moved."""
    positions = {
        name: round(value + by_s, 4)
        for name in ("t_s", "start_s", "end_s")
        if (value := getattr(event, name, None)) is not None
    }
    return replace(event, **positions)


class _Json:
    """Prints each event as a JSON object that names its file."""

    def __call__(self, event: "Event", file: Path) -> None:
        from voice_agent.events import to_json

        line = to_json(event) | {"file": str(file)}
        say_row(line)


class _Lines:
    """Prints each event as a line; among several recordings, with its file's name."""

    def __init__(self, *, named: bool) -> None:
        self._named = named

    def __call__(self, event: "Event", file: Path) -> None:
        from voice_agent.events import Error, name_of, to_json

        if isinstance(event, Error):
            return  # it stands on stderr
        fields = to_json(event)
        shown = " ".join(
            str(fields[name])
            for name in ("word", "score", "start_s", "end_s", "text")
            if fields.get(name) is not None
        )
        name = f"{file}: " if self._named else ""
        say(f"{name}{fields['t_s']:9.2f}  {name_of(event):<14} {shown}")
