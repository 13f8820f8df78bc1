"""What replies were charged, beside what they cost: where the figures differ, and a table.

A row is one reply as plain figures, the way it is kept in a file of JSON lines.
"""

from collections.abc import Sequence

from voice_agent.bench.rows import Row


def faults(row: Row) -> list[str]:
    """Return what does not match in the account of one reply; nothing where all does.

    ``charged`` and ``answer_tokens`` are the reply's own figures, ``told`` what its `Round` events
    add up to; ``requests`` are those that the seam saw (`voice_agent.bench.metered`), and
    ``counted`` what llama.cpp itself counted meanwhile (None: not known).
    """
    requests = row["requests"]
    spent = sum(map(spent_tokens, requests))
    found = []
    if row["charged"] + row["answer_tokens"] != spent:
        found.append(
            f"charged {row['charged']} and {row['answer_tokens']} for the answer, evaluated {spent}"
        )
    if row["told"] != row["charged"]:
        found.append(f"charged {row['charged']}, told {row['told']}")
    if row.get("exact", True):
        found += [
            f"expected {each['expected_new_tokens']} new tokens, {each['evaluated_tokens']} were"
            for each in requests
            if is_whole(each) and each["expected_new_tokens"] != each["evaluated_tokens"]
        ]
    counted = row.get("counted")
    if counted is not None and all(map(is_whole, requests)):
        computed = sum(map(computed_tokens, requests))
        if counted != computed:
            found.append(f"{computed} tokens by the seam's count, llama.cpp counts {counted}")
    return found + _server_faults(row)


def _server_faults(row: Row) -> list[str]:
    """What differs from the server's own record of the same requests, where it keeps one.

    Of a request that was left early the server never told what it had cost.
    """
    served = row.get("served")
    if served is None:
        return []
    if len(served) != len(row["requests"]):
        return [f"{len(row['requests'])} requests, the server says {len(served)}"]
    pairs = zip(row["requests"], served, strict=True)
    own = [(_figures(ours), _figures(theirs)) for ours, theirs in pairs if is_whole(ours)]
    return [f"processed and generated {a}, the server says {b}" for a, b in own if a != b]


def _figures(request: Row) -> tuple[int, int]:
    return request["evaluated_tokens"], request["output_tokens"]


def is_whole(request: Row) -> bool:
    """Whether a request ran to its end."""
    return request["reason"] in ("end", "length")


def spent_tokens(request: Row) -> int:
    """Tokens evaluated and generated; none where the request failed."""
    return int(request.get("evaluated_tokens", 0) + request.get("output_tokens", 0))


def computed_tokens(request: Row) -> int:
    """Tokens that went through the model: the last one of a reply cut at its length did not."""
    return spent_tokens(request) - int(request["reason"] == "length")


def table(rows: Sequence[Row]) -> str:
    """Return a line a reply: what was charged, what the seam and llama.cpp counted."""
    head = ("id", "way", "requests", "charged", "answer", "seam", "llama.cpp", "")
    lines = [head, *(_line(row) for row in rows)]
    return _aligned(lines)


def _line(row: Row) -> tuple[str, ...]:
    whole = all(map(is_whole, row["requests"]))
    counted = row.get("counted")
    cut = sum(each["reason"] == "length" for each in row["requests"])
    seen = "-" if counted is None else str(counted) if whole else f"({counted}) aborted"
    return (
        row["id"],
        row["way"],
        str(len(row["requests"])),
        str(row["charged"]),
        str(row["answer_tokens"]),
        str(sum(map(spent_tokens, row["requests"]))),
        seen + (f" +{cut} cut" if cut and whole and counted is not None else ""),
        "; ".join(faults(row)) or "ok",
    )


def estimates(rows: Sequence[Row]) -> str:
    """Return a line a request to a server: plain estimate, corrected one, the server's figure."""
    head = ("id", "server", "bytes / 3", "corrected", "usage", "error", "cached", "charged prompt")
    lines = [head]
    for row in rows:
        for each in row["requests"]:
            usage = each["usage_prompt_tokens"]
            error = each["expected_prompt_tokens"] / usage - 1 if usage else 0.0
            lines.append(
                (
                    row["id"],
                    row["way"],
                    str(each["plain_tokens"]),
                    str(each["expected_prompt_tokens"]),
                    str(usage),
                    f"{error:+.1%}",
                    str(each.get("reused_tokens", "-")),
                    str(each.get("evaluated_tokens", "-")),
                )
            )
    return _aligned(lines)


def verdict(rows: Sequence[Row]) -> str:
    """Return one line on all replies."""
    wrong = sum(bool(faults(row)) for row in rows)
    checked = sum(
        row.get("counted") is not None and all(map(is_whole, row["requests"])) for row in rows
    )
    requests = sum(len(row["requests"]) for row in rows)
    charged = sum(row["charged"] for row in rows)
    return (
        f"{len(rows) - wrong} of {len(rows)} replies match ({requests} requests, {charged} tokens "
        f"charged); {checked} of them checked against llama.cpp's counters"
    )


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
