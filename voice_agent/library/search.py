"""Looks questions and documents up in the library's database."""

import difflib
import math
import sqlite3
from collections.abc import Callable, Mapping

from voice_agent.errors import LibraryError
from voice_agent.library import ranking
from voice_agent.library.passages import Passage
from voice_agent.library.ranking import Candidate, Query, Ranked
from voice_agent.library.records import Hit, Opened
from voice_agent.library.terms import content_terms, terms

CANDIDATES = 100
VARIANT_SHARE = 0.7
_VARIANT_LIKENESS = 0.8
_VARIANT_CHARS = 4
_NAME_LIKENESS = 0.5


def passage_count(db: sqlite3.Connection) -> int:
    """Return how many passages there are."""
    (count,) = db.execute("SELECT coalesce(sum(passages), 0) FROM documents").fetchone()
    return int(count)


def document_frequency(db: sqlite3.Connection, term: str) -> int:
    """Return in how many passages (with their titles and headings) ``term`` occurs."""
    row = db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
    return row[0] if row else 0


def inverse_frequency(passages: int, occurrences: int) -> float:
    """Return the idf of a term, always positive, as in BM25's usual form."""
    return math.log(1 + (passages - occurrences + 0.5) / (occurrences + 0.5))


def search(
    db: sqlite3.Connection, question: str, limit: int, idf: Callable[[str], float]
) -> list[Hit]:
    """Return the passages that answer ``question`` best, none of them twice."""
    query = _query(db, content_terms(question), idf)
    if not query.variants:
        return []
    ranked = ranking.rank(query, _candidates(db, list(query.variants)))
    return [_hit(db, each) for each in _distinct(ranked)[: max(0, limit)]]


def _query(db: sqlite3.Connection, asked: list[str], idf: Callable[[str], float]) -> Query:
    return Query({term: idf(term) for term in asked}, _variants(db, asked))


def _variants(db: sqlite3.Connection, asked: list[str]) -> dict[str, tuple[str, float]]:
    """The library's terms that count as asked for, as `Query.variants` has them."""
    variants: dict[str, tuple[str, float]] = {}
    for term in asked:
        if document_frequency(db, term):
            variants[term] = (term, 1.0)
            continue
        for near in _near_terms(db, term):
            variants.setdefault(near, (term, VARIANT_SHARE))
    return variants


def _near_terms(db: sqlite3.Connection, term: str) -> list[str]:
    """Terms of the library that a misheard or misspelt one may mean: they begin alike."""
    if len(term) < _VARIANT_CHARS or not term.isalpha():
        return []
    begin = term[:2]
    rows = db.execute(
        "SELECT term FROM vocabulary WHERE term >= ? AND term < ?",
        (begin, begin[0] + chr(ord(begin[1]) + 1)),
    )
    return difflib.get_close_matches(term, [row[0] for row in rows], 2, _VARIANT_LIKENESS)


def _candidates(db: sqlite3.Connection, wanted: list[str]) -> list[Candidate]:
    rows = db.execute(
        "SELECT rowid, title, heading, body FROM terms WHERE terms MATCH ? "
        f"ORDER BY bm25(terms, {ranking.TITLE_WEIGHT}, {ranking.HEADING_WEIGHT}, 1.0) LIMIT ?",
        (ranking.match_expression(wanted), CANDIDATES),
    )
    return [Candidate(row[0], *(field.split() for field in row[1:])) for row in rows]


def _distinct(ranked: list[Ranked]) -> list[Ranked]:
    first: dict[tuple[str, ...], Ranked] = {}
    for each in ranked:
        first.setdefault(tuple(each.candidate.body), each)
    return list(first.values())


def _hit(db: sqlite3.Connection, ranked: Ranked) -> Hit:
    shown, title, heading, lead, text, line, last_line = db.execute(
        "SELECT shown, title, heading, lead, text, line, last_line FROM passages "
        "JOIN documents ON documents.id = document WHERE passages.id = ?",
        (ranked.candidate.passage_id,),
    ).fetchone()
    return Hit(
        passage_id=ranked.candidate.passage_id,
        path=shown,
        title=title,
        heading=heading.replace("\n", " > ") or None,
        text=f"{lead}\n{text}" if lead else text,
        score=round(ranked.score, 4),
        coverage=round(ranked.coverage, 4),
        line=line,
        last_line=last_line,
    )


