"""The settings of research and answers reach the loop that works with them."""

from pathlib import Path

from fakes import ScriptedAsker, ScriptedModel

from voice_agent.ledger import Ledger
from voice_agent.library import Library
from voice_agent.research.answer import AnswerLimits
from voice_agent.research.budget import Limits
from voice_agent.research.loop import ResearchLoop
from voice_agent.settings import Settings
from voice_agent.thinking import Shelves, research_over

CHANGED = {
    "research": {
        "timeout_s": 61,
        "token_budget": 2_001,
        "no_progress_rounds": 7,
        "max_steps": 9,
        "prefetch": False,
    },
    "answer": {
        "max_tokens": 65,
        "timeout_s": 11,
        "first_word_s": 3,
        "excerpt_chars": 201,
        "compose": "transcript",
    },
}


def loop_of(settings: Settings, ledger: Ledger, folder: Path) -> ResearchLoop:
    with Library.open(folder / "library.sqlite3") as library:
        shelves = Shelves(library, ledger, ScriptedAsker())
        return research_over(settings, ScriptedModel(), shelves, sufficiency=None)


def test_every_limit_is_the_settings(ledger: Ledger, tmp_path: Path) -> None:
    loop = loop_of(Settings.model_validate(CHANGED), ledger, tmp_path)
    assert loop._limits == Limits(61, 2_001, 7, 9, loop._limits.output_tokens)
    assert loop._final._limits == AnswerLimits(65, 11, 3, 201, "transcript")
    assert loop._prefetch is None


def test_the_defaults_are_those_of_the_loop_itself(ledger: Ledger, tmp_path: Path) -> None:
    loop = loop_of(Settings(), ledger, tmp_path)
    assert (loop._limits, loop._final._limits) == (Limits(), AnswerLimits())
    assert loop._prefetch == "search_documents"
