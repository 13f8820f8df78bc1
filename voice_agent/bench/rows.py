"""Results of a benchmark as JSON lines in a file, so that a long run can be made in parts."""

import json
from pathlib import Path
from typing import Any

from voice_agent.errors import UsageError

Row = dict[str, Any]


class Rows:
    """The results so far, those of earlier parts first; without ``file`` they are not kept.

    Raises UsageError where ``file`` holds something else.
    """

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._rows: list[Row] = []
        if file is None or not file.exists():
            return
        try:
            self._rows += map(json.loads, filter(None, file.read_text("utf-8").split("\n")))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{file} does not hold the results of an earlier part: {error}.",
                mend="Name another file with --rows.",
                file=file,
            ) from error

    def all(self) -> list[Row]:
        """Return all results, in their order."""
        return list(self._rows)

    def add(self, row: Row) -> None:
        """Keep one more, also on disk."""
        self._rows.append(row)
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as kept:
                kept.write(json.dumps(row, ensure_ascii=False) + "\n")
