"""One worker thread for one C engine, and the stop flag of a turn.

The engines (whisper, llama, piper) are not thread safe and block while they work. Each lives
behind one `Engine`: every call to it runs on the same thread, one at a time. A generator is
iterated on that thread too; only finished items cross to the event loop.
"""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from voice_agent.errors import VoiceAgentError

T = TypeVar("T")
_END = object()


def usable_cores() -> int:
    """Return how many processors this process may run on."""
    return len(os.sched_getaffinity(0))


class StopFlag:
    """Set once, when a turn is cancelled; never cleared, so the next turn gets its own.

    Reading it costs next to nothing: C callbacks read it thousands of times a second.
    """

    def __init__(self) -> None:
        self._stopped = False
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []

    def set(self) -> None:
        """Stop; callbacks run once, in the caller's thread."""
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def is_set(self) -> bool:
        """Whether the turn has been stopped."""
        return self._stopped

    def child(self) -> "StopFlag":
        """Return a flag that this one sets, too: to stop one request of a turn alone."""
        child = StopFlag()
        self.on_set(child.set)
        return child

    def on_set(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the flag is set, at once if it already is."""
        with self._lock:
            if not self._stopped:
                self._callbacks.append(callback)
                return
        callback()


class Engine:
    """Runs blocking calls of one C engine on one thread of its own.

    ``close`` lets a running call end; closed engines refuse new calls with RuntimeError.
    """

    def __init__(self, name: str) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, fn: Callable[[], T]) -> T:
        """Return ``fn()``, called on the engine's thread.

        A cancelled caller stops waiting; the call itself goes on until it returns.
        """
        return await asyncio.get_running_loop().run_in_executor(self._pool, fn)

    async def stream(
        self, generate: Callable[[], Iterator[T]], stop: StopFlag | None = None
    ) -> AsyncGenerator[T, None]:
        """Yield the items of ``generate()``, which is iterated on the engine's thread.

        When the consumer leaves early, ``stop`` is set (where one is given), the generator is
        closed on its own thread before the next item, and the thread is free again when this
        iterator has been closed: two requests never run at once.
        """
        loop = asyncio.get_running_loop()
        items: asyncio.Queue[object] = asyncio.Queue()
        left = threading.Event()

        def put(item: object) -> None:
            loop.call_soon_threadsafe(items.put_nowait, item)

        def work() -> None:
            if left.is_set():  # the reader left while another call had the thread
                put(_END)
                return
            iterator = generate()
            try:
                for item in iterator:
                    if left.is_set():
                        break
                    put(item)
            finally:
                close = getattr(iterator, "close", None)
                if close is not None:
                    close()
                put(_END)

        job = loop.run_in_executor(self._pool, work)
        try:
            while (item := await items.get()) is not _END:
                yield item  # type: ignore[misc]  # the queue holds T and _END only
        finally:
            left.set()
            if stop is not None and not job.done():
                stop.set()
            await asyncio.shield(job)

    def close(self) -> None:
        """End the thread after the call that runs, if any."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def detached(fn: Callable[[], T], name: str) -> Future[T]:
    """Call ``fn`` on a thread of its own, and return where its result or error will be.

    For calls that may never return: nobody waits for the thread, not even the end of the program.
    An error that is not on purpose cancels the future, and ends the thread with its traceback.
    """
    done: Future[T] = Future()

    def work() -> None:
        try:
            done.set_result(fn())
        except VoiceAgentError as error:
            done.set_exception(error)
        finally:
            done.cancel()  # does nothing to one that is done

    threading.Thread(target=work, name=name, daemon=True).start()
    return done
