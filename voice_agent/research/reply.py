"""A question, the state of its research, and the reply that comes of it."""

from dataclasses import dataclass, field

from voice_agent.engine import StopFlag
from voice_agent.events import AnswerText, Listener, Source
from voice_agent.llm.model import Message
from voice_agent.research.answer import Ending
from voice_agent.research.budget import TimeBudget, TokenBudget
from voice_agent.research.evidence import Evidence, Finding, Novelty


@dataclass(frozen=True)
class Inquiry:
    """A question of one turn; ``history`` are earlier exchanges, as they were heard."""

    question: str
    turn: int
    stop: StopFlag
    emit: Listener
    language: str = "en"
    history: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What a reply came to."""

    ending: Ending
    sources: tuple[Source, ...]
    rounds: int
    charged_tokens: int


@dataclass
class Run:
    """The state of one reply while it is researched.

    ``sufficient`` is the last verdict on the evidence, given when it held ``judged`` findings.
    ``waiting`` is what the question itself found, ``shown`` the portions of it in the request.
    """

    inquiry: Inquiry
    time: TimeBudget
    tokens: TokenBudget
    evidence: Evidence
    messages: list[Message]
    novelty: Novelty = field(default_factory=Novelty)
    requests: int = 0
    rounds: int = 0
    stale_rounds: int = 0
    text: str = ""
    sufficient: bool | None = None
    judged: int = 0
    waiting: list[Finding] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        """Pass a piece of the answer on."""
        if self.sufficient is False:
            return  # said without evidence: the model may only search on
        self.text += text
        self.inquiry.emit(AnswerText(turn=self.inquiry.turn, text=text))
