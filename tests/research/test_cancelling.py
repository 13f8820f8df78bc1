"""A turn may be cancelled anywhere: nothing of it goes on, and the next one is as it should be."""

import random

import pytest
from fakes import FakeSpeaker, FakeVoice, a_while, doing
from scripted_research import Research, call

from voice_agent.events import Answer, Cancelled, Event, Round
from voice_agent.exchanges import Exchanges
from voice_agent.ledger import Ledger
from voice_agent.session import Session, Stages

ASKED = "how high is the boiler pressure"
POINTS = 200
STEPS = 40
"""More than a turn has: events, pieces of the stream, calls of tools, sentences."""


class Point:
    """Cancels the session's turn at the ``n``-th step, whatever that is."""

    def __init__(self, n: int) -> None:
        self.session: Session | None = None
        self.left = n

    def step(self, *_what: object) -> None:
        self.left -= 1
        if self.left == 0 and self.session is not None:
            self.session.cancel("wake")


def research_with(point: Point) -> Research:
    """Two rounds, and an answer in pieces; each of its steps may be where the turn is cancelled."""
    step = doing(point.step)
    thinking = ["It may ", step, "be high.", step, call("boiler"), step, call("cats"), step]
    answer = [step, "It is ", step, "1.5 bar. ", step, "That is ", step, "enough.", step]
    research = Research(thinking, [call("tyres"), step], answer, prefetch="search")
    research.search.meanwhile = step
    return research


@pytest.mark.parametrize("seed", range(4))
async def test_a_cancel_at_any_point_leaves_nothing_half_done(ledger: Ledger, seed: int) -> None:
    chance = random.Random(seed)
    cancelled = 0
    for _ in range(POINTS // 4):
        point = Point(chance.randrange(1, STEPS))
        cancelled += await cancelled_and_asked_again(ledger, point)
    assert cancelled > POINTS // 8
    states = [turn.state for turn in ledger.turns(POINTS)]
    assert set(states) == {"answered", "cancelled"} and states.count("cancelled") == cancelled


async def cancelled_and_asked_again(ledger: Ledger, point: Point) -> bool:
    """Cancel at ``point`` and ask at once again; return whether the point came before the end."""
    research = research_with(point)
    endings: list[Event] = []

    def listen(event: Event) -> None:
        research.events.append(event)
        if isinstance(event, Answer | Cancelled):
            endings.append(event)
        else:
            point.step()

    stages = Stages(
        research.loop, ledger, voice=FakeVoice(point.step), speaker=FakeSpeaker(instant=True)
    )
    exchanges = Exchanges()
    point.session = Session(stages, listen, exchanges=exchanges)
    first = await point.session.ask(ASKED)
    point.session = None
    after = len(research.events)
    asked, requests = len(research.search.asked), len(research.model.requests)
    await a_while()
    assert (len(research.events), len(research.search.asked)) == (after, asked)
    assert (len(research.model.requests), len(endings)) == (requests, 1)
    await the_next_is_right(stages, research, listen)
    assert len(endings) == 2
    heard = [message.content for message in exchanges.messages(0.0)]
    assert heard == [] if isinstance(first, Cancelled) and not first.heard_text else heard
    return isinstance(first, Cancelled)


async def the_next_is_right(stages: Stages, research: Research, listen: object) -> None:
    """The same question again: the answer and the charges of a loop that was never cancelled."""
    fresh = research_with(Point(-1))
    expected = await fresh.reply()
    research.model.replies = list(fresh_scripts())
    research.events.clear()
    session = Session(stages, listen)  # type: ignore[arg-type]  # a listener
    ending = await session.ask(ASKED)
    assert isinstance(ending, Answer)
    assert (ending.text, ending.basis) == (expected.ending.text, expected.ending.basis)
    charged = sum(event.charged for event in research.of(Round))
    assert ending.charged_tokens == charged <= expected.charged_tokens


def fresh_scripts() -> list[list[object]]:
    return [list(script) for script in research_with(Point(-1)).model.replies]
