"""Recordings with what is said in them: a folder with a table, or files with texts beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from voice_agent.errors import UsageError

TABLE = "transcripts.tsv"
"""The table of a folder: tabs between columns, of which ``file`` and ``text`` are read."""


@dataclass(frozen=True)
class Recorded:
    """A recording and what is said in it; None where nobody wrote it down."""

    file: Path
    said: str | None


def of_folder(folder: Path) -> list[Recorded]:
    """Return the recordings of the table in ``folder``, in its order. Raises UsageError."""
    table = folder / TABLE
    try:
        rows = [line.split("\t") for line in table.read_text("utf-8").splitlines() if line]
        at, text = rows[0].index("file"), rows[0].index("text")
        found = [Recorded(folder / row[at], row[text]) for row in rows[1:]]
    except (OSError, ValueError, IndexError) as error:
        raise UsageError(
            f"{table} is no table of recordings: {error}.",
            mend="Its first line names the columns, 'file' and 'text' among them, with tabs "
            "between them; each further line is a recording.",
            file=table,
        ) from error
    if not found:
        raise UsageError(f"{table} names no recordings.", mend="Add a line for each.", file=table)
    return found


def of_files(files: Sequence[Path]) -> list[Recorded]:
    """Return ``files``, each with the text in the file of the same name that ends in ``.txt``.

    Raises UsageError where such a text cannot be read.
    """
    found = []
    for file in files:
        text = file.with_suffix(".txt")
        try:
            found.append(Recorded(file, text.read_text("utf-8").strip() if text.exists() else None))
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{text} cannot be read: {error}.", mend="Make it plain text in UTF-8.", file=text
            ) from error
    return found


def evenly(recordings: Sequence[Recorded], most: int | None) -> list[Recorded]:
    """Return at most ``most`` of ``recordings``, spread over all of them."""
    if most is None or most >= len(recordings):
        return list(recordings)
    return [recordings[n * len(recordings) // most] for n in range(most)]