def passages(db: sqlite3.Connection, name: str) -> list[Passage]:
    """Return the passages of the document that ``name`` means. Raises LibraryError if none."""
    return _passages(db, _find(db, name)[0])


def document(db: sqlite3.Connection, name: str) -> Opened:
    """Return the document that ``name`` means. Raises LibraryError if none."""
    found, shown, title = _find(db, name)
    parts = [f"# {title}"]
    above: tuple[str, ...] = ()
    for passage in _passages(db, found):
        parts.extend(_new_headings(above, passage.heading))
        parts.append(passage.text)
        above = passage.heading
    return Opened(shown, title, "\n\n".join(parts))


def _new_headings(above: tuple[str, ...], heading: tuple[str, ...]) -> list[str]:
    same = 0
    while same < min(len(above), len(heading)) and above[same] == heading[same]:
        same += 1
    return [f"{'#' * (level + 2)} {heading[level]}" for level in range(same, len(heading))]


def _passages(db: sqlite3.Connection, document_id: int) -> list[Passage]:
    rows = db.execute(
        "SELECT ordinal, heading, lead, text, line, last_line FROM passages "
        "WHERE document = ? ORDER BY ordinal",
        (document_id,),
    )
    return [
        Passage(ordinal, tuple(filter(None, heading.split("\n"))), *rest)
        for ordinal, heading, *rest in rows
    ]


Row = tuple[int, str, str]
"""A document's id, its path as shown and its title."""


def _find(db: sqlite3.Connection, name: str) -> Row:
    """By path, end of the path, title or file name; else the one with the likest title."""
    rows: list[Row] = db.execute(
        "SELECT id, shown, title FROM documents ORDER BY length(shown), shown"
    ).fetchall()
    wanted = name.strip().casefold()
    exact = (
        lambda row: row[1].casefold() == wanted,
        lambda row: row[1].casefold().endswith("/" + wanted.lstrip("/")),
        lambda row: row[2].casefold() == wanted,
        lambda row: _stem(row) == wanted,
    )
    for same in exact:
        for row in rows:
            if wanted and same(row):
                return row
    likest = _by_title(db, content_terms(wanted))
    if likest and likest[0][0] >= _NAME_LIKENESS:
        return likest[0][1]
    raise LibraryError(
        f"No document is called '{name}'.",
        mend=_suggestion([row[2] for row in [row for _, row in likest] + rows]),
    )


def _by_title(db: sqlite3.Connection, asked: list[str]) -> list[tuple[float, Row]]:
    """The documents whose title or file name shares words with ``asked``, the likest first."""
    variants = _variants(db, asked)
    if not variants:
        return []
    rows: list[Row] = db.execute(
        "SELECT DISTINCT documents.id, shown, documents.title FROM terms "
        "JOIN passages ON passages.id = terms.rowid "
        "JOIN documents ON documents.id = passages.document WHERE terms MATCH ?",
        (f"title : ({ranking.match_expression(list(variants))})",),
    ).fetchall()
    liked = [(_likeness(asked, variants, row), row) for row in rows]
    return sorted(liked, key=lambda each: (-each[0], each[1][1]))


def _likeness(asked: list[str], variants: Mapping[str, tuple[str, float]], row: Row) -> float:
    """How well a name fits a document's title and file name, 0 to 1."""
    named = set(terms(f"{row[2]} {_stem(row)}"))
    held = dict(variants[term] for term in named if term in variants)
    return 0.9 * sum(held.values()) / len(asked) + 0.1 * len(held) / len(named)


def _stem(row: Row) -> str:
    return row[1].rpartition("/")[2].rpartition(".")[0].casefold()


def _suggestion(titles: list[str]) -> str:
    if not titles:
        return "The library is empty: add a folder with 'voice-agent library add FOLDER'."
    named = ", ".join(f"'{title}'" for title in list(dict.fromkeys(titles))[:3])
    return f"There are, for example, {named}."
