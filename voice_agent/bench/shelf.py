"""The library against its size: time to index and to search, and memory.

Passages are made by recombining sentences of real documents, so their words are as frequent as
there, however many there are; nothing is known of documents with ever new words.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from voice_agent.bench.figures import Spread, spread
from voice_agent.bench.holding import memory_kb
from voice_agent.events import Event
from voice_agent.library import Library, sentences

NOTE = "The passages are sentences of the documents, recombined at random."
HITS = 5
"""Passages that a search returns, as many as one before an answer asks for."""

_SENTENCES = 4
_SECTIONS = 500
_TEXTS = (".md", ".txt")
_MIN_WORDS = 4
_RESET_PEAK = "5"


@dataclass(frozen=True, kw_only=True)
class LibrarySize(Event):
    """A library of ``passages``, grown from the size before.

    ``index_s`` is for all of it, ``sync_s`` for a look that finds nothing new. Memory is what
    the process holds at most meanwhile, beyond what it held before the library was opened.
    """

    passages: int
    documents: int
    file_mb: float
    index_s: float
    passages_per_s: float
    sync_s: float
    search_s: Spread
    index_memory_mb: float
    search_memory_mb: float
    note: str = NOTE


def sentences_of(folder: Path) -> list[str]:
    """Return the sentences of the texts in ``folder``, without headings, lists and tables."""
    texts = (file for file in sorted(folder.rglob("*")) if file.suffix in _TEXTS)
    found: dict[str, None] = {}
    for paragraph in "\n\n".join(file.read_text("utf-8", "replace") for file in texts).split(
        "\n\n"
    ):
        if paragraph[:1].isalpha():
            found |= dict.fromkeys(sentences(paragraph))
    return [sentence for sentence in found if len(sentence.split()) >= _MIN_WORDS]


def documents(
    folder: Path, pool: Sequence[str], count: int, chance: random.Random, *, first: int = 0
) -> int:
    """Write ``count`` passages, each four sentences of ``pool`` under a heading; return how many.

    A document has up to 500 of them; the names continue from document ``first``.
    """
    made = 0
    for number in range(first, first + -(-count // _SECTIONS)):
        sections = min(_SECTIONS, count - (number - first) * _SECTIONS)
        lines = [f"# Collection {number}"]
        for section in range(sections):
            text = " ".join(chance.sample(pool, _SENTENCES))
            lines += [f"## Entry {number}.{section}", text]
        (folder / f"{number:05}.md").write_text("\n\n".join(lines) + "\n", "utf-8")
        made += 1
    return made


def sizes(
    folder: Path, pool: Sequence[str], questions: Sequence[str], counts: Sequence[int]
) -> Iterator[LibrarySize]:
    """Yield a library in ``folder`` at each size, which it grows to; raises LibraryError."""
    chance = random.Random(1)
    texts = folder / "documents"
    texts.mkdir()
    base_mb = _memory_mb("VmRSS")
    written = made = 0
    indexed_s = 0.0
    with Library.open(folder / "library.sqlite3") as library:
        for count in sorted(counts):
            made += documents(texts, pool, count - written, chance, first=made)
            written = count
            _forget_peak()
            indexed_s += _seconds(partial(library.add, texts))
            index_mb = _memory_mb("VmHWM") - base_mb
            sync_s = _seconds(library.sync)
            _forget_peak()
            found = [_seconds(partial(library.search, each, HITS)) for each in questions]
            yield LibrarySize(
                passages=library.folders()[0].passages,
                documents=made,
                file_mb=round(_size_mb(folder), 1),
                index_s=round(indexed_s, 2),
                passages_per_s=round(count / indexed_s),
                sync_s=round(sync_s, 3),
                search_s=spread(found),
                index_memory_mb=round(index_mb, 1),
                search_memory_mb=round(_memory_mb("VmHWM") - base_mb, 1),
            )


def _memory_mb(field: str) -> float:
    return memory_kb(field) / 1024


def _forget_peak() -> None:
    """Have the kernel count the most memory anew from here (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text(_RESET_PEAK)


def _size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.glob("library.sqlite3*")) / 2**20


def _seconds(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began
