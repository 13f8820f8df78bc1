"""A question, the state of its research, and the reply that comes of it."""

from dataclasses import dataclass, field

from voice_agent.engine import StopFlag
from voice_agent.events import AnswerText, Listener, Source
from voice_agent.llm.model import Message
from voice_agent.research.account import Account
from voice_agent.research.answer import Ending
from voice_agent.research.budget import TimeBudget, TokenBudget
from voice_agent.research.evidence import Evidence, Finding, Novelty
from voice_agent.research.provenance import Provenance


@dataclass(frozen=True)
class Inquiry:
    """A question of one turn; ``history`` are earlier exchanges, as they were heard.

    What the user has allowed holds for the ``conversation``.
    """

    question: str
    turn: int | None
    stop: StopFlag
    emit: Listener
    language: str = "en"
    history: tuple[Message, ...] = ()
    conversation: int = 0


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

    ``judging``: evidence is judged, and until it suffices nothing that the model says is passed
    on. ``sufficient`` is the last verdict, given when ``judged`` things were known.
    ``waiting`` is what the question itself found, ``shown`` the portions of it in the request.
    ``refused`` are tools that the user did not allow, ``sections_read`` the keys of the sections
    that workers have read.
    """

    inquiry: Inquiry
    time: TimeBudget
    tokens: TokenBudget
    evidence: Evidence
    messages: list[Message]
    provenance: Provenance
    account: Account = field(default_factory=Account)
    refused: set[str] = field(default_factory=set)
    sections_read: set[str] = field(default_factory=set)
    novelty: Novelty = field(default_factory=Novelty)
    requests: int = 0
    rounds: int = 0
    stale_rounds: int = 0
    text: str = ""
    new_part: bool = False
    judging: bool = False
    sufficient: bool | None = None
    judged: int = 0
    waiting: list[Finding] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    @property
    def known(self) -> int:
        """How many findings and facts there are to judge."""
        return len(self.evidence) + len(self.account.facts)

    @property
    def refuted(self) -> bool:
        """Whether all that was found has been judged, and does not state the answer."""
        return self.sufficient is False and self.judged == self.known

    def say(self, text: str) -> None:
        """Pass a piece of the answer on; a new request's text begins on a new line."""
        if self.judging and not self.sufficient:
            return
        if self.new_part and self.text:
            text = f"\n{text}"
        self.new_part = False
        self.text += text
        self.inquiry.emit(AnswerText(turn=self.inquiry.turn, text=text))
