"""What the tables for people share: columns, spreads, and texts cut to a line."""

from collections.abc import Sequence

from voice_agent.bench.figures import Spread


def in_columns(rows: Sequence[Sequence[str]], *, first_chars: int = 0) -> list[str]:
    """Return ``rows`` of equal length as lines whose cells stand below each other.

    The first column is at least ``first_chars`` wide.
    """
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    widths[0] = max(widths[0], first_chars)
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def middle_and_tail(values: Spread, form: str = ".2f") -> str:
    """Return median and 95th percentile, each in the format ``form``; "-" without values."""
    if values.median is None or values.p95 is None:
        return "-"
    return f"{values.median:{form}} / {values.p95:{form}}"


def counted(values: Spread, form: str = ".2f") -> str:
    """Return what `middle_and_tail` does, and how many values there are."""
    shown = middle_and_tail(values, form)
    return shown if shown == "-" else f"{shown} ({values.count})"


def short(text: str, chars: int = 80) -> str:
    """Return ``text`` on one line of at most ``chars`` characters."""
    plain = " ".join(text.split())
    return plain if len(plain) <= chars else plain[: chars - 1] + "…"
