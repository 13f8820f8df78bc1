"""The tool that knows the calendar and the clock of this machine."""

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from voice_agent.engine import StopFlag
from voice_agent.errors import ToolError
from voice_agent.llm.model import ToolSpec
from voice_agent.research.tools import ToolOutput

DATE_TIME = "date_time"
_MOST_DAYS = 10_000_000  # beyond the calendar in any case


def _here() -> datetime:
    return datetime.now().astimezone()


class DateTime:
    """Tells the time now, the weekday of a date, and a date so many days later or earlier."""

    spec = ToolSpec(
        DATE_TIME,
        "Date and time now, or weekday of a date.",
        {
            "type": "object",
            "properties": {
                "date": {"type": "string", "description": "YYYY-MM-DD, else today"},
                "add_days": {"type": "integer"},
            },
            "additionalProperties": False,
        },
    )
    writes = False
    time_limit_s = 1.0

    def __init__(self, now: Callable[[], datetime] = _here) -> None:
        self._now = now

    async def run(self, arguments: dict[str, Any], *, question: str, stop: StopFlag) -> ToolOutput:
        """Say what day ``date`` plus ``add_days`` is; raises ToolError where there is none."""
        now = self._now()
        today = now.date()
        text = f"Now it is {_in_words(today)}, {now:%H:%M} ({now:%Z})."
        if arguments:
            day = _moved(_parsed(arguments.get("date", ""), today), arguments.get("add_days", 0))
            text = f"{day.isoformat()} is {_in_words(day)}, {_distance((day - today).days)}. {text}"
        return ToolOutput(text)


def _parsed(text: str, today: date) -> date:
    if text.strip().casefold() in ("", "today", "now"):
        return today
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ToolError(f"{text!r} is no date of the form YYYY-MM-DD: {error}.") from error


def _moved(day: date, days: int) -> date:
    try:
        return day + timedelta(days=max(-_MOST_DAYS, min(days, _MOST_DAYS)))
    except OverflowError as error:
        raise ToolError("That is beyond the calendar, which has the years 1 to 9999.") from error


def _in_words(day: date) -> str:
    return f"{day:%A}, {day.day} {day:%B} {day.year}"


def _distance(days: int) -> str:
    if not days:
        return "today"
    count = f"{abs(days)} day{'s' if abs(days) > 1 else ''}"
    return f"in {count}" if days > 0 else f"{count} ago"
