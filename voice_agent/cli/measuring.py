"""What the verbs of ``bench`` share: showing what was measured, and ending well on a signal."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from voice_agent.cli.output import JsonLines, StandardOutput, say

if TYPE_CHECKING:
    from voice_agent.events import Event, Listener


def listener(shown: "Callable[[Event], str]", *, json: bool) -> "Listener":
    """Return what writes events to standard output, as JSON lines or as ``shown`` tells them."""
    if json:
        return JsonLines(StandardOutput())
    return lambda event: say(shown(event))


def measured(measure: Coroutine[Any, Any, None]) -> int:
    """Run ``measure`` to its end or to a signal, and return the exit code."""
    from voice_agent.cli.signals import until_signal

    async def work() -> int:
        await measure
        return 0

    return asyncio.run(until_signal(work(), lambda cause: False))
