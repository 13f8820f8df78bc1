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
    status = (_SELF / "status").read_text()
    memory = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    threads, files = (len(list((_SELF / name).iterdir())) for name in ("task", "fd"))
    return Held(threads, files, int(memory.split()[1]))
