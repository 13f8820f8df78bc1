"""Every event that crosses a stage border, and its JSON form.

An event is named by a noun or a past participle. ``turn`` is the id of the turn that it belongs
to, or None. ``t_s`` is on one monotonic clock: seconds since the program's first sample, or the
position in a recording; an event without a position of its own gets its time when it is printed.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

Basis = Literal["complete", "forced", "fallback"]
Reason = Literal[
    "none",
    "time",
    "tokens",
    "context",
    "steps",
    "no_progress",
    "empty_answer",
    "nothing_found",
    "provider",
]
ToolStatus = Literal["ok", "empty", "error", "not_executed", "duplicate", "declined", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Event:
    """What all events carry."""

    turn: int | None = None
    t_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Wake(Event):
    """The wake word was detected, at ``t_s``."""

    word: str
    score: float


@dataclass(frozen=True, kw_only=True)
class SpeechStarted(Event):
    """Someone began to speak."""

    start_s: float
    end_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class SpeechEnded(Event):
    """The speech that began at ``start_s`` ended."""

    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class Utterance(Event):
    """A whole utterance, decided by endpointing."""

    start_s: float
    end_s: float


@dataclass(frozen=True, kw_only=True)
class Partial(Event):
    """What has been understood while the person still speaks."""

    text: str
    language: str
    audio_s: float
    stt_s: float
    file: str | None = None


@dataclass(frozen=True, kw_only=True)
class Asked(Event):
    """A question was typed to the assistant that listens."""

    text: str


@dataclass(frozen=True, kw_only=True)
class AskedBack(Event):
    """The assistant asks the user in the middle of a turn; the next transcript is the answer."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Transcript(Event):
    """What was said: ``audio_s`` seconds of sound, transcribed in ``stt_s``."""

    text: str
    language: str
    audio_s: float
    stt_s: float
    file: str | None = None


@dataclass(frozen=True, kw_only=True)
class Round(Event):
    """One model request of the research loop; prefetch is number 0."""

    n: int
    prompt_tokens: int = 0
    reused_tokens: int = 0
    output_tokens: int = 0
    reserved: int = 0
    charged: int = 0


@dataclass(frozen=True, kw_only=True)
class ToolCall(Event):
    """The model asked for a tool."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class WriteBegun(Event):
    """A call that changes something is about to run: without a result its outcome is unknown."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolResult(Event):
    """What came of a tool call: ``text`` is what the model was given to read."""

    id: str
    status: ToolStatus
    chars: int
    new_evidence: int
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Finishing(Event):
    """Research ends; the answer is written from what was found."""

    reason: Reason


@dataclass(frozen=True, kw_only=True)
class AnswerText(Event):
    """A piece of the answer as it is written."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Sentence(Event):
    """A sentence as it is spoken, counted from 1."""

    n: int
    text: str


@dataclass(frozen=True, kw_only=True)
class PlaybackStarted(Event):
    """The first sound of the answer, or of a question to the user, reached the loudspeaker."""


@dataclass(frozen=True, kw_only=True)
class PlaybackEnded(Event):
    """What `PlaybackStarted` began ended at the loudspeaker, whole or not."""

    heard_text: str


@dataclass(frozen=True)
class Source:
    """Where a piece of evidence stands."""

    path: str
    title: str
    heading: str | None = None
    page: int | None = None


@dataclass(frozen=True)
class Timings:
    """Seconds after the last sample of speech (typed: after the request); None: no such stage."""

    endpoint: float | None = None
    transcript: float | None = None
    first_token: float | None = None
    first_sentence: float | None = None
    first_sound: float | None = None
    answer_end: float | None = None


@dataclass(frozen=True, kw_only=True)
class Answer(Event):
    """The turn's answer, however it came about."""

    text: str
    spoken: str
    basis: Basis
    reason: Reason
    sources: tuple[Source, ...]
    rounds: int
    charged_tokens: int
    answer_tokens: int
    timings: Timings = field(default_factory=Timings)


@dataclass(frozen=True, kw_only=True)
class Cancelled(Event):
    """The turn was cancelled.

    ``silence_s`` and ``stopped_s`` count from the detection: until the last sample was sent, and
    until model and tools had stopped.
    """

    cause: str
    silence_s: float | None
    stopped_s: float | None
    heard_text: str


@dataclass(frozen=True, kw_only=True)
class Error(Event):
    """A turn, or a file, failed: what happened and what to do."""

    stage: str
    message: str
    mend: str = ""
    file: str | None = None


@dataclass(frozen=True, kw_only=True)
class Unspoken(Event):
    """The loudspeaker failed: the rest of the turn is not heard, but goes on."""

    message: str
    mend: str = ""


@dataclass(frozen=True, kw_only=True)
class Unrecorded(Event):
    """The ledger failed: the turn goes its way, but not all of it is on record."""

    message: str
    mend: str = ""


@dataclass(frozen=True, kw_only=True)
class HearsAgain(Event):
    """The microphone, which had failed, is back after ``gone_s`` seconds."""

    gone_s: float


@dataclass(frozen=True, kw_only=True)
class SoundLost(Event):
    """What was lost between devices and program, told at the end.

    ``overruns`` counts how often the system lost samples of the microphone, ``dropped_blocks``
    blocks of 0.04 s that the program was too slow for, ``underruns`` gaps in what was played.
    """

    overruns: int
    dropped_blocks: int
    underruns: int


Listener = Callable[[Event], None]
"""Takes each event as it happens; returns at once."""


def name_of(event: Event) -> str:
    """The event's name in JSON: its class in snake case."""
    return name_of_kind(type(event))


def name_of_kind(kind: type[Event]) -> str:
    """The name in JSON of events of the class ``kind``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def to_json(event: Event) -> dict[str, Any]:
    """The event as an object that JSON can hold: ``event``, ``t_s``, ``turn``, then its fields."""
    head = {"event": name_of(event), "t_s": event.t_s, "turn": event.turn}
    return head | {
        f.name: _plain(getattr(event, f.name)) for f in fields(event) if f.name not in head
    }


def from_json(data: Mapping[str, Any]) -> Event | None:
    """Return the event that `to_json` made ``data`` of; None for an event of a later version."""
    kind = {name_of_kind(each): each for each in Event.__subclasses__()}.get(str(data.get("event")))
    if kind is None:
        return None
    known = {f.name: data[f.name] for f in fields(kind) if f.name in data}
    if kind is Answer:
        known["sources"] = tuple(Source(**source) for source in data["sources"])
        known["timings"] = Timings(**data["timings"])
    return kind(**known)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
