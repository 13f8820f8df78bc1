"""``library add``, ``list``, ``search``, ``remove`` and ``sync``: the user's own documents."""

import argparse
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from voice_agent.cli.arguments import count_to
from voice_agent.cli.output import JsonLines, StandardOutput, say
from voice_agent.errors import LibraryError
from voice_agent.events import Error, Event

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.library import Hit, Library, Progress, Report

LIMIT = 5
MAX_PASSAGES = 1000
MAX_SKIPPED_LINES = 20
SNIPPET_CHARS = 300
PROGRESS_FILES = 50
ADD_HINT = "Add a folder of text or Markdown files with 'voice-agent library add FOLDER'."


@dataclass(frozen=True, kw_only=True)
class LibraryRead(Event):
    """A folder was read, or with ``folder`` None all of them; counts are of documents."""

    folder: str | None
    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple["Skipped", ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class FolderListed(Event):
    """A folder of the library; ``there``: it is on the disk now."""

    path: str
    documents: int
    passages: int
    there: bool


@dataclass(frozen=True, kw_only=True)
class PassageFound(Event):
    """A passage that fits the query, the best first."""

    path: str
    title: str
    heading: str | None
    line: int
    score: float
    coverage: float
    text: str


@dataclass(frozen=True, kw_only=True)
class FolderRemoved(Event):
    """A folder was forgotten, with so many documents that no other folder holds."""

    path: str
    documents: int


def add(verbs: "Verbs") -> None:
    """Add the verb ``library`` and what it can do."""
    library = verbs.add_parser("library", help="the documents that answers come from")
    actions = library.add_subparsers(dest="action", metavar="ACTION", required=True)
    adds = actions.add_parser("add", help="add folders (or files) of text and Markdown")
    adds.add_argument("folders", nargs="+", type=_folder, metavar="FOLDER")
    adds.set_defaults(run=_add)
    actions.add_parser("list", help="show the folders").set_defaults(run=_list)
    search = actions.add_parser("search", help="show the passages that fit a question")
    search.add_argument("query", nargs="+", metavar="QUERY")
    search.add_argument(
        "--limit", type=count_to(MAX_PASSAGES), default=LIMIT, metavar="N", help="most passages"
    )
    search.set_defaults(run=_search)
    remove = actions.add_parser("remove", help="forget a folder; its files stay on the disk")
    remove.add_argument("folder", type=_folder, metavar="FOLDER")
    remove.set_defaults(run=_remove)
    actions.add_parser("sync", help="read all folders again").set_defaults(run=_sync)
    for action in actions.choices.values():
        action.add_argument("--json", action="store_true", help="one JSON object a line")


def _folder(text: str) -> Path:
    if not text:  # an unset variable of the shell, which would mean the current folder
        raise argparse.ArgumentTypeError("it is empty; name a folder, '.' for this one")
    return Path(text)


def _add(args: argparse.Namespace) -> int:
    code = 0
    with _open() as library:
        for folder in args.folders:
            try:
                report = _reading(partial(library.add, folder))
            except LibraryError as error:  # the other folders are still added
                _say_error(error, args.json)
                code = error.exit_code
                continue
            _say_report(folder, report, args.json)
    return code


def _sync(args: argparse.Namespace) -> int:
    with _open() as library:
        _say_report(None, _reading(library.sync), args.json)
    return 0


def _list(args: argparse.Namespace) -> int:
    with _open() as library:
        folders = library.folders()
    for each in folders:
        if args.json:
            JsonLines(StandardOutput())(FolderListed(**vars(each)))
        else:
            gone = "" if each.there else "  (not there now; its documents are kept)"
            say(f"{each.path}  {_counted(each.documents, 'document')}{gone}")
    if not folders:
        sys.stderr.write(f"voice-agent: the library has no folders. {ADD_HINT}\n")
    return 0


def _search(args: argparse.Namespace) -> int:
    with _open() as library:
        hits = library.search(" ".join(args.query), args.limit)
        empty = not library.folders()
    for number, hit in enumerate(hits, 1):
        if args.json:
            JsonLines(StandardOutput())(_found(hit))
        else:
            say(_paragraph(number, hit))
    if not hits:
        sys.stderr.write(f"voice-agent: nothing found.{' ' + ADD_HINT if empty else ''}\n")
    return 0


def _remove(args: argparse.Namespace) -> int:
    from voice_agent.library.readers import shown

    with _open() as library:
        count = library.remove(args.folder)
    path = shown(args.folder.expanduser().resolve())
    if args.json:
        JsonLines(StandardOutput())(FolderRemoved(path=path, documents=count))
    else:
        say(f"{path}: {_counted(count, 'document')} forgotten; the files stay.")
    return 0


def _open() -> "Library":
    from voice_agent.library import Library
    from voice_agent.places import places

    return Library.open(places().library)


def _reading(read: "Callable[[Progress | None], Report]") -> "Report":
    """Read with a count of files on the terminal; say what an interrupt leaves behind."""
    progress = _show_progress if sys.stderr.isatty() else None
    try:
        return read(progress)
    except KeyboardInterrupt:
        sys.stderr.write(
            "\nvoice-agent: interrupted. What was read is kept; "
            "'voice-agent library sync' goes on with the rest.\n"
        )
        raise
    finally:
        if progress:
            sys.stderr.write("\r\x1b[K")


def _show_progress(files: int, _path: str) -> None:
    if files % PROGRESS_FILES == 0:
        sys.stderr.write(f"\r{files} files")
        sys.stderr.flush()


def _say_report(folder: Path | None, report: "Report", json: bool) -> None:
    from voice_agent.library.readers import shown

    name = None if folder is None else shown(folder.expanduser().resolve())
    if json:
        JsonLines(StandardOutput())(_event(name, report))
        return
    say(f"{name or 'Library'}: {_summary(report)}.")
    for path, reason in report.skipped[:MAX_SKIPPED_LINES]:
        say(f"  skipped {path}: {reason}")
    if (more := len(report.skipped) - MAX_SKIPPED_LINES) > 0:
        say(f"  and {more} more files skipped")
    for path in report.missing:
        say(
            f"  {path} is not there now, or empty; its documents were kept. Mount it, or forget "
            f"it with 'voice-agent library remove {path}'."
        )


def _event(folder: str | None, report: "Report") -> LibraryRead:
    return LibraryRead(
        folder=folder,
        added=report.added,
        changed=report.changed,
        unchanged=report.unchanged,
        removed=report.removed,
        skipped=tuple(Skipped(path, reason) for path, reason in report.skipped),
        missing=tuple(report.missing),
    )


def _summary(report: "Report") -> str:
    if not (report.added or report.changed or report.unchanged or report.removed):
        return "no text or Markdown files were read"
    counts = [f"{_counted(report.added, 'document')} added"]
    for name in ("changed", "unchanged", "removed"):
        if count := getattr(report, name):
            counts.append(f"{count} {name}")
    return ", ".join(counts)


def _found(hit: "Hit") -> PassageFound:
    return PassageFound(
        path=hit.path,
        title=hit.title,
        heading=hit.heading,
        line=hit.line,
        score=hit.score,
        coverage=hit.coverage,
        text=hit.text,
    )


def _paragraph(number: int, hit: "Hit") -> str:
    place = f"{hit.title} > {hit.heading}" if hit.heading else hit.title
    text = textwrap.shorten(hit.text, SNIPPET_CHARS, placeholder=" …")
    lines = textwrap.fill(text, 96, initial_indent="   ", subsequent_indent="   ")
    return f"{number}. {place}\n   {hit.path}:{hit.line}\n{lines}\n"


def _say_error(error: LibraryError, json: bool) -> None:
    if json:
        JsonLines(StandardOutput())(
            Error(stage=error.stage, message=error.message, mend=error.mend, file=error.file)
        )
    sys.stderr.write(f"voice-agent: {error}\n")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
