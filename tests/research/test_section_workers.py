"""Section workers, rule by rule: research-loop.md, "Long sources"."""

import pytest
from fakes import doing, ended
from scripted_research import Research, call, outcome

from voice_agent.errors import Cancelled, ModelError
from voice_agent.events import Round, Source
from voice_agent.llm.model import Finished, Text
from voice_agent.research.evidence import Finding
from voice_agent.research.section_workers import MAX_WORKERS
from voice_agent.research.sections import Section

READ = [call("manual")]


def manual(sections: int = 3) -> tuple[Section, ...]:
    """A manual whose sections have two statements each; only the first names the boiler."""
    return tuple(
        Section(
            f"Chapter {n}",
            tuple(
                Finding(text, Source("manual.md", "Manual", f"Chapter {n}"))
                for text in (f"All about part {n}.", f"The {'boiler' * (not n)} code is {n}{n}.")
            ),
        )
        for n in range(sections)
    )


def reading(*replies: object, sections: int = 3, **limits: object) -> Research:
    research = Research(*replies, **limits)  # type: ignore[arg-type]
    research.search.sections = manual(sections)
    research.put("manual", "The boiler pressure is high, says the manual.")
    return research


def workers(research: Research) -> list[str]:
    """The questions that section workers were asked."""
    requests = [r for r in research.model.requests if r.lane == "answer" and r.max_tokens < 100]
    return [request.messages[-1].content for request in requests]


async def test_each_section_is_read_by_a_request_of_its_own() -> None:
    research = reading(READ, ["2"], ["none"], ["1"], ["It is 00."])
    await research.reply()
    assert len(workers(research)) == 3
    assert "Section: Chapter 0" in workers(research)[0]  # it shares most with the question
    assert all("All about part" in asked for asked in workers(research))
    assert all("how high is the boiler pressure" in asked for asked in workers(research))


async def test_what_workers_pick_is_read_word_for_word() -> None:
    research = reading(READ, ["2"], ["none"], ["1"], ["It is 00."])
    await research.reply()
    read = research.model.requests[-1].messages[-1].content
    assert "The boiler code is 00." in read and "All about part 2." in read
    assert "The  code is 11." not in read


async def test_a_number_that_names_no_statement_picks_nothing() -> None:
    research = reading(READ, ["0, 3 and 2019"], ["ignore this"], [], ["It is 00."])
    await research.reply()
    assert "code is" not in research.model.requests[-1].messages[-1].content


async def test_workers_are_bounded_and_what_is_unread_is_named() -> None:
    nothing = [["none"]] * MAX_WORKERS
    research = reading(READ, *nothing, ["It is 00."], sections=6)
    await research.reply()
    read = research.model.requests[-1].messages[-1].content
    assert len(workers(research)) == MAX_WORKERS
    assert "Left unread: Chapter 4; Chapter 5. To read one, name it as the heading." in read
    assert "Sections read: Chapter 0; Chapter 1; Chapter 2; Chapter 3." in read


async def test_the_bound_holds_for_the_reply_and_nothing_is_read_twice() -> None:
    nothing = [["none"]] * MAX_WORKERS
    research = reading(READ, *nothing, READ, ["It is 00."], sections=6)
    await research.reply()
    assert len(workers(research)) == len(set(workers(research))) == MAX_WORKERS


async def test_workers_reserve_and_pay() -> None:
    costs = [Finished("end", 100, 0, 100, n) for n in (1, 2, 3)]
    replies = [[Text("none"), cost] for cost in costs]
    research = reading([*READ, ended("end")], *replies, [Text("Yes."), ended("end")])
    reply = await research.reply()
    assert reply.charged_tokens == 15 + 101 + 102 + 103 + 15
    assert sum(event.charged for event in research.of(Round)) == reply.charged_tokens
    assert all(event.reserved > 24 for event in research.of(Round))


async def test_a_worker_that_the_token_budget_does_not_allow_is_not_asked() -> None:
    research = reading(READ, ["It is 00."], token_budget=130)
    assert outcome(await research.reply()) == ("forced", "tokens")
    assert workers(research) == []


async def test_workers_stop_at_the_deadline() -> None:
    research = reading(READ, timeout_s=10)
    cut = [research.clock.passing(11), ended("deadline")]
    research.model.replies += [cut, ["It is 00."]]
    assert outcome(await research.reply()) == ("forced", "time")
    assert len(workers(research)) == 1
    assert all(r.deadline == 110 for r in research.model.requests[:2])


async def test_workers_are_no_steps() -> None:
    research = reading(READ, ["none"], ["none"], ["none"], ["It is 00."], max_steps=3)
    assert outcome(await research.reply()) == ("complete", "none")


async def test_workers_leave_the_conversation_as_it_was() -> None:
    research = reading(READ, ["none"], ["none"], ["none"], ["It is 00."])
    await research.reply()
    first, *_, last = research.model.requests
    assert last.messages[: len(first.messages)] == first.messages
    assert {r.lane for r in research.model.requests[1:-1]} == {"answer"}


async def test_a_worker_that_is_cancelled_ends_the_reply() -> None:
    research = reading(READ)
    research.model.replies.append([doing(research.stop.set), "2"])
    with pytest.raises(Cancelled):
        await research.reply()
    assert len(workers(research)) == 1


async def test_a_worker_that_fails_keeps_its_own_error() -> None:
    research = reading(READ, [ModelError("out of memory")])
    with pytest.raises(ModelError, match="out of memory"):
        await research.reply()
