"""Ctrl-C and SIGTERM for the verbs that run on an event loop."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from voice_agent.cli.parser import CANCELLED

CODES = {signal.SIGINT: CANCELLED, signal.SIGTERM: 0}
"""What the program exits with; SIGTERM is how a service is stopped."""

_CLEAN_UP_S = 5.0

Stop = Callable[[str], bool]
"""Takes the signal's name and begins to stop; returns False where it cannot yet."""


@contextmanager
def caught(receive: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Give Ctrl-C and SIGTERM to ``receive``, on the running loop, as long as the block runs."""
    loop = asyncio.get_running_loop()
    for sent in CODES:
        loop.add_signal_handler(sent, receive, sent)
    try:
        yield
    finally:
        for sent in CODES:
            loop.remove_signal_handler(sent)


async def until_signal(work: Coroutine[Any, Any, int], stop: Stop) -> int:
    """Run ``work`` and return its exit code, or that of the signal that ended it.

    A signal calls ``stop``, which lets the work end by itself; where that cannot be done, or after
    a second signal or five seconds, the work is cancelled.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(work)
    received: list[signal.Signals] = []

    def receive(sent: signal.Signals) -> None:
        received.append(sent)
        if len(received) > 1 or not stop(sent.name):
            task.cancel()
        else:
            loop.call_later(_CLEAN_UP_S, task.cancel)

    with caught(receive):
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
    code = CODES[received[0]] if received else None
    if task.cancelled():
        return CANCELLED if code is None else code
    return task.result() if code is None else code
