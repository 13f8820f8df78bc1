"""Which tools the model is offered, in a fixed order: every one costs prompt tokens."""

from collections.abc import Collection
from pathlib import Path

from voice_agent.research.asking import Asking
from voice_agent.research.toolbox.ask_user import ASK_USER, AskUser
from voice_agent.research.toolbox.calculator import CALCULATOR, Calculator
from voice_agent.research.toolbox.date_time import DATE_TIME, DateTime
from voice_agent.research.toolbox.library import Documents, ReadDocument, SearchDocuments
from voice_agent.research.toolbox.notes import ADD_NOTE, AddNote
from voice_agent.research.tools import Tool, Toolbox


def toolbox(
    documents: Documents, asking: Asking, *, enabled: Collection[str], notes_folder: Path
) -> Toolbox:
    """Return the tools over ``documents``, and those of the others that are ``enabled``."""
    others: dict[str, Tool] = {
        DATE_TIME: DateTime(),
        CALCULATOR: Calculator(),
        ADD_NOTE: AddNote(notes_folder),
        ASK_USER: AskUser(asking),
    }
    chosen = [tool for name, tool in others.items() if name in enabled]
    return Toolbox([SearchDocuments(documents), ReadDocument(documents), *chosen])
