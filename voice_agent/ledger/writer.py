"""Names a process so that another one can tell, even after a restart, whether it still runs.

Process numbers are used again, so the name holds the start time (proc(5), ``stat`` field 22) and
the machine's boot id as well.
"""

import os
from pathlib import Path

PROC = Path("/proc")
START_TIME = 19  # field 22, counted from the one after the name in brackets


def this_process() -> str:
    """Return the name of the running process."""
    return name_of_process(os.getpid()) or ""


def name_of_process(pid: int) -> str | None:
    """Return the name of process ``pid``, or None if there is none or it is dead already."""
    try:
        after_name = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if after_name[0] in "ZX" else f"{pid}:{after_name[START_TIME]}:{boot}"


def is_running(name: str) -> bool:
    """Whether the process called ``name`` still runs."""
    pid = name.partition(":")[0]
    return pid.isdigit() and name_of_process(int(pid)) == name
