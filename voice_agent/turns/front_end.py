"""The listening front end: sound in, who spoke and what was meant for us out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voice_agent.audio.format import SAMPLE_RATE_HZ
from voice_agent.events import SpeechEnded, SpeechStarted, Wake
from voice_agent.turns import HOP_SAMPLES
from voice_agent.turns.endpointing import Endpointing, EndpointRules, Outcome
from voice_agent.turns.own_voice import (
    LISTENER_REFRACTORY_S,
    LISTENER_THRESHOLD,
    OwnVoice,
)
from voice_agent.turns.preroll import PreRoll
from voice_agent.turns.vad import Vad
from voice_agent.turns.wake_word import REFRACTORY_S, Detection, WakeWords

_BEFORE_SPEECH_SAMPLES = int(0.3 * SAMPLE_RATE_HZ)  # soft beginnings that the VAD does not hear
_AFTER_SPEECH_SAMPLES = int(0.3 * SAMPLE_RATE_HZ)
_BEFORE_LISTEN_SAMPLES = int(0.5 * SAMPLE_RATE_HZ)  # people speak while they press the key
_WARM_UP_SAMPLES = int(0.32 * SAMPLE_RATE_HZ)
_KEPT_S = 3

# A wake word is detected 0.14 s (median; 95th percentile 0.21 s) after its end.
_WORD_END_SAMPLES = int(0.15 * SAMPLE_RATE_HZ)
_EARLIEST_END_SAMPLES = int(0.25 * SAMPLE_RATE_HZ)
_LATEST_END_SAMPLES = int(0.05 * SAMPLE_RATE_HZ)
_SURELY_PAST_HOPS = 20  # after the detection: the wake word's own tail is over
_DIP = 0.25


@dataclass(frozen=True)
class Addressed:
    """A whole utterance that was spoken to us, decided at ``t_s``.

    ``samples``: float32 of shape (n,) at 16 kHz, with pre-roll and without the wake word. ``cut``:
    it was ended for its length, and someone speaks on.
    """

    start_s: float
    end_s: float
    samples: NDArray[np.float32]
    t_s: float = 0.0
    cut: bool = False


@dataclass(frozen=True)
class NothingSaid:
    """We listened, and nobody spoke in time."""

    t_s: float


@dataclass(frozen=True)
class OwnSpeech:
    """The speech that started last was the echo of what was played; we listen on."""

    t_s: float


FrontEndEvent = Wake | SpeechStarted | SpeechEnded | Addressed | NothingSaid | OwnSpeech


@dataclass(frozen=True)
class _Question:
    """A question that is being listened to: where that began, and how early it may begin."""

    endpointing: Endpointing
    first: int
    earliest: int


class FrontEnd:
    """Feed it the microphone's sound, get events with positions in seconds of the stream.

    The wake word is heard in every state. Speech is looked for only while a question is expected:
    after the wake word or `listen`, up to the end of the first utterance. ``own_voice`` makes the
    echo canceller when the first playback comes.
    """

    def __init__(
        self,
        words: WakeWords | None,
        vad: Vad,
        rules: EndpointRules,
        own_voice: Callable[[], OwnVoice],
    ) -> None:
        self._words = words
        self._vad = vad
        self._rules = rules
        self._make_own_voice = own_voice
        self._own_voice: OwnVoice | None = None
        self._own_voice_since = 0
        self._heard = PreRoll(int((rules.max_question_s + _KEPT_S) * SAMPLE_RATE_HZ))
        self._question: _Question | None = None
        self._last_end = 0
        self._waiting = np.zeros((2, 0), np.float32)

    @classmethod
    def load(
        cls,
        words: Sequence[str],
        rules: EndpointRules,
        *,
        threshold: float = 0.0,
        own_voice_threshold: float = 1.0,
        refractory_s: float = REFRACTORY_S,
    ) -> "FrontEnd":
        """Load the models; no ``words``: no wake word. Raises ModelMissing and ModelMismatch.

        See `WakeWords.load` for the words and what goes with them; ``own_voice_threshold`` counts
        while something is played, if it is lower.
        """
        from voice_agent.audio.echo import LinearEchoCanceller

        def detector(threshold: float, refractory_s: float) -> WakeWords | None:
            if not words:
                return None
            return WakeWords.load(words, threshold=threshold, refractory_s=refractory_s)

        def own_voice() -> OwnVoice:
            listener = detector(LISTENER_THRESHOLD, LISTENER_REFRACTORY_S)
            return OwnVoice(LinearEchoCanceller(), listener, threshold=own_voice_threshold)

        return cls(detector(threshold, refractory_s), Vad.load(), rules, own_voice)

    @property
    def position_s(self) -> float:
        """How much of the stream has been heard."""
        return _seconds(self._heard.end)

    @property
    def listening(self) -> bool:
        """Whether a question is expected or being spoken."""
        return self._question is not None

    def listen(self, *, wait_s: float | None = None) -> None:
        """Expect a question, as if the wake word had just been said.

        ``wait_s`` overrides how long its first word is waited for; infinity waits for ever.
        """
        now = self._heard.end
        earliest = max(now - _BEFORE_LISTEN_SAMPLES, self._last_end)
        self._expect(Endpointing(self._rules, wait_s=wait_s), now, earliest)

    def stop_listening(self) -> None:
        """Expect no question."""
        self._question = None

    def hint(self, complete: bool | None) -> None:
        """Say whether the text up to this pause is a whole question; see `Endpointing.hint`."""
        if self._question is not None:
            self._question.endpointing.hint(complete)

    def await_hint(self) -> None:
        """Say that a hint will come for this pause; see `Endpointing.await_hint`."""
        if self._question is not None:
            self._question.endpointing.await_hint()

    def so_far(self) -> NDArray[np.float32]:
        """Return the question as far as it has been heard; float32 of shape (n,) at 16 kHz."""
        if self._question is None:
            return np.zeros(0, np.float32)
        return self._heard.between(*self._span(self._question))

    def feed(
        self, samples: NDArray[np.float32], playback: NDArray[np.float32] | None = None
    ) -> list[FrontEndEvent]:
        """Take the next samples, shape (n,) in [-1, 1] at 16 kHz, and return what happened.

        ``playback`` is what the loudspeaker played in the same time, of the same shape; its echo
        is taken out first. Raises ValueError where the lengths differ.
        """
        if playback is None:
            playback = np.zeros_like(samples)
        elif self._own_voice is None and playback.any():
            self._own_voice = self._make_own_voice()
            self._own_voice_since = self._heard.end
        self._waiting = np.hstack([self._waiting, np.stack([samples, playback])])
        events: list[FrontEndEvent] = []
        whole = self._waiting.shape[1] // HOP_SAMPLES * HOP_SAMPLES
        for start in range(0, whole, HOP_SAMPLES):
            microphone, played = self._waiting[:, start : start + HOP_SAMPLES]
            events += self._hop(microphone, played)
        self._waiting = self._waiting[:, whole:]
        return events

    def _hop(
        self, hop: NDArray[np.float32], played: NDArray[np.float32]
    ) -> Iterator[FrontEndEvent]:
        threshold = 1.0
        if self._own_voice is not None:
            hop = self._own_voice.clean(hop, played)
            threshold = self._own_voice.threshold
        self._heard.append(hop)
        suspected = self._vad.suspects(hop)
        detections = self._words.feed(hop, threshold=threshold) if self._words is not None else []
        woken = [detection for detection in detections if not self._is_own(detection)]
        for detection in woken:
            yield Wake(word=detection.word, score=detection.score, t_s=_seconds(detection.at))
        if woken:
            yield from self._wake()
        elif self._question is not None:
            yield from self._step(hop, suspected)

    def _is_own(self, detection: Detection) -> bool:
        own = self._own_voice
        return own is not None and own.said(
            replace(detection, at=detection.at - self._own_voice_since)
        )

    def _wake(self) -> Iterator[FrontEndEvent]:
        """Expect a question from the wake word's end on, which lies a little back."""
        now = self._heard.end
        cut = _word_end(self._heard, now)
        past_hops = (now - cut) // HOP_SAMPLES + _SURELY_PAST_HOPS
        self._expect(Endpointing(self._rules, not_before_hop=past_hops), cut, cut)
        warm_up = self._heard.between(cut - _WARM_UP_SAMPLES, cut)
        for hop in _hops(warm_up):
            self._vad.confirms(hop)
        for hop in _hops(self._heard.between(cut, now)):
            yield from self._step(hop, suspected=True)

    def _expect(self, endpointing: Endpointing, first: int, earliest: int) -> None:
        self._vad.forget()
        self._question = _Question(endpointing, first, earliest)

    def _step(self, hop: NDArray[np.float32], suspected: bool) -> Iterator[FrontEndEvent]:
        question = self._question
        if question is None:
            return
        endpointing = question.endpointing
        was_paused = endpointing.paused
        own = self._own_voice is not None and self._own_voice.is_all
        outcome = endpointing.step(self._vad.confirms(hop, suspected=suspected) and not own)
        if outcome in (Outcome.STARTED, Outcome.RESUMED):
            start_s = self._at(question, endpointing.run_start_hop)
            yield SpeechStarted(start_s=start_s, t_s=self.position_s)
        elif outcome is Outcome.PAUSED or (outcome is Outcome.ENDED and not was_paused):
            yield self._ended(question)
        if outcome is Outcome.ENDED and self._is_echo(question):
            now = self._heard.end
            self._expect(Endpointing(self._rules, wait_s=endpointing.wait_left_s), now, now)
            yield OwnSpeech(self.position_s)
        elif outcome is Outcome.ENDED:
            yield self._addressed(question)
        elif outcome is Outcome.NOTHING_SAID:
            self._question = None
            yield NothingSaid(self.position_s)

    def _is_echo(self, question: _Question) -> bool:
        """Whether nothing was said but what we played ourselves."""
        first = question.first - self._own_voice_since
        start_hop, end_hop = question.endpointing.start_hop or 0, question.endpointing.end_hop
        own = self._own_voice
        return own is not None and own.played(
            first + start_hop * HOP_SAMPLES, first + end_hop * HOP_SAMPLES
        )

    def _ended(self, question: _Question) -> SpeechEnded:
        endpointing = question.endpointing
        return SpeechEnded(
            start_s=self._at(question, endpointing.run_start_hop),
            end_s=self._at(question, endpointing.end_hop),
            t_s=self.position_s,
        )

    def _addressed(self, question: _Question) -> Addressed:
        self._question = None
        start, end = self._span(question)
        self._last_end = end
        return Addressed(
            start_s=self._at(question, question.endpointing.start_hop or 0),
            end_s=self._at(question, question.endpointing.end_hop),
            samples=self._heard.between(start, end),
            t_s=self.position_s,
            cut=question.endpointing.cut,
        )

    def _span(self, question: _Question) -> tuple[int, int]:
        """The samples of a question, with what lies around its speech."""
        start_hop = question.endpointing.start_hop
        if start_hop is None:
            return question.earliest, self._heard.end
        start = question.first + start_hop * HOP_SAMPLES - _BEFORE_SPEECH_SAMPLES
        end = question.first + question.endpointing.end_hop * HOP_SAMPLES + _AFTER_SPEECH_SAMPLES
        return max(start, question.earliest), min(end, self._heard.end)

    def _at(self, question: _Question, hop: int) -> float:
        return _seconds(question.first + hop * HOP_SAMPLES)


def _word_end(heard: PreRoll, detected: int) -> int:
    """Return where the wake word probably ends: at a dip in energy near the usual place, or there.

    The detector cannot tell; without a pause the question begins right behind it.
    """
    samples = heard.between(detected - _EARLIEST_END_SAMPLES, detected - _LATEST_END_SAMPLES)
    hops = samples[: len(samples) // HOP_SAMPLES * HOP_SAMPLES].reshape(-1, HOP_SAMPLES)
    usual = max(detected - _WORD_END_SAMPLES, 0)
    if len(hops) < 3:
        return usual
    energy = np.convolve(np.square(hops).mean(axis=1), np.full(3, 1 / 3), mode="valid")
    if energy.min() > _DIP * energy.mean():
        return usual
    return detected - _EARLIEST_END_SAMPLES + (int(energy.argmin()) + 1) * HOP_SAMPLES


def _hops(samples: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(samples) - HOP_SAMPLES + 1, HOP_SAMPLES):
        yield samples[start : start + HOP_SAMPLES]


def _seconds(samples: int) -> float:
    return round(samples / SAMPLE_RATE_HZ, 4)
