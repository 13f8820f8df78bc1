"""The two tools over a real library."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from voice_agent.engine import StopFlag
from voice_agent.library import Library
from voice_agent.llm.model import Call
from voice_agent.research.toolbox.library import (
    FOUND_CHARS,
    READ,
    SEARCH,
    ReadDocument,
    SearchDocuments,
)
from voice_agent.research.tools import Result, Toolbox

BOILER = (
    "# Boiler manual\n\nBought in 2019.\n\n## Pressure\n\nThe pressure is 1.5 bar when it is cold."
    "\n\n## Faults\n\nE14 means that the pump is stuck.\n"
)
LONG = "# Minutes\n\n" + "\n\n".join(
    f"## Meeting {i}\n\n{'The boiler was discussed at length. ' * 20}" for i in range(20)
)


@pytest.fixture
def toolbox(tmp_path: Path) -> Iterator[Toolbox]:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "boiler.md").write_text(BOILER)
    (folder / "minutes.md").write_text(LONG)
    with Library.open(tmp_path / "library.sqlite3") as library:
        library.add(folder)
        yield Toolbox([SearchDocuments(library), ReadDocument(library)])


async def run(toolbox: Toolbox, name: str, **arguments: str) -> Result:
    call = Call("1", name, dict(arguments), raw="")
    return await toolbox.execute(call, question="How high is the pressure?", stop=StopFlag())


async def test_a_search_returns_the_fact_and_where_it_stands(toolbox: Toolbox) -> None:
    result = await run(toolbox, SEARCH, query="boiler pressure cold")
    best = result.findings[0]
    assert "1.5 bar" in best.text
    assert best.source is not None
    assert (best.source.title, best.source.heading) == ("Boiler manual", "Pressure")
    assert best.source.path.endswith("boiler.md")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [(SEARCH, {"query": "boiler discussed"}), (READ, {"title": "Minutes"})],
)
async def test_one_call_brings_a_bounded_amount(
    toolbox: Toolbox, name: str, arguments: dict[str, str]
) -> None:
    result = await run(toolbox, name, **arguments)
    assert 0 < sum(len(f.text) for f in result.findings) <= FOUND_CHARS < len(LONG)


async def test_a_search_that_finds_nothing_is_empty(toolbox: Toolbox) -> None:
    assert (await run(toolbox, SEARCH, query="zyxwvut")).status == "empty"


@pytest.mark.parametrize("name", ["Boiler manual", "boiler.md", "boiler"])
async def test_a_document_is_read_by_its_title_or_path(toolbox: Toolbox, name: str) -> None:
    result = await run(toolbox, READ, title=name)
    assert "1.5 bar" in result.findings[0].text
    assert {f.source.title for f in result.findings if f.source} == {"Boiler manual"}


async def test_a_part_of_a_document_is_read_by_its_heading(toolbox: Toolbox) -> None:
    result = await run(toolbox, READ, title="Boiler manual", heading="faults")
    assert "E14" in result.text


async def test_a_document_that_is_not_there_is_an_error_for_the_model(toolbox: Toolbox) -> None:
    result = await run(toolbox, READ, title="Tax return 2031")
    assert result.status == "error" and "Tax return 2031" in result.text


async def test_a_long_document_comes_with_all_its_sections(toolbox: Toolbox) -> None:
    sections = (await run(toolbox, READ, title="Minutes")).sections
    assert [section.name for section in sections] == [f"Meeting {i}" for i in range(20)]
    assert sum(len(section.text) for section in sections) > FOUND_CHARS


async def test_a_short_document_is_shown_whole(toolbox: Toolbox) -> None:
    assert (await run(toolbox, READ, title="Boiler manual")).sections == ()


async def test_a_section_can_be_read_by_its_name(toolbox: Toolbox) -> None:
    result = await run(toolbox, READ, title="Minutes", heading="meeting 7")
    assert {f.source.heading for f in result.findings if f.source} == {"Meeting 7"}
    assert result.sections == ()
