"""Damaged inputs by the thousand; FUZZ_INPUTS in the environment says how many of each kind."""

import os
import random
from collections.abc import Iterator, Sequence

PIECES = (b"{", b"]", b'"', b"'", b"\n", b"=", b"\x00", b"\xff" * 4, b"9" * 30, b"-1", b"\xe2\x82")


def damaged_inputs(
    seeds: Sequence[bytes], *, usual: int, pieces: Sequence[bytes] = PIECES, head: int = 1 << 20
) -> Iterator[bytes]:
    """Yield ``usual`` of ``seeds``, or as many as asked for, each with a few bytes wrong.

    Only the first ``head`` bytes are damaged. The same number gives the same inputs.
    """
    dice = random.Random(1)
    for _ in range(int(os.environ.get("FUZZ_INPUTS", usual))):
        yield damaged(dice.choice(seeds), dice, pieces, head=head)


def damaged(
    data: bytes, dice: random.Random, pieces: Sequence[bytes] = PIECES, *, head: int = 1 << 20
) -> bytes:
    """The input with a few bytes lost, doubled, changed, put in or cut off."""
    changed = bytearray(data)
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(min(len(changed), head) + 1)
        way = dice.randrange(8)
        if way == 0:
            changed[at : at + 4] = dice.randbytes(4)
        elif way == 1 and at < len(changed):
            changed[at] ^= 1 << dice.randrange(8)
        elif way == 2 and dice.randrange(4) == 0:
            del changed[at:]
        else:
            piece = dice.choice(pieces)
            changed[at : at + dice.randrange(4)] = dice.choice([b"", piece, changed[at : at + 8]])
    return bytes(changed)
