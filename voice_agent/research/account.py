"""What a reply did besides reading: writes with their outcomes, questions put to the user, facts.

None of it may be lost on the way to the answer, so it goes into the final request in a few lines.
"""

from collections import Counter
from dataclasses import dataclass, field

from voice_agent.events import ToolStatus
from voice_agent.phrases import Phrase, phrase
from voice_agent.research.permission import action
from voice_agent.research.tools import Result

_FACTS = 5
_FACT_CHARS = 300

_OUTCOMES: dict[ToolStatus, Phrase] = {
    "ok": "write_done",
    "empty": "write_done",
    "declined": "write_declined",
    "unknown": "write_unknown",
}


@dataclass
class Account:
    """The account of one reply, in the order in which things happened.

    ``questions`` are those put to the user with the answer, None where there was none. ``doubted``
    are writes of earlier replies with an unknown outcome, which were in the way of a new one.
    """

    writes: list[Result] = field(default_factory=list)
    questions: list[tuple[str, str | None]] = field(default_factory=list)
    facts: list[Result] = field(default_factory=list)
    doubted: list[str] = field(default_factory=list)

    @property
    def wrote(self) -> bool:
        """Whether anything was written, or may have been."""
        return any(write.status in ("ok", "empty", "unknown") for write in self.writes)

    def lines(self, language: str) -> tuple[str, ...]:
        """Return the account in the words of ``language``; what happened often is said once."""
        told = [_question(pair, language) for pair in self.questions]
        told += [fact.text[:_FACT_CHARS] for fact in self.facts[-_FACTS:]]
        told += [_write_unknown(each, language) for each in self.doubted]
        return (*told, *_counted([write_line(write, language) for write in self.writes]))

    def uncertain(self, language: str) -> str:
        """Return what must be said of writes of which nobody knows whether they were done."""
        unsure = [action(each.call) for each in self.writes if each.status == "unknown"]
        unsure += self.doubted
        return " ".join(dict.fromkeys(_write_unknown(each, language) for each in unsure))


def write_line(write: Result, language: str) -> str:
    """Return one sentence on a write and what came of it."""
    name = _OUTCOMES.get(write.status, "write_not_done")
    return phrase(name, language, action=action(write.call))


def _write_unknown(done: str, language: str) -> str:
    return phrase("write_unknown", language, action=done)


def _question(pair: tuple[str, str | None], language: str) -> str:
    asked, answer = pair
    if answer is None:
        return phrase("asked_in_vain", language, question=asked)
    return phrase("asked_back", language, question=asked, answer=answer)


def _counted(lines: list[str]) -> list[str]:
    return [line if n == 1 else f"{line} (× {n})" for line, n in Counter(lines).items()]
