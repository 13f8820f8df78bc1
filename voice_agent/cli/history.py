"""``history``: what was asked and answered; conversations, one turn whole, and deleting."""

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from voice_agent.cli.arguments import count
from voice_agent.cli.output import say, say_row
from voice_agent.errors import Cancelled, LedgerError, UsageError

if TYPE_CHECKING:
    from voice_agent.cli.verbs import Verbs
    from voice_agent.ledger import Ledger, Turn

LIMIT = 20
NOTHING_YET = "voice-agent: nothing has been asked yet.\n"


def add(verbs: "Verbs") -> None:
    """Add the verb ``history`` and what it can do."""
    history = verbs.add_parser("history", help="questions and answers of the past, newest last")
    history.add_argument("--json", action="store_true", help="one JSON object a line")
    history.add_argument("--limit", type=count, default=LIMIT, metavar="N", help="most turns")
    history.add_argument("--conversation", type=count, metavar="N", help="the turns of one alone")
    history.set_defaults(run=_list)
    actions = history.add_subparsers(dest="action", metavar="ACTION")
    talks = actions.add_parser("conversations", help="what was talked about, newest last")
    talks.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
    talks.add_argument("--limit", type=count, default=argparse.SUPPRESS, metavar="N")
    talks.set_defaults(run=_conversations)
    show = actions.add_parser("show", help="one turn whole, with its steps")
    show.add_argument("id", type=count, metavar="ID")
    # SUPPRESS: without it, this parser's default would undo 'history --json show 1'.
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS)
    show.set_defaults(run=_show)
    delete = actions.add_parser("delete", help="delete a turn, a conversation, or all, for good")
    delete.add_argument("id", type=count, metavar="ID", nargs="?")
    # not 'conversation': the list's own option would give it a value
    delete.add_argument("--conversation", type=count, metavar="N", dest="whole")
    delete.add_argument("--all", action="store_true", help="every turn")
    delete.add_argument("--yes", action="store_true", help="without asking")
    delete.set_defaults(run=_delete)


def _list(args: argparse.Namespace) -> int:
    with _ledger() as ledger:
        turns = ledger.turns(args.limit, conversation=args.conversation)
    if args.conversation is not None and not turns:
        raise LedgerError(
            f"There is no conversation {args.conversation}.",
            mend="See 'voice-agent history conversations'.",
        )
    for turn in turns:
        say(_json(turn, steps=False) if args.json else _line(turn))
    if not turns and not args.json:
        sys.stderr.write(NOTHING_YET)
    return 0


def _conversations(args: argparse.Namespace) -> int:
    from voice_agent.cli.history_page import local, short

    with _ledger() as ledger:
        conversations = ledger.conversations(args.limit)
    for each in conversations:
        head = (
            f"{each.id:>5}  {local(each.started_at)}  {_turns(each.turns)}  {short(each.question)}"
        )
        say_row(asdict(each)) if args.json else say(head)
    if not conversations and not args.json:
        sys.stderr.write(NOTHING_YET)
    return 0


def _turns(n: int) -> str:
    return f"{n} turn{'s' if n > 1 else ''}"


def _show(args: argparse.Namespace) -> int:
    from voice_agent.cli.history_page import page

    with _ledger() as ledger:
        turn = ledger.turn(args.id)
    say(_json(turn, steps=True) if args.json else "\n".join(page(turn)))
    return 0


def _delete(args: argparse.Namespace) -> int:
    if [args.id is not None, args.whole is not None, args.all].count(True) != 1:
        raise UsageError(
            "'history delete' takes ID, --conversation or --all.", mend="Give one of them."
        )
    with _ledger() as ledger:
        if args.id is not None:
            ledger.turn(args.id)
        if not (args.yes or _confirmed(_what(args))):
            raise Cancelled("Nothing was deleted.")
        try:
            deleted = _deleted(ledger, args)
        finally:
            _delete_recordings(ledger)
    say(f"{deleted} deleted.")
    return 0


def _what(args: argparse.Namespace) -> str:
    if args.all:
        return "every turn"
    return f"turn {args.id}" if args.id is not None else f"conversation {args.whole}"


def _deleted(ledger: "Ledger", args: argparse.Namespace) -> int:
    if args.all:
        return ledger.delete_all()
    if args.whole is not None:
        return ledger.delete_conversation(args.whole)
    ledger.delete(args.id)
    return 1


def _delete_recordings(ledger: "Ledger") -> None:
    """Delete the recordings of turns that are gone."""
    from voice_agent.ledger.recordings import Recordings
    from voice_agent.places import places

    folder = Recordings(places().recordings, wanted=False, max_age_days=float("inf"))
    folder.tidy(ledger.existing)


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
    from voice_agent.cli.history_page import local, outcome, short

    head = f"{turn.id:>5}  {local(turn.started_at)}  {turn.kind:<6}  {outcome(turn):<18}"
    return f"{head}  {short(turn.question)}\n{'':>7}{short(_said(turn))}"


def _said(turn: "Turn") -> str:
    return turn.text or turn.error_message or turn.heard_text or "-"
