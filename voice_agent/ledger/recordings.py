"""Recordings of what was asked, kept only where the user asked for it, and not for long.

A recording belongs to a turn of the ledger: it goes when the turn is deleted.
"""

import logging
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from voice_agent.audio.format import Sound, write_wav
from voice_agent.errors import RecordingError
from voice_agent.places import private_file, private_folder

log = logging.getLogger(__name__)

Existing = Callable[[Sequence[int]], Collection[int]]
"""Returns those of some turns that are in the ledger."""

_DAY_S = 86_400.0
_NAMES = ("turn-*.wav", ".turn-*.part")  # a part is what a killed program left


class Recordings:
    """The recordings in ``folder`` (0700, files 0600), none of them older than ``max_age_days``.

    With ``wanted`` False nothing is added. ``clock`` tells seconds since the epoch. A disk that
    does not allow what is wanted is logged; no turn fails for it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        wanted: bool,
        max_age_days: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._wanted = wanted
        self._max_age_days = max_age_days
        self._clock = clock
        self._tidied_s = float("-inf")

    def keep(self, turn: int, sound: Sound) -> None:
        """Keep what was said in a turn, where that is wanted."""
        if not self._wanted:
            return
        file = self._folder / f"turn-{turn}.wav"
        try:
            private_folder(self._folder)
            write_wav(file, sound)
            private_file(file)
        except (OSError, RecordingError) as error:
            log.warning("The recording of turn %d could not be kept: %s", turn, error)

    def tidy(self, existing: Existing) -> int:
        """Delete what is too old, and what belongs to turns that are no longer ``existing``.

        Returns how many were deleted.
        """
        self._tidied_s = self._clock()
        before_s, count = self._tidied_s - self._max_age_days * _DAY_S, 0
        turns = {each: _turn_of(each) for names in _NAMES for each in self._folder.glob(names)}
        there = existing([turn for turn in turns.values() if turn is not None])
        for file, turn in turns.items():
            try:
                if turn in there and file.stat().st_mtime >= before_s:
                    continue
                file.unlink(missing_ok=True)
                count += 1
            except OSError as error:
                log.warning("The recording %s could not be deleted: %s", file, error.strerror)
        return count

    def tidy_daily(self, existing: Existing) -> int:
        """`tidy`, but not within a day after the last time."""
        return self.tidy(existing) if self._clock() >= self._tidied_s + _DAY_S else 0


def _turn_of(file: Path) -> int | None:
    number = file.stem.removeprefix("turn-")
    return int(number) if number.isdecimal() and len(number) < 19 else None
