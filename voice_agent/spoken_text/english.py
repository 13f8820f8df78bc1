"""English as it is said: each rule turns one written form into words.

The order matters: what a later rule could misread (a telephone number, a date) goes first, and
its words hold no digits, so that no later rule touches them.
"""

import re
from collections.abc import Callable

from voice_agent.spoken_text import calendar, quantities, shorthand
from voice_agent.spoken_text.numbers import cardinal, digits, mixed, ordinal, plural, year

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_PHONE = re.compile(
    r"(?<![\w.,-])(?:"
    r"\+\d{1,3}[ -]?(?:\(\d{1,5}\)[ -]?)?\d+(?:[ /-]\d+)*"
    r"|(?:\d-)?\(\d{2,5}\)[ -]?\d{2,}(?:[ /-]\d+)*"
    r"|0\d{1,4}[ /-]\d{3,}(?:[ -]\d+)*"
    r"|(?:\d-)?\d{3}[.-]\d{3}[.-]\d{4}(?:-\d+)*"
    r"|\d{3}-\d{2}-\d{4}"
    r"|\d{3}[ -]\d{4}"
    r")(?![\w.,-]*\d)"
)
_IP = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)")
_VERSION = re.compile(r"\b([vV]|[Vv]ersion |[Rr]elease )(\d+(?:\.\d+)+)\b")
_SERIAL = re.compile(r"\b([A-Z]{1,4})-(\d{3,})\b")
_CODE = re.compile(r"\b(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9]+(?:-[A-Z0-9]+)+\b")
_MIXED = re.compile(r"\b(?:[A-Z]+\d+[A-Z]+[A-Z0-9]*|\d+[A-Z]+\d+[A-Z0-9]*|[A-Za-z]{1,4}\d{2,})\b")
_ORDINAL = re.compile(r"\b(\d{1,3}(?:,\d{3})+|\d+)(st|nd|rd|th)\b", re.IGNORECASE)
_DECADE = re.compile(
    r"(?<!\w)(?:(1[1-9]|20)|['’]|(?<=mid-)|(?<=the )|(?<=0s-))([2-9]|(?<=\d)[01])0s\b"
)
_DECADES = re.compile(r"(?<=\d0s)\s?[–-]\s?(?=(?:\d\d)?\d0s\b)")
_FRACTION = re.compile(
    r"(?<![\w./,-])(?:(\d+) )?(\d{1,4})\s?/\s?(\d{1,4})(?i:th|rd)?(?![\w/]|\.\d)"
)
_ROMAN = re.compile(
    r"\b([Cc]hapter|[Pp]art|PART|[Ss]ection|[Vv]olume|[Aa]ct|[Aa]ppendix|[Ww]ar) ([IVXL]+)\b"
)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}


def say_english(text: str) -> str:
    """Return ``text`` with numbers, dates, times, amounts and abbreviations in words."""
    text = shorthand.expand_before_numbers(text)
    for pattern, say in _RULES:
        text = pattern.sub(say, text)
    return shorthand.expand(text)


def _say_phone(found: re.Match[str]) -> str:
    groups = re.findall(r"\d+", found[0])
    words = ", ".join(digits(group) for group in groups)
    return f"plus {words}" if found[0].startswith("+") else words


def _say_version(found: re.Match[str]) -> str:
    name = "version " if found[1] in "vV" else found[1]
    return name + " point ".join(cardinal(int(part)) for part in found[2].split("."))


def _say_code(found: re.Match[str]) -> str:
    """Spell capitals and say digits one by one; a word of five letters or more stays a word."""
    parts = re.findall(r"[A-Za-z]+|\d+", found[0])
    return (
        ", ".join(_spell(part) for part in parts)
        if len(parts) > 3
        else " ".join(_spell(part) for part in parts)
    )


def _spell(part: str) -> str:
    if part.isdigit():
        return cardinal(int(part)) if len(part) < 3 and part[0] != "0" else digits(part)
    return " ".join(part.upper()) if len(part) <= 4 and part.isupper() else part


def _say_mixed(found: re.Match[str]) -> str:
    return " ".join(_spell(part) for part in re.findall(r"[A-Za-z]+|\d+", found[0]))


def _say_ordinal(found: re.Match[str]) -> str:
    number = int(found[1].replace(",", ""))
    return ordinal(number)


def _say_decade(found: re.Match[str]) -> str:
    tens = int(found[2])
    if tens == 0:
        return plural(year(int(f"{found[1]}00"))) if found[1] else found[0]
    name = plural(cardinal(tens * 10))
    return f"{cardinal(int(found[1]))} {name}" if found[1] else name


def _say_fraction(found: re.Match[str]) -> str:
    above, below = int(found[2]), int(found[3])
    if (above, below) == (24, 7):
        return "twenty-four seven"
    if below == 0 or (above >= below and not found[1] and below > 10):
        return f"{cardinal(above)} slash {cardinal(below)}"
    return mixed(found[1], above, below)


def _say_roman(found: re.Match[str]) -> str:
    values = [_ROMAN_VALUES[letter] for letter in found[2]]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return f"{found[1]} {cardinal(sum(-a if a < b else a for a, b in pairs))}"


_RULES: tuple[_Rule, ...] = (
    (_IP, lambda found: " dot ".join(digits(part) for part in found[0].split("."))),
    *calendar.DATES,
    (_PHONE, _say_phone),
    (_VERSION, _say_version),
    (_SERIAL, _say_code),
    *calendar.TIMES,
    (_DECADE, _say_decade),
    *quantities.RANGES,
    *quantities.AMOUNTS,
    (_FRACTION, _say_fraction),
    (_ORDINAL, _say_ordinal),
    (_ROMAN, _say_roman),
    (_CODE, _say_code),
    (_MIXED, _say_mixed),
    *quantities.NUMBERS,
)
