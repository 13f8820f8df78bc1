"""What a reply's research may cost: seconds, tokens, steps. Plain values, no clock of their own."""

from dataclasses import dataclass

from voice_agent.llm.model import Size


@dataclass(frozen=True)
class Limits:
    """The bounds of one reply's research (the settings ``research.*``)."""

    timeout_s: float = 300.0
    token_budget: int = 65_536
    no_progress_rounds: int = 4
    max_steps: int = 0
    output_tokens: int = 512


class TimeBudget:
    """Research seconds from ``started`` on; the time spent waiting for the user does not count."""

    def __init__(self, limit_s: float, started: float) -> None:
        self._deadline = started + limit_s

    @property
    def deadline(self) -> float:
        """The instant, on the clock of ``started``, at which research is over."""
        return self._deadline

    def spent(self, now: float) -> bool:
        """Whether there is no time left at ``now``."""
        return now >= self._deadline

    def extend(self, waited_s: float) -> None:
        """Give back seconds that passed while the user was asked something."""
        self._deadline += waited_s


class TokenBudget:
    """Tokens that research may still be charged: reserve before a request, settle after it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.charged = 0
        self._reserved = 0

    @property
    def left(self) -> int:
        """Tokens neither charged nor reserved."""
        return self.limit - self.charged - self._reserved

    def reserve(self, size: Size, output_tokens: int) -> int | None:
        """Set aside what a request may cost; None, and nothing set aside, if it does not fit."""
        wanted = size.new_tokens + output_tokens
        if wanted > self.left:
            return None
        self._reserved += wanted
        return wanted

    def settle(self, reserved: int, used: int) -> None:
        """Charge what the request used and return the rest of its reservation."""
        self._reserved -= reserved
        self.charged += used


def tools_allowed(step: int, max_steps: int) -> bool:
    """Whether model request number ``step`` (from 1) may use tools.

    Of ``max_steps`` requests the last one is the answer without tools; 0 means no such cap.
    """
    return max_steps == 0 or step < max_steps


def fits_context(size: Size, output_tokens: int, context_tokens: int) -> bool:
    """Whether prompt and full output allowance fit the model's context."""
    return size.prompt_tokens + output_tokens <= context_tokens
