"""A benchmark for people: one line a question, and a table at the end."""

from voice_agent.bench.columns import in_columns, middle_and_tail, short
from voice_agent.bench.figures import Benchmark, Figures, QuestionAnswered

_SHOWN_CHARS = 90
_LABEL_CHARS = 22


def line(result: QuestionAnswered) -> str:
    """Return one question's line: verdict, basis, seconds until the answer's end, and the text.

    A wrong answer is followed by the reason, a question misheard by what was heard.
    """
    end_s = result.timings.answer_end
    head = [
        f"{result.id:5}",
        f"{result.mode:6}",
        "right" if result.right else "WRONG",
        f"{result.basis or 'failed':8}",
        f"{end_s:6.1f} s" if end_s is not None else "     - s",
    ]
    tail = [short(result.text, _SHOWN_CHARS)] if result.text else []
    if not result.right:
        tail.append(f"({result.why})")
        if result.heard is not None:
            tail.append(f"[heard: {short(result.heard, _SHOWN_CHARS)}]")
    return "  ".join([*head, *tail])


def table(benchmark: Benchmark) -> str:
    """Return the figures as lines, typed and spoken side by side."""
    modes = {"typed": benchmark.typed, "spoken": benchmark.spoken}
    asked = {name: found for name, found in modes.items() if found is not None}
    columns = [_column(found) for found in asked.values()]
    labels = list(dict.fromkeys(label for column in columns for label in column))
    rows = [[benchmark.model, *asked]]
    rows += [[label, *(column.get(label, "-") for column in columns)] for label in labels]
    lines = in_columns(rows, first_chars=_LABEL_CHARS)
    if benchmark.interrupted:
        lines.append("Interrupted: the figures are those of the questions asked so far.")
    return "\n".join(lines)


def _column(found: Figures) -> dict[str, str]:
    """Return the cells of one mode by their label."""
    cells = {"right answers": _share(found.right, found.questions)}
    for kind, counts in sorted(found.by_kind.items()):
        cells[f"  {kind}"] = _share(counts["right"], counts["of"])
    cells["answered with something"] = _share(found.answered, found.questions)
    for basis, count in sorted(found.basis.items()):
        cells[f"  {basis}"] = _share(count, found.questions)
    if found.words:
        cells["word errors heard"] = _share(found.word_errors or 0, found.words)
    cells["(median / 95th percentile)"] = ""
    cells["rounds"] = middle_and_tail(found.rounds, ".0f")
    cells["charged tokens"] = middle_and_tail(found.charged_tokens, ".0f")
    cells["answer tokens"] = middle_and_tail(found.answer_tokens, ".0f")
    for name, values in found.timings.items():
        label = f"{name.replace('_', ' ')}, s"
        cells[label] = f"{values['median']:.2f} / {values['p95']:.2f}" if values else "-"
    return cells


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({count / of:.0%})" if of else "-"
