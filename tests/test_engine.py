"""One thread for one engine, streams that end when their reader leaves, and stop flags."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from voice_agent.engine import Engine, StopFlag


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine("test")
    yield engine
    engine.close()


def test_a_flag_tells_everyone_once() -> None:
    flag, calls = StopFlag(), list[str]()
    flag.on_set(lambda: calls.append("told"))
    flag.set()
    flag.set()
    assert (calls, flag.is_set()) == (["told"], True)


def test_who_asks_after_the_stop_is_told_at_once() -> None:
    flag, calls = StopFlag(), list[str]()
    flag.set()
    flag.on_set(lambda: calls.append("told"))
    assert calls == ["told"]


def test_a_child_stops_alone() -> None:
    flag = StopFlag()
    flag.child().set()
    assert not flag.is_set()


def test_a_flag_stops_its_children_also_those_that_come_later() -> None:
    flag = StopFlag()
    before = flag.child()
    flag.set()
    assert before.is_set() and flag.child().is_set()


async def test_every_call_runs_on_the_engines_one_thread(engine: Engine) -> None:
    names = await asyncio.gather(
        *(engine.run(lambda: threading.current_thread().name) for _ in range(3))
    )
    assert set(names) == {"test_0"}


async def test_calls_never_overlap(engine: Engine) -> None:
    running: list[int] = []
    seen: list[int] = []

    def work() -> None:
        running.append(1)
        time.sleep(0.01)
        seen.append(len(running))
        running.pop()

    await asyncio.gather(*(engine.run(work) for _ in range(3)))
    assert seen == [1, 1, 1]


async def test_the_items_of_a_stream_come_in_order(engine: Engine) -> None:
    assert [item async for item in engine.stream(lambda: iter("abc"))] == ["a", "b", "c"]


async def test_a_generator_is_iterated_on_the_engines_thread(engine: Engine) -> None:
    def names() -> Iterator[str]:
        yield threading.current_thread().name

    assert [name async for name in engine.stream(names)] == ["test_0"]


async def test_an_error_in_the_generator_reaches_the_reader(engine: Engine) -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    read: list[int] = []
    with pytest.raises(ValueError, match="broken"):
        async for item in engine.stream(broken):
            read.append(item)
    assert read == [1]


class Endless:
    """A generator that ends only by being closed or stopped, and tells when it was closed."""

    def __init__(self, stop: StopFlag) -> None:
        self.stop = stop
        self.closed = False

    def __call__(self) -> Iterator[int]:
        try:
            while not self.stop.is_set():
                yield 1
                time.sleep(0.001)
        finally:
            self.closed = True


async def test_a_reader_that_leaves_closes_the_generator(engine: Engine) -> None:
    stop = StopFlag()
    endless = Endless(stop)
    async with aclosing(engine.stream(endless, stop)) as items:
        async for _item in items:
            break
    assert endless.closed and stop.is_set()


async def test_a_generator_is_closed_without_a_stop_flag_too(engine: Engine) -> None:
    endless = Endless(StopFlag())
    async with aclosing(engine.stream(endless)) as items:
        await anext(items)
    assert endless.closed


async def test_a_cancelled_reader_closes_the_generator(engine: Engine) -> None:
    stop, began = StopFlag(), asyncio.Event()
    endless = Endless(stop)

    async def read() -> None:
        async for _item in engine.stream(endless, stop):
            began.set()

    reader = asyncio.create_task(read())
    await began.wait()
    reader.cancel()
    await asyncio.wait([reader])
    assert reader.cancelled() and endless.closed


async def test_the_next_request_waits_until_the_last_one_has_closed(engine: Engine) -> None:
    stop = StopFlag()
    endless = Endless(stop)
    async with aclosing(engine.stream(endless, stop)) as items:
        await anext(items)
        late = asyncio.create_task(engine.run(lambda: endless.closed))
        await asyncio.sleep(0)
    assert await late


async def test_a_request_whose_reader_left_before_its_turn_never_begins(engine: Engine) -> None:
    free, begun = threading.Event(), list[int]()

    def generate() -> Iterator[int]:
        begun.append(1)
        yield 1

    busy = asyncio.create_task(engine.run(free.wait))
    await asyncio.sleep(0)
    reader = asyncio.create_task(anext(engine.stream(generate)))
    await asyncio.sleep(0)
    reader.cancel()
    await asyncio.sleep(0)
    free.set()
    await asyncio.wait([busy, reader])
    assert begun == []


def test_a_closed_engine_refuses_work() -> None:
    engine = Engine("test")
    engine.close()
    with pytest.raises(RuntimeError):
        asyncio.run(engine.run(int))
