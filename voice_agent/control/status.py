"""What the assistant tells of itself: the ``status`` of the control protocol.

========== ========================================================================================
state      ``starting``, ``waiting`` (for a microphone), ``preparing`` (it listens, and a
           question waits for the language model), ``idle``, ``listening``, ``thinking``,
           ``speaking``
muted      whether the microphone is muted
uptime_s   seconds since the program began; ``heard_s`` of them were heard
pid        the process
memory_mb  what it holds in memory
version    the program's version
models     the names of ``llm``, ``stt`` and ``tts``
devices    the names of ``input`` and ``output``; null where there is none
documents  how many the library holds
clients    how many are connected to the control socket
counters   ``wakes``, ``questions``, ``answers``, ``cancelled``, ``errors``
trouble    the last error: ``stage``, ``message``, ``mend``, ``ago_s``, and ``over``: whether a
           microphone that had failed is back; null if there was none
silent_s   how long the microphone has delivered nothing but digital silence
========== ========================================================================================
"""

import os
from collections import Counter
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from voice_agent.errors import DeviceError, LedgerError
from voice_agent.events import (
    Answer,
    Cancelled,
    Error,
    Event,
    HearsAgain,
    Unrecorded,
    Unspoken,
    Wake,
)
from voice_agent.places import NAME

_COUNTED = ("wakes", "questions", "answers", "cancelled", "errors")


@dataclass
class Tally:
    """Counts what happens, and remembers the last trouble. Times are seconds of one clock."""

    began_s: float
    counters: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(_COUNTED, 0)))
    trouble: Error | None = None
    trouble_s: float = 0.0
    over: bool = False

    def note(self, event: Event, now_s: float) -> None:
        """Take the next event."""
        if isinstance(event, Wake):
            self.counters["wakes"] += 1
        elif isinstance(event, Answer):
            self.counters["answers"] += 1
        elif isinstance(event, Cancelled):
            self.counters["cancelled"] += 1
        elif isinstance(event, Error):
            self.counters["errors"] += 1
            self._remember(event, now_s)
        elif isinstance(event, Unspoken | Unrecorded):
            stage = DeviceError.stage if isinstance(event, Unspoken) else LedgerError.stage
            self._remember(Error(stage=stage, message=event.message, mend=event.mend), now_s)
        elif isinstance(event, HearsAgain):
            self.over = True
        if isinstance(event, Answer | Cancelled | Error) and event.turn is not None:
            self.counters["questions"] += 1

    def _remember(self, error: Error, now_s: float) -> None:
        self.trouble, self.trouble_s, self.over = error, now_s, False

    def to_json(self, now_s: float) -> dict[str, Any]:
        """Return what is known, as the fields of the status."""
        return {
            "uptime_s": round(now_s - self.began_s, 1),
            "pid": os.getpid(),
            "memory_mb": memory_mb(),
            "version": metadata.version(NAME),
            "counters": dict(self.counters),
            "trouble": self._trouble(now_s),
        }

    def _trouble(self, now_s: float) -> dict[str, Any] | None:
        error = self.trouble
        if error is None:
            return None
        return {
            "stage": error.stage,
            "message": error.message,
            "mend": error.mend,
            "ago_s": round(now_s - self.trouble_s, 1),
            "over": self.over,
        }


def memory_mb(status: Path = Path("/proc/self/status")) -> int:
    """Return how much memory this process holds (VmRSS of proc(5)), in MB; 0 if unknown."""
    for line in status.read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 // 1_000_000
    return 0
