"""Writes events as JSON lines, stamped on one monotonic clock."""

import json
import time
from dataclasses import replace
from typing import TextIO

from voice_agent.events import Event, to_json


class JsonLines:
    """A listener that prints each event as one JSON object a line, at once.

    Seconds count from ``started`` (a `time.monotonic` instant), by default its own making.
    """

    def __init__(self, stream: TextIO, started: float | None = None) -> None:
        self._stream = stream
        self._started = time.monotonic() if started is None else started

    def begin(self, at: float) -> None:
        """Count seconds from ``at`` from now on: the microphone's first sample."""
        self._started = at

    def __call__(self, event: Event) -> None:
        """Print ``event``; without a position of its own it gets the time that it is now."""
        if event.t_s is None:
            event = replace(event, t_s=round(time.monotonic() - self._started, 4))
        self._stream.write(json.dumps(to_json(event), ensure_ascii=False) + "\n")
        self._stream.flush()
