"""Types of arguments that several verbs take."""

import argparse
from collections.abc import Callable

_MOST = 2**63 - 1
"""What the databases can hold."""


def count_to(most: int) -> Callable[[str], int]:
    """Return a type for whole numbers from 1 to ``most``."""

    def count(text: str) -> int:
        # the length first: Python refuses to turn thousands of digits into a number
        if text.isascii() and text.isdigit() and len(text) < 20 and 1 <= int(text) <= most:
            return int(text)
        upward = "" if most == _MOST else f" to {most}"
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a whole number from 1{upward}")

    return count


def count(text: str) -> int:
    """Return a whole number from 1, as a type of arguments."""
    return count_to(_MOST)(text)
