"""Reads a long prompt with the model's own stages: ``python -m voice_agent.doctor.proof FILE``.

A build of llama.cpp with an instruction that the processor cannot run dies by a signal, and only
when a long prompt first reaches it; so this runs in a process of its own.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from voice_agent.engine import Engine, StopFlag
from voice_agent.llm.local import LocalModel
from voice_agent.llm.model import Finished, Message, Request

_TEXT = "The lamp in the hall was lit, and somebody counted the steps of the stair. " * 40
_LIMIT_S = 600.0


async def prove(file: Path) -> str:
    """Return what was done in words; raises ModelError."""
    engine = Engine("llm")
    try:
        threads = min(8, len(os.sched_getaffinity(0)))
        model = await LocalModel.load(file, engine, context_tokens=1024, threads=threads)
        request = Request(
            (Message("user", _TEXT),), 4, StopFlag(), deadline=time.monotonic() + _LIMIT_S
        )
        began_s, finished = time.monotonic(), None
        async for piece in model.stream(request):
            finished = piece if isinstance(piece, Finished) else finished
        await model.close()
    finally:
        engine.close()
    tokens = finished.prompt_tokens if finished else 0
    return f"read {tokens} tokens in {time.monotonic() - began_s:.1f} s"


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(prove(Path(sys.argv[1]))) + "\n")
