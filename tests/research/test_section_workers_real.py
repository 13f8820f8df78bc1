"""Section workers with a real model, a real library and real prompts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent.engine import Engine, StopFlag
from voice_agent.events import Event, Round
from voice_agent.library import Library, content_terms
from voice_agent.llm.llama import Llama
from voice_agent.llm.local import LocalModel
from voice_agent.llm.model import Call, Message, Request
from voice_agent.research.budget import TimeBudget, TokenBudget
from voice_agent.research.evidence import Evidence
from voice_agent.research.provenance import Provenance
from voice_agent.research.reply import Inquiry, Run
from voice_agent.research.section_workers import SectionWorkers
from voice_agent.research.spending import Spending
from voice_agent.research.toolbox.library import READ, ReadDocument
from voice_agent.research.tools import Result, Toolbox

QUESTION = "Which code opens the safe in the cellar?"
FILLER = "The garden was watered on time and the path behind the house was swept again. " * 12
DOCUMENT = "# House book\n\n" + "\n\n".join(
    f"## Week {n}\n\n{'The safe in the cellar opens with the code 4711. ' * (n == 3)}{FILLER}"
    for n in range(6)
)


@pytest.fixture
def model(small_llama: Llama) -> Iterator[LocalModel]:
    for sequence in (0, 1):
        small_llama.forget(sequence)
    engine = Engine("llm")
    yield LocalModel(small_llama, engine, context_tokens=2048, answer_tokens=1024)
    engine.close()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "house.md").write_text(DOCUMENT)
    with Library.open(tmp_path / "library.sqlite3") as library:
        library.add(tmp_path / "documents")
        yield library


async def read(model: LocalModel, library: Library, events: list[Event]) -> tuple[Run, Result]:
    """Read the document as a reply to `QUESTION` would."""
    run = Run(
        inquiry=Inquiry(QUESTION, 1, StopFlag(), events.append),
        time=TimeBudget(600, 0.0),
        tokens=TokenBudget(1_200),
        evidence=Evidence(content_terms, library.idf),
        messages=[],
        provenance=Provenance([QUESTION]),
    )
    call = Call("1", READ, {"title": "House book"}, raw="")
    toolbox = Toolbox([ReadDocument(library)])
    result = await toolbox.execute(call, question=QUESTION, stop=run.inquiry.stop)
    run.time.extend(1e9)  # how fast this machine is does not matter here
    return run, await SectionWorkers(model, Spending(model, lambda: 0.0)).read(run, result)


async def test_workers_read_within_their_budget_and_beside_the_conversation(
    model: LocalModel, library: Library
) -> None:
    talk = Request((Message("system", "You are kind."),), 8, StopFlag(), float("inf"))
    await model.prepare(talk)
    before = await model.measure(talk)
    events: list[Event] = []
    run, result = await read(model, library, events)
    assert await model.measure(talk) == before
    rounds = [event for event in events if isinstance(event, Round)]
    assert 0 < sum(event.charged for event in rounds) == run.tokens.charged <= 1_200
    assert len(rounds) == len(run.sections_read) < 6
    assert all(finding.text in DOCUMENT for finding in result.findings)
    assert "4711" in result.findings[0].text or "4711" in result.text
    assert "Sections read: " in result.note and "Left unread: " in result.note
