"""A turn's cancel scope and its one ending."""

import asyncio

import pytest
from fakes import Clock, forever

from voice_agent import errors
from voice_agent.events import Answer, Cancelled, Error
from voice_agent.turn import Turn

ANSWER = Answer(
    turn=1,
    text="Yes.",
    spoken="Yes.",
    basis="complete",
    reason="none",
    sources=(),
    rounds=0,
    charged_tokens=0,
    answer_tokens=0,
)


async def answered() -> Answer:
    return ANSWER


async def test_a_turn_that_answers_ends_with_its_answer() -> None:
    assert await Turn(1).supervise(answered()) is ANSWER


async def test_cancelling_silences_marks_and_stops_in_this_order() -> None:
    turn, seen = Turn(1), list[tuple[str, bool, bool]]()
    turn.silenced_by(lambda: seen.append(("silent", turn.cancelled, turn.stop.is_set())))
    turn.stop.on_set(lambda: seen.append(("stopped", turn.cancelled, turn.stop.is_set())))
    turn.cancel("wake")
    assert seen == [("silent", False, False), ("stopped", True, True)]


async def test_a_cancelled_turn_ends_once_and_says_why() -> None:
    clock = Clock()
    turn = Turn(1, clock)
    work = asyncio.create_task(turn.supervise(_never()))
    await asyncio.sleep(0)
    turn.silenced_by(lambda: setattr(clock, "now_s", clock.now_s + 0.25))
    turn.heard_text = lambda: "The pressure"
    turn.cancel("wake")
    assert await work == Cancelled(
        turn=1, cause="wake", silence_s=0.25, stopped_s=0.25, heard_text="The pressure"
    )


async def test_a_second_cancel_changes_nothing() -> None:
    turn, silenced = Turn(1), list[int]()
    turn.silenced_by(lambda: silenced.append(1))
    turn.cancel("wake")
    turn.cancel("SIGINT")
    ending = await turn.supervise(_never())
    assert isinstance(ending, Cancelled)
    assert (ending.cause, silenced) == ("wake", [1])


async def test_a_turn_cancelled_before_it_began_does_nothing() -> None:
    turn, done = Turn(1), list[int]()

    async def work() -> Answer:
        done.append(1)
        return ANSWER

    turn.cancel("wake")
    assert isinstance(await turn.supervise(work()), Cancelled)
    assert done == []


async def test_an_answer_that_came_too_late_is_refused() -> None:
    turn = Turn(1)

    async def finish_at_once() -> Answer:
        turn.cancel("wake")
        return ANSWER

    assert isinstance(await turn.supervise(finish_at_once()), Cancelled)


async def test_cleaning_up_comes_before_the_ending() -> None:
    turn, cleaned = Turn(1), list[int]()

    async def work() -> Answer:
        try:
            return await _never()
        finally:
            await asyncio.sleep(0)
            cleaned.append(1)

    running = asyncio.create_task(turn.supervise(work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    turn.cancel("wake")
    await running
    assert cleaned == [1]


async def test_an_expected_failure_says_what_to_do() -> None:
    async def fail() -> Answer:
        raise errors.ModelError("It is out of memory.", mend="Choose a smaller one.", file="a.gguf")

    assert await Turn(1).supervise(fail()) == Error(
        turn=1,
        stage="llm",
        message="It is out of memory.",
        mend="Choose a smaller one.",
        file="a.gguf",
    )


async def test_a_crash_is_contained_and_named(caplog: pytest.LogCaptureFixture) -> None:
    async def crash() -> Answer:
        raise ZeroDivisionError("by zero")

    ending = await Turn(1).supervise(crash())
    assert isinstance(ending, Error)
    assert "ZeroDivisionError: by zero" in ending.message
    assert "turn 1 failed" in caplog.text


async def test_a_stage_that_was_stopped_makes_no_failure() -> None:
    async def stopped() -> Answer:
        raise errors.Cancelled("The turn was cancelled.")

    assert isinstance(await Turn(1).supervise(stopped()), Cancelled)


async def test_a_supervisor_that_is_cancelled_takes_its_work_along() -> None:
    turn, cancelled = Turn(1), list[int]()

    async def work() -> Answer:
        try:
            return await _never()
        except asyncio.CancelledError:
            cancelled.append(1)
            raise

    running = asyncio.create_task(turn.supervise(work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.sleep(0)
    assert cancelled == [1]


async def _never() -> Answer:
    await forever()
    return ANSWER
