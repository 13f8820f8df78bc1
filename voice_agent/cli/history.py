"""``history``: what was asked and answered; ``history show`` and ``history delete``."""

import argparse
import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from voice_agent.errors import Cancelled, UsageError

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.ledger import Ledger, Step, Turn

LIMIT = 20
WIDTH = 70


def add(verbs: "Verbs") -> None:
    """Add the verb ``history`` and what it can do."""
    history = verbs.add_parser("history", help="questions and answers of the past, newest last")
    history.add_argument("--json", action="store_true", help="one JSON object a line")
    history.add_argument("--limit", type=_count, default=LIMIT, metavar="N", help="most turns")
    history.set_defaults(run=_list)
    actions = history.add_subparsers(dest="action", metavar="ACTION")
    show = actions.add_parser("show", help="one turn whole, with its steps")
    show.add_argument("id", type=_count, metavar="ID")
    # SUPPRESS: without it, this parser's default would undo 'history --json show 1'.
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
    show.set_defaults(run=_show)
    delete = actions.add_parser("delete", help="delete a turn, or all, for good")
    delete.add_argument("id", type=_count, metavar="ID", nargs="?")
    delete.add_argument("--all", action="store_true", help="every turn")
    delete.add_argument("--yes", action="store_true", help="without asking")
    delete.set_defaults(run=_delete)


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**63):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1")
    return int(text)


def _list(args: argparse.Namespace) -> int:
    with _ledger() as ledger:
        turns = ledger.turns(args.limit)
    for turn in turns:
        _print(_json(turn, steps=False) if args.json else _line(turn))
    if not turns and not args.json:
        sys.stderr.write("voice-agent: nothing has been asked yet.\n")
    return 0


def _show(args: argparse.Namespace) -> int:
    with _ledger() as ledger:
        turn = ledger.turn(args.id)
    _print(_json(turn, steps=True) if args.json else "\n".join(_page(turn)))
    return 0


def _delete(args: argparse.Namespace) -> int:
    if args.all == bool(args.id):
        raise UsageError("'history delete' takes either ID or --all.", mend="Give one of them.")
    with _ledger() as ledger:
        turn = None if args.all else ledger.turn(args.id)
        if not (args.yes or _confirmed(f"turn {turn.id}" if turn else "every turn")):
            raise Cancelled("Nothing was deleted.")
        count = _deleted(ledger, turn)
    _print(f"{count} deleted.")
    return 0


def _deleted(ledger: "Ledger", turn: "Turn | None") -> int:
    if turn is None:
        return ledger.delete_all()
    ledger.delete(turn.id)
    return 1


def _confirmed(what: str) -> bool:
    """Ask a person at a terminal; a script that calls the verb means it."""
    if not sys.stdin.isatty():
        return True
    sys.stderr.write(f"Delete {what} for good? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _ledger() -> "Ledger":
    from voice_agent.ledger import Ledger
    from voice_agent.places import places

    return Ledger.open(places().ledger)


def _json(turn: "Turn", *, steps: bool) -> str:
    fields = turn.to_json()
    if not steps:
        del fields["steps"]
    return json.dumps(fields, ensure_ascii=False)


def _line(turn: "Turn") -> str:
    head = f"{turn.id:>5}  {_local(turn.started_at)}  {turn.kind:<6}  {_outcome(turn):<18}"
    return f"{head}  {_short(turn.question)}\n{'':>7}{_short(_said(turn))}"


def _page(turn: "Turn") -> list[str]:
    facts = [
        ("turn", f"{turn.id}, conversation {turn.conversation}, {turn.kind}"),
        ("asked", _local(turn.started_at)),
        ("question", turn.question),
        ("outcome", _outcome(turn)),
        ("answer", turn.text),
        ("spoken", turn.spoken),
        ("heard", turn.heard_text),
        ("sources", "; ".join(str(source["path"]) for source in turn.sources)),
        ("error", " ".join(filter(None, (turn.error_stage, turn.error_message)))),
        ("tokens", turn.charged_tokens and f"{turn.charged_tokens} of research"),
        ("timings", ", ".join(f"{k} {v:.2f} s" for k, v in turn.timings.items() if v is not None)),
    ]
    lines = [f"{name:<9} {value}" for name, value in facts if value]
    return lines + ["steps"] + [_step(step) for step in turn.steps]


def _step(step: "Step") -> str:
    data = {name: value for name, value in step.data.items() if value is not None}
    return f"{step.n:>5}  {step.kind:<16}  {json.dumps(data, ensure_ascii=False)}"


def _outcome(turn: "Turn") -> str:
    detail = turn.basis if turn.state == "answered" else turn.reason
    return f"{turn.state} ({detail})" if detail else turn.state


def _said(turn: "Turn") -> str:
    return turn.text or turn.error_message or turn.heard_text or "-"


def _local(moment: str) -> str:
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def _print(text: str) -> None:
    sys.stdout.write(text + "\n")
