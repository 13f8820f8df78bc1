"""``models list``, ``pull`` and ``verify``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voice_agent.cli.output import say, say_row
from voice_agent.errors import CatalogueError, ModelMissing, UsageError

if TYPE_CHECKING:
    from voice_agent.catalogue import Catalogue, Finding, Model, Progress
    from voice_agent.cli.verbs import Verbs


def add(verbs: "Verbs") -> None:
    """Add the verb ``models`` and what it can do."""
    models = verbs.add_parser("models", help="show, fetch and check models")
    actions = models.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="all known models, and which are on this machine")
    listing.set_defaults(run=_list)
    pull = actions.add_parser("pull", help="fetch models; by default the default of each role")
    pull.add_argument("names", metavar="NAME", nargs="*", help="such as whisper-base")
    pull.add_argument("--all", action="store_true", help="every known model")
    pull.add_argument("--small", action="store_true", help="those for a small machine")
    pull.set_defaults(run=_pull)
    verify = actions.add_parser("verify", help="read and hash models again; by default all here")
    verify.add_argument("names", metavar="NAME", nargs="*", help="such as whisper-base")
    verify.set_defaults(run=_verify)
    for action in (listing, pull, verify):
        action.add_argument("--folder", type=Path, metavar="DIR", help="where the models are")
        action.add_argument("--json", action="store_true", help="one JSON object a line")


def _list(args: argparse.Namespace) -> int:
    from voice_agent.catalogue import Catalogue, examine

    folder = _folder(args)
    for model in Catalogue.load().models:
        _show(model, folder, examine(model, folder), as_json=args.json)
    return 0


def _pull(args: argparse.Namespace) -> int:
    from voice_agent.catalogue import Catalogue, Hub, examine, fetch, pull_command

    folder, progress = _folder(args), _progress()
    hub = Hub(note=progress.note)
    failed: dict[str, CatalogueError] = {}
    for model in _chosen(Catalogue.load(), args):
        try:
            fetch(model, folder, progress=progress, hub=hub)
            _show(model, folder, examine(model, folder), as_json=args.json)
        except CatalogueError as error:  # the other models may still be had
            failed[model.name] = error
        except KeyboardInterrupt:
            progress.note(f"Stopped; '{pull_command(folder, model.name)}' goes on from here.")
            raise
    return _done_unless(failed, folder)


def _verify(args: argparse.Namespace) -> int:
    from voice_agent.catalogue import Catalogue, examine, pull_command, require

    folder, catalogue = _folder(args), Catalogue.load()
    here = [model for model in catalogue.models if model.folder(folder).is_dir()]
    models = [catalogue.model(name) for name in args.names] or here
    if not models:
        raise ModelMissing(f"No model is in {folder}.", mend=f"Run '{pull_command(folder)}'.")
    failed: dict[str, CatalogueError] = {}
    for model in models:
        findings = examine(model, folder, full=True)
        _show(model, folder, findings, as_json=args.json)
        try:
            require(model, folder, findings)
        except CatalogueError as error:
            failed[model.name] = error
    return _done_unless(failed, folder)


def _done_unless(failed: dict[str, CatalogueError], folder: Path) -> int:
    """Return 0, or raise what failed, as one error."""
    from voice_agent.catalogue import pull_command

    errors = list(failed.values())
    if len(errors) > 1:
        raise type(errors[0])(
            " ".join(error.message for error in errors),
            mend=f"Run '{pull_command(folder, *failed)}'.",
        )
    for error in errors:
        raise error
    return 0


def _chosen(catalogue: "Catalogue", args: argparse.Namespace) -> "list[Model]":
    if bool(args.names) + args.all + args.small > 1:
        raise UsageError("'models pull' takes either NAMEs, --all or --small.")
    if args.all:
        return catalogue.models
    return [catalogue.model(name) for name in args.names] or catalogue.defaults(small=args.small)


def _folder(args: argparse.Namespace) -> Path:
    from voice_agent.places import places

    return args.folder.absolute() if args.folder else places().models


def _progress() -> "Progress":
    from voice_agent.cli.progress import Bars, Lines

    return Bars(sys.stderr) if sys.stderr.isatty() else Lines(sys.stderr)


def _show(model: "Model", folder: Path, findings: "Sequence[Finding]", *, as_json: bool) -> None:
    row = _row(model, folder, findings)
    say_row(row) if as_json else say(_line(row))


def _row(model: "Model", folder: Path, findings: "Sequence[Finding]") -> dict[str, Any]:
    from voice_agent.catalogue import overall

    return {
        "name": model.name,
        "title": model.title,
        "role": model.role,
        "choice": model.choice,
        "licence": model.licence,
        "size_bytes": model.size_bytes,
        "memory_mb": model.memory_mb,
        "ships_in": model.ships_in,
        "state": overall(findings),
        "path": str(findings[0].path if model.ships_in else model.folder(folder)),
        "faults": [f"{f.path.name} {f.detail}" for f in findings if f.state != "present"],
    }


def _line(row: dict[str, Any]) -> str:
    from voice_agent.cli.progress import size_text

    size = "in a library" if row["ships_in"] else size_text(row["size_bytes"])
    detail = f" ({row['faults'][0]})" if row["state"] == "mismatch" else ""
    return (
        f"{row['name']:<28} {row['role']:<9} {row['choice']:<9} {size:>12}  "
        f"{row['licence']:<13} {row['state']}{detail}"
    )
