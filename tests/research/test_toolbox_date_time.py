"""The calendar tool: research-loop.md, "Tools"."""

from datetime import UTC, datetime

import pytest

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError
from voice_agent.research.toolbox.date_time import DateTime

NOW = datetime(2026, 11, 30, 20, 5, tzinfo=UTC)


async def said(**arguments: object) -> str:
    output = await DateTime(lambda: NOW).run(dict(arguments), question="", stop=StopFlag())
    return output.text


async def test_it_tells_day_and_time() -> None:
    assert await said() == "Now it is Monday, 30 November 2026, 20:05 (UTC)."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"date": "2026-12-24"}, "2026-12-24 is Thursday, 24 December 2026, in 24 days."),
        ({"date": "1969-07-20"}, "1969-07-20 is Sunday, 20 July 1969, 20952 days ago."),
        ({"add_days": 1}, "2026-12-01 is Tuesday, 1 December 2026, in 1 day."),
        ({"date": "2028-02-28", "add_days": 1}, "Tuesday, 29 February 2028"),
        ({"date": "2026-11-30"}, "Monday, 30 November 2026, today."),
    ],
)
async def test_it_tells_the_weekday_of_a_date(arguments: dict[str, object], told: str) -> None:
    assert told in await said(**arguments)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [({"date": "30.2.2027"}, "YYYY-MM-DD"), ({"add_days": 10**9}, "beyond"), ({"date": "x"}, "x")],
)
async def test_what_is_no_date_is_an_error_that_says_so(
    arguments: dict[str, object], why: str
) -> None:
    with pytest.raises(ToolError, match=why):
        await said(**arguments)
