"""What the research loop asks of a language model, and what it gets back.

A `Model` counts what a request would cost and streams the reply. Budgets work on its figures:
``evaluated`` tokens are those really processed, past the prefix that the previous request in the
same lane already left in the model's memory.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from voice_agent.engine import StopFlag

Role = Literal["system", "user", "assistant", "tool"]
Lane = Literal["conversation", "answer", "verdict"]
StopReason = Literal["end", "length", "deadline", "stopped", "repetition"]


@dataclass(frozen=True)
class ToolSpec:
    """A tool as the model sees it; ``parameters`` is a JSON schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call proposed by the model.

    ``arguments`` is None where the call was malformed; ``problem`` then says what was wrong, so
    that the model can be told. ``raw`` is the call as it was written.
    """

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str
    problem: str = ""


@dataclass(frozen=True)
class Message:
    """One message of an exchange.

    ``generated`` are the model's own tokens of an assistant message, as `Finished` gave them: with
    them the exchange is continued token for token, so that the processed prefix holds.
    ``call_id`` and ``name`` belong to the result of a tool call.
    """

    role: Role
    content: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    name: str = ""
    generated: tuple[int, ...] = ()


@dataclass(frozen=True)
class Request:
    """One request to the model.

    The lane says which memory it continues: requests in one lane share their prefix, and no
    lane disturbs another's. ``deadline`` is an instant of `time.monotonic`; it and ``stop`` act
    while the prompt is processed, too. ``calls_allowed`` False makes calls impossible.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    stop: StopFlag
    deadline: float
    tools: tuple[ToolSpec, ...] = ()
    lane: Lane = "conversation"
    calls_allowed: bool = True


@dataclass(frozen=True)
class Size:
    """What a request's prompt holds: all tokens, and those that need no processing."""

    prompt_tokens: int
    reused_tokens: int

    @property
    def new_tokens(self) -> int:
        """Tokens that the request would have to process."""
        return self.prompt_tokens - self.reused_tokens


@dataclass(frozen=True)
class Text:
    """A piece of the reply that may be shown and spoken."""

    text: str


@dataclass(frozen=True)
class Reasoning:
    """A piece of the model's reasoning: never shown as answer, never spoken."""

    text: str


@dataclass(frozen=True)
class Finished:
    """The last item of a reply: why it ended and what it cost.

    ``evaluated_tokens`` are the prompt tokens really processed; ``output_tokens`` those generated.
    """

    reason: StopReason
    prompt_tokens: int
    reused_tokens: int
    evaluated_tokens: int
    output_tokens: int
    generated: tuple[int, ...] = field(default=(), repr=False)

    @property
    def charged_tokens(self) -> int:
        """What a budget pays for the request."""
        return self.evaluated_tokens + self.output_tokens


@dataclass(frozen=True)
class Likelihood:
    """How likely a reply begins with each of some words, and what it cost to find out."""

    shares: tuple[float, ...]
    finished: Finished


Piece = Text | Reasoning | Call | Finished


class Model(Protocol):
    """A language model that streams replies; all errors are `ModelError`."""

    context_tokens: int
    """How many tokens prompt and output of one request may hold together."""

    prompt_tokens_per_s: float
    """Measured speed of prompt processing: sizes what the final request may hold."""

    async def measure(self, request: Request) -> Size:
        """Count the request's prompt as it would be processed now."""
        ...

    def stream(self, request: Request) -> AsyncIterator[Piece]:
        """Yield the reply's pieces; `Finished` comes last, also when stopped or out of time.

        Raises ContextOverflow before any work where prompt and ``max_tokens`` do not fit.
        """
        ...
