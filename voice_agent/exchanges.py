"""What was said before: the last questions, and of their answers what was heard."""

from collections import deque

from voice_agent.llm.model import Message

KEPT = 3
KEPT_S = 600.0
"""An exchange that is older has nothing to do with the next question."""

_MOST_CHARS = 600


class Exchanges:
    """The last ``kept`` exchanges of a conversation; times are seconds of any one clock."""

    def __init__(self, kept: int = KEPT) -> None:
        self._exchanges: deque[tuple[float, str, str]] = deque(maxlen=kept)

    def add(self, question: str, heard: str, at_s: float) -> None:
        """Remember an exchange that ended at ``at_s``; one without an answer is no exchange."""
        if question and heard:
            self._exchanges.append((at_s, question, heard))

    def messages(self, now_s: float) -> tuple[Message, ...]:
        """Return what is still remembered, oldest first, as the model reads it."""
        recent = [each for each in self._exchanges if now_s - each[0] <= KEPT_S]
        return tuple(
            message
            for _, question, heard in recent
            for message in (
                Message("user", _short(question)),
                Message("assistant", _short(heard)),
            )
        )


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else text[:_MOST_CHARS].rstrip() + " …"
