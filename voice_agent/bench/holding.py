"""What this process holds: a benchmark that looks for leaks compares it before and after."""

from pathlib import Path
from typing import NamedTuple

_SELF = Path("/proc/self")


class Held(NamedTuple):
    """Numbers of threads and open files, and kB of memory."""

    threads: int
    files: int
    memory_kb: int


def held() -> Held:
    """Look at this process (proc(5))."""
    threads, files = (len(list((_SELF / name).iterdir())) for name in ("task", "fd"))
    return Held(threads, files, memory_kb("VmRSS"))


def memory_kb(field: str) -> int:
    """Return a figure of this process: ``VmRSS``, memory now, or ``VmHWM``, the most (proc(5))."""
    lines = (_SELF / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))
