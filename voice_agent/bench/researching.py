"""The research as it ships, over given documents, with a model whose requests are noted."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from voice_agent.bench.metered import MeteredModel
from voice_agent.catalogue import Catalogue, locate
from voice_agent.ledger import Ledger
from voice_agent.library import Library
from voice_agent.places import places
from voice_agent.research.asking import Nobody
from voice_agent.research.loop import ResearchLoop
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.settings import Settings
from voice_agent.thinking import Shelves, local_model, research_over


def weights(name: str) -> Path:
    """Return the verified file of the language model ``name``; raises ModelError without it."""
    model = Catalogue.load().model(name)
    locate(model, places().models)
    return model.weights(places().models)


@asynccontextmanager
async def open_shelves(documents: Sequence[Path], folder: Path) -> AsyncIterator[Shelves]:
    """Open a library of the folders ``documents`` and an empty record, both in ``folder``."""
    index = folder / "library.sqlite3"
    with Ledger.open(folder / "ledger.sqlite3") as ledger, Library.open(index) as library:
        for each in documents:
            await asyncio.to_thread(library.add, each)
        yield Shelves(library, ledger, Nobody())


@asynccontextmanager
async def local_research(
    settings: Settings, shelves: Shelves
) -> AsyncIterator[tuple[ResearchLoop, MeteredModel]]:
    """Open the local model of ``settings``, and the research with it; nothing is prepared.

    So the first reply pays for the beginnings of all requests. Raises ModelError.
    """
    name = settings.llm.model
    file = await asyncio.to_thread(weights, name)
    async with local_model(settings, file, prefix_folder=None) as model:
        metered = MeteredModel(model, model)
        sufficiency = Sufficiency(metered, Catalogue.load().model(name).evidence_yes)
        yield research_over(settings, metered, shelves, sufficiency=sufficiency), metered


@asynccontextmanager
async def shelves_of(documents: Path) -> AsyncIterator[Shelves]:
    """Open a library of one folder, and a record, that are thrown away."""
    with tempfile.TemporaryDirectory(prefix="voice-agent-bench-") as folder:
        async with open_shelves([documents], Path(folder)) as shelves:
            yield shelves
