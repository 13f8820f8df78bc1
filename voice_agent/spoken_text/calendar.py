"""English dates and times as they are said."""

import re
from collections.abc import Callable

from voice_agent.spoken_text.numbers import cardinal, ordinal, year

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_SHORT = r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec"
_MONTH = rf"(?:(?i:{'|'.join(_MONTHS[:4] + _MONTHS[5:])})|May|(?i:{_SHORT})\.?)"
_YEAR = r"(?:,?\s+|-)(\d{4})\b(?![.,]\d)"
_MONTH_FIRST = re.compile(rf"\b({_MONTH})[ -](\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:/]\d)(?:{_YEAR})?")
_DAY_FIRST = re.compile(
    rf"(?<![\w.,:/-])(?:(the) )?(\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? ({_MONTH})\b\.?(?:{_YEAR})?",
)
_MONTH_YEAR = re.compile(rf"\b({_MONTH}) (\d{{4}})\b")
_SHORT_MONTH = re.compile(rf"\b({_SHORT})\.(?=\s)")
_YEAR_FIRST = re.compile(r"(?<![\w./-])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?![\w/-])")
_YEAR_LAST = re.compile(r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?![\w/-]|\.\d)")
_YEAR_WORDS = re.compile(
    r"\b((?i:in|since|from|until|till|before|after|by|of|year|during|around|to|and)) "
    r"(1[1-9]\d\d|20\d\d)(?![\w.,:/%-]*\d|\s?(?:[€$£%°]|[a-z]{1,2}\b))"
)

_HALF = r"(?:\s?([AaPp])\.?[Mm]\b\.?)"
_CLOCK = re.compile(
    rf"(?<![\w.,:])([01]?\d|2[0-4])[:.]([0-5]\d){_HALF}"
    rf"|(?<![\w.,:])([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?{_HALF}?(?![\w:]|\.\d)(?: ?h\b)?"
)
_HOUR = re.compile(rf"(?<![\w.,:])(1[0-2]|0?[1-9]){_HALF}")
_TIME_RANGE = re.compile(
    rf"(?<![\w-])(\d{{1,2}}(?:[:.]\d\d)?{_HALF}?)\s?[–-]\s?(?=\d{{1,2}}(?::\d\d|[:.\d]*\s?[AaPp]\.?[Mm]\b))"
)


def _month_name(written: str) -> str:
    prefix = written[:3].lower()
    return next(month for month in _MONTHS if month.lower().startswith(prefix))


def _year_words(written: str | None) -> str:
    return f", {year(int(written))}" if written else ""


def _say_month_first(found: re.Match[str]) -> str:
    day = int(found[2])
    if not 1 <= day <= 31:
        return f"{_month_name(found[1])} {cardinal(day)}"
    return f"{_month_name(found[1])} {ordinal(day)}{_year_words(found[3])}"


def _say_day_first(found: re.Match[str]) -> str:
    day = int(found[2])
    if not 1 <= day <= 31:
        return found[0]
    stop = "." if found[0].endswith(".") and found.end() == len(found.string) else ""
    return f"the {ordinal(day)} of {_month_name(found[3])}{_year_words(found[4])}{stop}"


def _say_numeric(found: re.Match[str], *, year_at: int, month_at: int, day_at: int) -> str:
    month, day = int(found[month_at]), int(found[day_at])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return found[0]
    written = found[year_at]
    years = year(int(written)) if len(written) == 4 else _two_digits(written)
    return f"{_MONTHS[month - 1]} {ordinal(day)}, {years}"


def _two_digits(written: str) -> str:
    return f"{'oh ' if written[0] == '0' else ''}{cardinal(int(written))}"


def _say_year_first(found: re.Match[str]) -> str:
    return _say_numeric(found, year_at=1, month_at=3, day_at=4)


def _say_year_last(found: re.Match[str]) -> str:
    """Dots are day first, as in Europe; slashes and hyphens month first where that is a month."""
    day_first = found[2] == "." or int(found[1]) > 12
    month_at, day_at = (3, 1) if day_first else (1, 3)
    return _say_numeric(found, year_at=4, month_at=month_at, day_at=day_at)


def _say_clock(found: re.Match[str]) -> str:
    hour, minute = int(found[1] or found[4]), int(found[2] or found[5])
    half = found[3] or found[7]
    suffix = f" {half.upper()}M" if half else ""
    stop = "." if found[0].endswith(".") and _ends_sentence(found) else ""
    if found[6] is not None:
        seconds = _count(int(found[6]), "second")
        return f"{_count(hour, 'hour')}, {_count(minute, 'minute')} and {seconds}{suffix}{stop}"
    if minute == 0:
        return f"{cardinal(hour)}{suffix or _oclock(hour)}{stop}"
    minutes = f"{'oh ' if minute < 10 else ''}{cardinal(minute)}"
    return f"{cardinal(hour)} {minutes}{suffix}{stop}"


def _oclock(hour: int) -> str:
    return " o'clock" if hour else " hours"


def _count(number: int, name: str) -> str:
    return f"{cardinal(number)} {name}{'' if number == 1 else 's'}"


def _ends_sentence(found: re.Match[str]) -> bool:
    return re.match(r"\s*(?:$|[A-Z])", found.string[found.end() :]) is not None


def _say_hour(found: re.Match[str]) -> str:
    stop = "." if found[0].endswith(".") and _ends_sentence(found) else ""
    return f"{cardinal(int(found[1]))} {found[2].upper()}M{stop}"


DATES: tuple[_Rule, ...] = (
    (_YEAR_FIRST, _say_year_first),
    (_YEAR_LAST, _say_year_last),
    (_DAY_FIRST, _say_day_first),
    (_MONTH_FIRST, _say_month_first),
    (_MONTH_YEAR, lambda found: f"{_month_name(found[1])} {year(int(found[2]))}"),
    (_SHORT_MONTH, lambda found: _month_name(found[1])),
    (_YEAR_WORDS, lambda found: f"{found[1]} {year(int(found[2]))}"),
)
TIMES: tuple[_Rule, ...] = (
    (_TIME_RANGE, lambda found: f"{found[1]} to "),
    (_CLOCK, _say_clock),
    (_HOUR, _say_hour),
)
