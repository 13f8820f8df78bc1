"""A turn of the past as a person reads it: what was asked, each round, and what came of it."""

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from voice_agent.ledger import Step, Turn

_WIDTH = 70
_INDENT = " " * 10


def page(turn: Turn) -> list[str]:
    """Return the lines of a whole turn, with its rounds, calls, results and charges."""
    facts = [
        ("turn", f"{turn.id}, conversation {turn.conversation}, {turn.kind}"),
        ("asked", local(turn.started_at)),
        ("question", turn.question),
        ("outcome", outcome(turn)),
        ("answer", turn.text),
        ("spoken", turn.spoken),
        ("heard", turn.heard_text),
        ("sources", "; ".join(str(source["path"]) for source in turn.sources)),
        ("error", " ".join(filter(None, (turn.error_stage, turn.error_message)))),
        ("tokens", _tokens(turn)),
        ("timings", ", ".join(f"{k} {v:.2f} s" for k, v in turn.timings.items() if v is not None)),
    ]
    lines = [f"{name:<9} {value}" for name, value in facts if value]
    return [*lines, "steps", *map(_step, turn.steps), *_unknown(turn)]


def outcome(turn: Turn) -> str:
    """Return how a turn ended: its state with basis and reason."""
    parts = [part for part in (turn.basis, turn.reason) if part and part != "none"]
    return f"{turn.state} ({', '.join(parts)})" if parts else turn.state


def local(moment: str) -> str:
    """Return an ISO 8601 moment in the time of this machine."""
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def short(text: str) -> str:
    """Return ``text`` on one line that fits a terminal."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"


def _tokens(turn: Turn) -> str:
    if turn.charged_tokens is None:
        return ""
    return f"{turn.charged_tokens} charged to research, {turn.answer_tokens} of the final request"


def _step(step: Step) -> str:
    return f"{step.n:>5}  {_STEPS.get(step.kind, _any)(step.kind, step.data)}"


def _unknown(turn: Turn) -> list[str]:
    """Name the writes that were begun and have no outcome."""
    told = {step.data["id"] for step in turn.steps if step.kind == "tool_result"}
    begun = [step.data for step in turn.steps if step.kind == "write_begun"]
    return [
        f"unknown   whether call {data['id']} ({data['name']}) was done"
        for data in begun
        if data["id"] not in told
    ]


def _round(kind: str, data: dict[str, Any]) -> str:
    if not data["prompt_tokens"]:
        return f"round {data['n']}"
    return (
        f"round {data['n']}: {data['prompt_tokens']} prompt tokens, {data['reused_tokens']} of "
        f"them reused, {data['output_tokens']} written; {data['reserved']} reserved, "
        f"{data['charged']} charged"
    )


def _call(kind: str, data: dict[str, Any]) -> str:
    begun = "begun, it changes something: " if kind == "write_begun" else ""
    arguments = json.dumps(data["arguments"], ensure_ascii=False)
    return f"call {data['id']}: {begun}{data['name']} {arguments}"


def _result(kind: str, data: dict[str, Any]) -> str:
    head = f"result {data['id']}: {data['status']}, {data['new_evidence']} new"
    return "\n".join((head, *(_INDENT + line for line in data.get("text", "").splitlines())))


def _any(kind: str, data: dict[str, Any]) -> str:
    told = {name: value for name, value in data.items() if value is not None}
    return f"{kind:<16}  {json.dumps(told, ensure_ascii=False)}"


_STEPS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "round": _round,
    "tool_call": _call,
    "write_begun": _call,
    "tool_result": _result,
}
