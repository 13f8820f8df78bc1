"""Whether a call may run, and the question to the user where the program cannot tell by itself."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from voice_agent.llm.model import Call
from voice_agent.phrases import Phrase, is_yes, phrase
from voice_agent.research.asking import Asking
from voice_agent.research.provenance import Provenance

_SHOWN_CHARS = 200

InDoubt = Callable[[str], dict[str, Any] | None]
"""The arguments of the last write of the tool of this name, if nobody knows what came of it."""


def _certain(name: str) -> None:
    return None


@dataclass(frozen=True)
class Rules:
    """When to ask: ``confirm_writes`` before a tool's first write in a conversation.

    A write whose words are not the user's, one like a write with an unknown outcome, and a call
    that stands in what was read are asked about in any case.
    """

    confirm_writes: bool = True
    in_doubt: InDoubt = _certain


@dataclass
class Plea:
    """One call of a reply, and what is known of its words; ``refused`` lasts for the reply."""

    call: Call
    writes: bool
    provenance: Provenance
    conversation: int
    language: str
    refused: set[str] = field(default_factory=set)


class Permission:
    """Gives leave for calls; what the user allowed once holds for the conversation."""

    def __init__(self, asking: Asking, rules: Rules) -> None:
        self.asking = asking
        self._rules = rules
        self._granted: set[tuple[int, str]] = set()

    def doubted(self, name: str) -> str:
        """The earlier write of the tool ``name`` that has an unknown outcome; empty for none."""
        arguments = self._rules.in_doubt(name)
        return "" if arguments is None else _in_words(name, arguments)

    async def given(self, plea: Plea) -> bool:
        """Whether the call may run; asks the user where that needs their word.

        Silence, and any answer that is no clear yes, means no, until the reply has ended.
        """
        question = self._question(plea)
        if question is None:
            return True
        name = plea.call.name
        if name in plea.refused:
            return False
        words = phrase(
            question, plea.language, action=action(plea.call), earlier=self.doubted(name)
        )
        if not is_yes(await self.asking.ask(words, "permission") or ""):
            plea.refused.add(name)
            return False
        if plea.writes:
            self._granted.add((plea.conversation, name))
        return True

    def _question(self, plea: Plea) -> Phrase | None:
        call = plea.call
        if plea.provenance.is_quoted(call):
            return "permit_quoted"
        if not plea.writes:
            return None
        if self.doubted(call.name):
            return "permit_in_doubt"
        if not plea.provenance.is_the_users(call):
            return "permit_foreign"
        first = (plea.conversation, call.name) not in self._granted
        return "permit" if self._rules.confirm_writes and first else None


def action(call: Call) -> str:
    """Return in words what ``call`` would do, short enough to be said."""
    return _in_words(call.name, call.arguments or {})


def _in_words(name: str, arguments: dict[str, Any]) -> str:
    values = ", ".join(str(value) for value in arguments.values())
    text = " ".join(f"{name.replace('_', ' ')}: {values}".split())
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS].rstrip() + " …"
