"""How much of a prompt a model's memory already holds: the prefix that needs no processing."""

from collections.abc import Sequence


def reusable(held: Sequence[int], wanted: Sequence[int], *, can_be_cut: bool = True) -> int:
    """Return how many tokens of ``wanted`` a memory with ``held`` need not process again.

    The last one is always evaluated: its logits say what comes next. A memory that cannot be cut
    back (a recurrent state) is only good for what continues all that it holds.
    """
    shared = 0
    for had, wants in zip(held, wanted, strict=False):
        if had != wants:
            break
        shared += 1
    shared = min(shared, max(len(wanted) - 1, 0))
    if shared < len(held) and not can_be_cut:
        return 0
    return shared
