"""Composition of what thinks: the language model, and the research that works with it."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from voice_agent.catalogue import Catalogue
from voice_agent.engine import Engine, usable_cores
from voice_agent.ledger import Ledger
from voice_agent.library import Library, content_terms
from voice_agent.llm.access import server_access
from voice_agent.llm.local import LocalModel
from voice_agent.llm.model import Model
from voice_agent.llm.remote import RemoteModel
from voice_agent.places import Places
from voice_agent.research.answer import AnswerLimits
from voice_agent.research.asking import Asker, Asking
from voice_agent.research.budget import Limits
from voice_agent.research.loop import ResearchLoop
from voice_agent.research.permission import Permission, Rules
from voice_agent.research.sufficiency import Sufficiency
from voice_agent.research.toolbox.choice import toolbox
from voice_agent.research.toolbox.library import SEARCH
from voice_agent.settings import Settings


@dataclass(frozen=True)
class Shelves:
    """What research works with besides the model: documents, the record, and the user."""

    library: Library
    ledger: Ledger
    asker: Asker


@asynccontextmanager
async def open_research(
    settings: Settings,
    places: Places,
    shelves: Shelves,
    *,
    catalogue: Catalogue,
    weights: Path | None,
) -> AsyncIterator[ResearchLoop]:
    """Open the model and yield the research with it, its prompts processed; close the model.

    ``weights`` is the file of a local model, which ``catalogue`` describes. Raises ModelError and
    SettingsError.
    """
    if weights is None:
        async with _remote_model(settings) as server:
            yield research_over(settings, server, shelves, sufficiency=None)
        return
    async with local_model(settings, weights, prefix_folder=places.cache / "prefixes") as model:
        threshold = catalogue.model(settings.llm.model).evidence_yes
        research = research_over(
            settings, model, shelves, sufficiency=Sufficiency(model, threshold)
        )
        for opening in research.openings():
            await model.prepare(opening)
        yield research


@asynccontextmanager
async def local_model(
    settings: Settings, file: Path, *, prefix_folder: Path | None
) -> AsyncIterator[LocalModel]:
    """Open the local model in ``file``, on a thread of its own, and close it.

    Processed beginnings are kept in ``prefix_folder``, if there is one. Raises ModelError.
    """
    llm = settings.llm
    engine = Engine("llm")
    try:
        model = await LocalModel.load(
            file,
            engine,
            context_tokens=llm.context_tokens,
            threads=llm.thread_count(usable_cores()),
            prefix_folder=prefix_folder,
        )
        try:
            yield model
        finally:
            await model.close()
    finally:
        engine.close()


@asynccontextmanager
async def _remote_model(settings: Settings) -> AsyncIterator[RemoteModel]:
    llm = settings.llm
    access = server_access(llm.base_url, llm.remote_model, llm.api_key_file, env=os.environ)
    model = await asyncio.to_thread(lambda: RemoteModel(access, context_tokens=llm.context_tokens))
    try:
        yield model
    finally:
        await model.close()


def research_over(
    settings: Settings,
    model: Model,
    shelves: Shelves,
    *,
    sufficiency: Sufficiency | None,
) -> ResearchLoop:
    """Return the research with ``model``, as the settings want it."""
    research, answer, tools = settings.research, settings.answer, settings.tools
    asking = Asking(shelves.asker, time.monotonic)
    return ResearchLoop(
        model,
        toolbox(
            shelves.library,
            asking,
            enabled=tools.enabled,
            notes_folder=Path(tools.notes_folder).expanduser(),
        ),
        limits=Limits(
            timeout_s=research.timeout_s,
            token_budget=research.token_budget,
            no_progress_rounds=research.no_progress_rounds,
            max_steps=research.max_steps,
        ),
        answer_limits=AnswerLimits(
            max_tokens=answer.max_tokens,
            timeout_s=answer.timeout_s,
            first_word_s=answer.first_word_s,
            excerpt_chars=answer.excerpt_chars,
            compose=settings.compose,
        ),
        terms=content_terms,
        weight=shelves.library.idf,
        prefetch=SEARCH if research.prefetch else None,
        sufficiency=sufficiency,
        permission=Permission(
            asking, Rules(tools.confirm_writes, in_doubt=shelves.ledger.in_doubt)
        ),
    )
