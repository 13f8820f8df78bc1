"""Several ways to answer the same questions, side by side: which are asked, and the table."""

from collections.abc import Sequence
from itertools import chain
from statistics import median

from voice_agent.bench.judge import Verdict, judge
from voice_agent.bench.questions import Question
from voice_agent.bench.rows import Row
from voice_agent.bench.squad import judge_gold

OF_EACH = 8
SHIPPED, TWO_HOP, NO_ANSWER = "shipped", "two-hop", "no answer"
Posed = tuple[str, Question]
"""Where a question comes from, and the question."""


def posed(shipped: Sequence[Question], hotpot: Sequence[Question]) -> list[Posed]:
    """Return eight shipped questions, eight over two documents and eight without an answer.

    They come in turn, one of each, so that the first half is a fair sample. The shipped ones are
    spread evenly over the list, of those over two documents the first ones are taken whose answer
    is a name, a thing or a number.
    """
    answerable = [question for question in shipped if question.answerable]
    spread = answerable[:: len(answerable) // OF_EACH][:OF_EACH]
    telling = [question for question in hotpot if _tells(question)][:OF_EACH]
    without = [question for question in shipped if not question.answerable][:OF_EACH]
    triples = zip(spread, telling, without, strict=True)
    return list(
        chain.from_iterable(((SHIPPED, a), (TWO_HOP, b), (NO_ANSWER, c)) for a, b, c in triples)
    )


def _tells(question: Question) -> bool:
    return question.accept[0][0].casefold() not in ("yes", "no")


def judged(origin: str, question: Question, text: str) -> Verdict:
    """Judge an answer by the rule for where its question comes from."""
    return judge_gold(question, text) if origin == TWO_HOP else judge(question, text)


def table(rows: Sequence[Row]) -> str:
    """Return a line for each model and system."""
    head = (
        "model",
        "system",
        "asked",
        "non-empty",
        "right",
        SHIPPED,
        TWO_HOP,
        "not found",
        "requests",
        "processed",
        "per right",
        "generated",
        "seconds",
        "longest",
        "failed",
    )
    groups = dict.fromkeys((row["model"], row["system"]) for row in rows)
    lines = [head, *(_line(rows, *group) for group in groups)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _line(rows: Sequence[Row], model: str, system: str) -> tuple[str, ...]:
    own = [row for row in rows if (row["model"], row["system"]) == (model, system)]
    right = sum(row["right"] for row in own)
    processed = sum(row["processed_tokens"] for row in own)
    seconds = [row["seconds"] for row in own]
    return (
        model,
        system,
        str(len(own)),
        f"{sum(bool(row['text'].strip()) for row in own) / len(own):.0%}",
        str(right),
        *(_right(own, origin) for origin in (SHIPPED, TWO_HOP, NO_ANSWER)),
        str(sum(row["requests"] for row in own)),
        str(processed),
        f"{processed / right:.0f}" if right else "-",
        str(sum(row["output_tokens"] for row in own)),
        f"{median(seconds):.1f}",
        f"{max(seconds):.1f}",
        str(sum(bool(row["error"]) for row in own)),
    )


def _right(rows: Sequence[Row], origin: str) -> str:
    own = [row for row in rows if row["origin"] == origin]
    return f"{sum(row['right'] for row in own)} of {len(own)}"
