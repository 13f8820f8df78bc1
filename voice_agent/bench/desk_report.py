"""The measurements at a virtual desk for people: a line each, and a table at the end."""

from voice_agent.bench.columns import counted, in_columns, short
from voice_agent.bench.first_sound import AnsweredAloud, Latency
from voice_agent.bench.idle import Idle
from voice_agent.bench.interruption import BargeIn, Interrupted, Row
from voice_agent.events import Event


def shown(event: Event) -> str:
    """Return what a person reads of a result or of the figures; "" of anything else."""
    match event:
        case Interrupted():
            return _interrupted(event)
        case BargeIn():
            return "\n" + _barge_in(event)
        case AnsweredAloud():
            return _answered(event)
        case Latency():
            return "\n" + _latency(event)
        case Idle():
            return _idle(event)
    return ""


def _interrupted(result: Interrupted) -> str:
    if not result.detected:
        return f"{result.n:4}  {result.aim:20}  the wake word was not detected"
    return "  ".join(
        [
            f"{result.n:4}",
            f"{result.state or 'no turn':20}",
            f"word to silence {_seconds(result.word_to_silence_s)}",
            f"detection to silence {_seconds(result.detection_to_silence_s)}",
            f"stopped {_seconds(result.stopped_s)}",
            *([f"STALE SOUND {result.stale_s:.2f} s"] if result.stale_s else []),
        ]
    )


def _barge_in(figures: BargeIn) -> str:
    head = ["median / 95th percentile (n), s", "runs", "word to detection", "word to silence"]
    head += ["detection to silence", "stopped", "stale"]
    lines = in_columns([head, *(_cells(row) for row in figures.rows)])
    lines.append(
        f"{figures.runs} wake words, {figures.missed} not detected; the loudspeaker was watched "
        f"for {figures.watched_s:g} s after each. Without sound there is no silence to wait for."
    )
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    return [
        row.state or "all",
        str(row.runs),
        counted(row.word_to_detection_s),
        counted(row.word_to_silence_s),
        counted(row.detection_to_silence_s),
        counted(row.stopped_s),
        str(row.stale),
    ]


def _answered(result: AnsweredAloud) -> str:
    verdict = "right" if result.right else "WRONG"
    wait = f"first sound {_seconds(result.word_to_sound_s)}"
    line = f"{result.id:5}  {verdict}  {wait}  {short(result.heard_answer)}"
    if result.right:
        return line
    return f"{line}  ({result.why})  [understood: {short(result.understood)}]"


def _latency(figures: Latency) -> str:
    rows = [["seconds after the last word", "median", "95th percentile", "n"]]
    for each in figures.stages:
        times = each.done_s
        cells = [_number(times.median), _number(times.p95), str(times.count)]
        rows.append([each.stage.replace("_", " "), *cells])
    lines = in_columns(rows)
    lines.append(
        f"{figures.right} of {figures.questions} right, judged by the recording of the loudspeaker"
        f" ({figures.model}); it listened {figures.ready_s:.1f} s after its start."
    )
    return "\n".join(lines)


def _idle(cost: Idle) -> str:
    return (
        f"{cost.room:8}  {cost.cpu_share:.1%} of a core over {cost.wall_s:.0f} s,  memory "
        f"{cost.memory_start_mb:.0f} MB to {cost.memory_end_mb:.0f} MB,  {cost.turns} turns"
    )


def _seconds(value: float | None) -> str:
    return "   -  " if value is None else f"{value:.2f} s"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
