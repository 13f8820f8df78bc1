"""The documents that questions are asked about, as a library that is thrown away."""

from pathlib import Path

from voice_agent.errors import UsageError
from voice_agent.library import Library
from voice_agent.places import Places


def fill_library(places: Places, documents: Path) -> None:
    """Make ``documents`` the library of ``places``; raises UsageError when there are none."""
    with Library.open(places.library) as library:
        report = library.add(documents)
    if not report.added:
        raise UsageError(
            f"{documents} holds no documents.", mend="Name a folder of text or Markdown files."
        )
