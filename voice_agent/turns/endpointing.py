"""Where a question begins and ends: decided from one yes or no a hop, nothing else."""

from dataclasses import dataclass
from enum import Enum, auto

from voice_agent.turns import HOP_S

_START_HOPS = 10  # confirmed speech before it counts: a click or a cough's edge is shorter
_RESUME_HOPS = 5
_PAUSE_HOPS = 20


@dataclass(frozen=True)
class EndpointRules:
    """How long the silence is that ends a question, and other limits.

    ``silence_s`` by itself; ``complete_silence_s`` when the text so far is a whole question;
    ``incomplete_silence_s`` when it is not, and after less than ``short_speech_s`` of speech
    (never longer, and never shorter, than ``silence_s``).
    ``hint_wait_s`` is how much longer it may be while the text so far is being made.
    ``wait_s`` for the first word; ``max_question_s`` for all.
    """

    silence_s: float = 0.5
    complete_silence_s: float = 0.45
    incomplete_silence_s: float = 1.3
    short_speech_s: float = 0.5
    hint_wait_s: float = 0.4
    wait_s: float = 5.0
    max_question_s: float = 20.0


class Outcome(Enum):
    """What the last hop decided."""

    STARTED = auto()  # the first speech
    PAUSED = auto()  # perhaps the end: time to look at the text so far
    RESUMED = auto()  # it was not
    ENDED = auto()  # the question is over
    NOTHING_SAID = auto()  # nobody spoke in time


class Endpointing:
    """Decides about one question; a new question needs a new one.

    ``wait_s`` overrides the rules' where given; infinity waits for ever. Speech that is over
    before ``not_before_hop`` does not count: the tail of a wake word.
    """

    def __init__(
        self, rules: EndpointRules, *, wait_s: float | None = None, not_before_hop: int = 0
    ) -> None:
        self._rules = rules
        self._not_before_hop = not_before_hop
        self._wait_s = rules.wait_s if wait_s is None else wait_s
        self._hops = 0
        self._run = 0  # of speech hops without a gap
        self._speech_hops = 0
        self._started_at: int | None = None
        self._run_started_at = 0
        self._last_speech_at = 0
        self._paused = False
        self._complete: bool | None = None
        self._awaits_hint = False
        self._cut = False

    @property
    def wait_left_s(self) -> float:
        """How much longer the first word would be waited for, had none come; 0 or more."""
        return max(0.0, self._wait_s - self._hops * HOP_S)

    @property
    def start_hop(self) -> int | None:
        """The first hop of the question, counted from this object's first hop; None before it."""
        return self._started_at

    @property
    def run_start_hop(self) -> int:
        """The first hop of the speech that goes on, or of the last that did."""
        return self._run_started_at

    @property
    def end_hop(self) -> int:
        """The hop after the last one with speech."""
        return self._last_speech_at + 1

    @property
    def paused(self) -> bool:
        """Whether the speaker pauses now, after some speech."""
        return self._paused

    @property
    def cut(self) -> bool:
        """Whether the question was ended for its length alone: someone speaks on."""
        return self._cut

    def hint(self, complete: bool | None) -> None:
        """Say whether the text up to this pause is a whole question; None: no telling.

        It counts until speech goes on.
        """
        if self._paused:
            self._complete = complete
            self._awaits_hint = False

    def await_hint(self) -> None:
        """Say that the text up to this pause is being made: the end waits a little for its hint.

        At most ``hint_wait_s``, and no longer than after an incomplete text. The answer comes no
        later for it, as it cannot begin before that text is there.
        """
        self._awaits_hint = self._paused

    def step(self, speech: bool) -> Outcome | None:
        """Take the next hop's decision and return what follows from it."""
        at = self._hops
        self._hops += 1
        self._run = self._run + 1 if speech else 0
        if self._started_at is None:
            return self._waiting(at)
        return self._speaking(at)

    def _waiting(self, at: int) -> Outcome | None:
        if self._run >= _START_HOPS and at >= self._not_before_hop:
            self._started_at = self._run_started_at = at - self._run + 1
            self._speech_hops = self._run
            self._last_speech_at = at
            return Outcome.STARTED
        if self._run == 0 and self._hops * HOP_S >= self._wait_s:
            return Outcome.NOTHING_SAID
        return None

    def _speaking(self, at: int) -> Outcome | None:
        outcome = None
        # A blip neither prolongs a question nor ends its pause.
        if self._run >= (_RESUME_HOPS if self._paused else 1):
            self._last_speech_at = at
            self._speech_hops += self._run if self._paused else 1
            if self._paused:
                outcome = Outcome.RESUMED
                self._run_started_at = at - self._run + 1
            self._paused, self._complete, self._awaits_hint = False, None, False
        if self._is_over(at):
            return Outcome.ENDED
        if not self._paused and at - self._last_speech_at >= _PAUSE_HOPS:
            self._paused = True
            outcome = Outcome.PAUSED
        return outcome

    def _is_over(self, at: int) -> bool:
        assert self._started_at is not None
        rules, speech_s = self._rules, self._speech_hops * HOP_S
        silence_s = (at - self._last_speech_at) * HOP_S
        needed_s = _silence_s(rules, speech_s, self._complete)
        if self._awaits_hint:
            longest_s = _silence_s(rules, speech_s, False)
            needed_s = min(needed_s + rules.hint_wait_s, longest_s)
        if silence_s >= needed_s:
            return True
        self._cut = (at - self._started_at + 1) * HOP_S >= rules.max_question_s
        return self._cut


def _silence_s(rules: EndpointRules, speech_s: float, complete: bool | None) -> float:
    if complete is True:
        return min(rules.complete_silence_s, rules.silence_s)
    if complete is False or speech_s < rules.short_speech_s:
        return max(rules.incomplete_silence_s, rules.silence_s)
    return rules.silence_s
