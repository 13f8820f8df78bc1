"""What a process costs."""

import os
import time

from voice_agent.bench.idle import cpu_seconds, memory_mb


def test_a_busy_process_uses_processor_time() -> None:
    before = cpu_seconds(os.getpid())
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
    assert 0.1 < cpu_seconds(os.getpid()) - before


def test_a_process_has_memory() -> None:
    assert 1 < memory_mb(os.getpid()) < 100_000
