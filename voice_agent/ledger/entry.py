"""What the ledger holds of the turn that runs: a ledger that fails ends no turn."""

from voice_agent.errors import LedgerError
from voice_agent.events import Answer, Cancelled, Error, Event, Timings, WriteBegun
from voice_agent.ledger.records import Kind
from voice_agent.ledger.store import Ledger


class Entry:
    """The record of one turn, written step by step; ``turn`` is its id.

    What cannot be written waits, and is tried once more with the ending: so a ledger that fails in
    mid-turn costs the turn nothing but a short wait. A turn without an id could not begin, for
    ``fault``, and nothing is written of it.
    """

    def __init__(self, ledger: Ledger, turn: int | None, fault: LedgerError | None = None) -> None:
        self.turn = turn
        self.fault = fault
        self._ledger = ledger
        self._waiting: list[Event] = []

    def add(self, event: Event) -> None:
        """Record a step of the turn.

        Raises LedgerError for a `WriteBegun` alone: what changes something is on record before it
        is done, or it is not done.
        """
        if self.turn is None:
            return
        self._waiting.append(event)
        if self.fault is not None and not isinstance(event, WriteBegun):
            return
        try:
            self._write(self.turn)
        except LedgerError as error:
            self.fault = error
            if isinstance(event, WriteBegun):
                self._waiting.pop()
                raise

    def end(
        self, ending: Answer | Cancelled | Error, *, streamed: str, timings: Timings, heard: str
    ) -> LedgerError | None:
        """Record what waits, how the turn ended and what was heard of it.

        Return what has prevented it, if anything did; see `Ledger.end_turn`.
        """
        if self.turn is None:
            return None
        try:
            self._write(self.turn)
            self._ledger.end_turn(self.turn, ending, streamed=streamed, timings=timings)
            if heard:
                self._ledger.heard(self.turn, heard)
        except LedgerError as error:
            return error
        return None

    def _write(self, turn: int) -> None:
        while self._waiting:
            self._ledger.step(turn, self._waiting[0])
            self._waiting.pop(0)
        self.fault = None


class Entries:
    """The turns of one conversation."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._conversation: int | None = None

    @property
    def conversation(self) -> int:
        """The conversation's id, 0 before the first turn."""
        return self._conversation or 0

    def begin(self, question: str, *, kind: Kind, language: str) -> Entry:
        """Begin the record of a turn; where that fails, an entry with a ``fault`` and no id."""
        try:
            if self._conversation is None:
                self._conversation = self._ledger.begin_conversation()
            turn = self._ledger.begin_turn(
                question, kind=kind, language=language, conversation=self._conversation
            )
        except LedgerError as error:
            return Entry(self._ledger, None, error)
        return Entry(self._ledger, turn)
