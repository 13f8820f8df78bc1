"""English amounts of money, measures, ranges and plain numbers as they are said."""

import re
from collections.abc import Callable

from voice_agent.spoken_text.numbers import cardinal, decimal, digits, mixed, parse, year

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_NUMBER = r"(?:\d+(?:[.,'’\u202f]\d+)*|\.\d+)"
_SIGN = r"(?:(?<![\w)])[-−–])?"

_CURRENCIES = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "US$": ("US dollar", "US dollars", "cent", "cents"),
    "€": ("euro", "euros", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₩": ("won", "won", "jeon", "jeon"),
    "EUR": ("euro", "euros", "cent", "cents"),
    "USD": ("dollar", "dollars", "cent", "cents"),
    "GBP": ("pound", "pounds", "penny", "pence"),
    "CHF": ("franc", "francs", "centime", "centimes"),
}
_CURRENCY = r"US\$|[$€£¥₩]|EUR\b|USD\b|GBP\b|CHF\b"
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion"}
_MONEY = re.compile(
    rf"(?P<minus>{_SIGN})(?:(?P<before>{_CURRENCY})\s?)?(?P<number>{_NUMBER})"
    r"(?:\s?(?P<scale>(?:thousand|million|billion|trillion)\b|(?:bn|mn|[bmkBMK])\b(?!/)))?"
    rf"(?(before)|\s?(?P<after>{_CURRENCY}))(?!\w)"
)

_UNITS = {
    "kg": "kilogram", "g": "gram", "mg": "milligram", "t": "tonne", "lb": "pound", "lbs": "pound",
    "oz": "ounce", "km": "kilometer", "m": "meter", "cm": "centimeter", "mm": "millimeter",
    "µm": "micrometer", "mi": "mile", "yd": "yard", "l": "liter", "L": "liter",
    "ml": "milliliter", "mL": "milliliter", "cl": "centiliter", "dl": "deciliter",
    "kWh": "kilowatt hour", "Wh": "watt hour", "MWh": "megawatt hour", "W": "watt",
    "kW": "kilowatt", "MW": "megawatt", "V": "volt", "mV": "millivolt", "kV": "kilovolt",
    "A": "ampere", "mA": "milliampere", "mAh": "milliampere hour", "Ah": "ampere hour",
    "kHz": "kilohertz*", "MHz": "megahertz*", "GHz": "gigahertz*", "Hz": "hertz*",
    "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte", "kB": "kilobyte", "KB": "kilobyte",
    "Mbps": "megabit per second", "mbps": "megabit per second", "Gbps": "gigabit per second",
    "Mbit/s": "megabit per second", "Gbit/s": "gigabit per second", "mph": "mile per hour",
    "km/h": "kilometer per hour", "kmh": "kilometer per hour", "m/s": "meter per second",
    "m²": "square meter", "m2": "square meter", "km²": "square kilometer",
    "km2": "square kilometer", "cm²": "square centimeter", "m³": "cubic meter",
    "m3": "cubic meter", "cm³": "cubic centimeter", "km³": "cubic kilometer",
    "ha": "hectare", "sq ft": "square foot*", "h": "hour", "hr": "hour", "hrs": "hour",
    "min": "minute", "mins": "minute", "sec": "second", "secs": "second", "s": "second",
    "ms": "millisecond", "°C": "degree Celsius", "°F": "degree Fahrenheit", "º C": "degree Celsius",
    "°": "degree", "K": "kelvin*", "bar": "bar*", "hPa": "hectopascal", "kPa": "kilopascal",
    "Pa": "pascal", "dB": "decibel", "kcal": "kilocalorie", "cal": "calorie", "kJ": "kilojoule",
    "Nm": "newton meter", "lm": "lumen", "rpm": "revolution per minute", "%": "percent*",
    "tsp": "teaspoon", "tbsp": "tablespoon", "ppm": "part per million", "ft": "foot*",
}  # fmt: skip
"""Symbol to name; a star marks a name without a plural of its own."""
_PER = _UNITS | {"mo": "month", "month": "month", "yr": "year", "year": "year", "wk": "week",
                 "week": "week", "d": "day", "day": "day", "person": "person"}  # fmt: skip
_CASELESS = {unit.lower(): name for unit, name in _UNITS.items() if len(unit) > 1}


def _alternatives(names: dict[str, str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_UNIT = _alternatives({unit: name for unit, name in _UNITS.items() if unit != "K"})
_MEASURE = re.compile(
    rf"({_SIGN})({_NUMBER})((?:\s(?:thousand|million|billion))?)[ -]?({_UNIT}|KG|KM|CM|MM)"
    r"(?![\w²³]|\.\w)(?:\.(?=\s[a-z]))?"
)
_FRACTION_MEASURE = re.compile(rf"(?<![\w/])(?:(\d+) )?([1-9])/([2-9]) ?({_UNIT})(?![\w²³])")
_PER_UNIT = re.compile(rf"(?<=[a-z])\s?/\s?({_alternatives(_PER)})(?![\w²³/])")
_BARE_PER = re.compile(rf"\b(\d+)/({_alternatives(_UNITS)})(?![\w²³/])")

_AFTER_FIRST = r"(?:\s?(?:%|°C|€|[a-zA-Z]{1,3}²?(?=\s?[–-])))?"
_RANGE = re.compile(
    rf"(?<![\w.,/=+–-])((?:{_CURRENCY})?\s?{_NUMBER}{_AFTER_FIRST})(?:[–-]|\s?–\s?)"
    rf"(?=(?:{_CURRENCY})?\s?\d[\d.,]*(?![\w-]*-\d))"
)
_TIMES_SIGN = re.compile(r"(?<=\d)\s?[x×]\s?(?=\d)")
_MINUS = re.compile(r"(?<=\d)\s?−\s?(?=\d)|(?<=\d) - (?=\d+ ?=)|(?<=\d)-(?=\d+ ?=)")

_PLAIN = re.compile(rf"({_SIGN})(?<![\w.,])({_NUMBER})(?![\d])")
_GLUED = re.compile(r"\d+")


def _say_number(written: str) -> str | None:
    parts = parse(written)
    return decimal(*parts) if parts else None


def _say_money(found: re.Match[str]) -> str:
    one, many, cent, cents = _CURRENCIES[found["before"] or found["after"]]
    minus = "minus " if found["minus"] else ""
    parts = parse(found["number"])
    if parts is None:
        return found[0]
    whole, part = parts[0] or "0", parts[1]
    if one == "euro" and len(part) == 3 and "," not in found["number"]:
        whole, part = whole + part, ""  # 1.250 €: nobody writes tenths of a cent
    scale = found["scale"]
    if scale:
        return f"{minus}{decimal(whole, part)} {_SCALES.get(scale.lower(), scale)} {many}"
    if len(part.rstrip("0")) > 2:
        return f"{minus}{decimal(whole, part)} {many}"
    small = int(part[:2].ljust(2, "0")) if part else 0
    words = [f"{cardinal(int(whole))} {one if int(whole) == 1 else many}"]
    if small:
        words = words if int(whole) else []
        words.append(f"{cardinal(small)} {cent if small == 1 else cents}")
    return minus + " ".join(words)


def _say_measure(found: re.Match[str]) -> str:
    number = _say_number(found[2])
    if number is None:
        return found[0]
    minus = "minus " if found[1] else ""
    return f"{minus}{number}{found[3]} {_unit(found[4], one=number == 'one' and not found[3])}"


def _say_fraction_measure(found: re.Match[str]) -> str:
    number = mixed(found[1], int(found[2]), int(found[3]))
    return (
        f"{number} {_unit(found[4], one=False)}"
        if found[1]
        else (f"{number} of a {_unit(found[4], one=True)}")
    )


def _unit(symbol: str, *, one: bool) -> str:
    name = _UNITS.get(symbol) or _CASELESS[symbol.lower()]
    if name == "foot*":
        return "foot" if one else "feet"
    if one or name.endswith("*"):
        return name.rstrip("*").replace("square foot", "square feet")
    first, *rest = name.split(" per ")
    head, _, degree = first.partition(" ")
    first = f"degrees {degree}".strip() if head == "degree" else f"{first}s"
    return " per ".join([first, *rest])


def _say_bare_per(found: re.Match[str]) -> str:
    return f"{cardinal(int(found[1]))} per {_PER[found[2]].rstrip('*')}"


def _say_plain(found: re.Match[str]) -> str:
    """Years as years, long or zero-led digit strings digit by digit, the rest as numbers."""
    written = found[2]
    minus = "minus " if found[1] else ""
    if written.isdigit():
        if len(written) > 1 and written[0] == "0" or len(written) > 7:
            return digits(written)
        if not minus and re.fullmatch(r"19\d\d|20[0-4]\d", written):
            return year(int(written))
    return minus + (_say_number(written) or " ".join(_each_number(written)))


def _each_number(written: str) -> list[str]:
    parts = re.findall(r"\d+|[.,]", written)
    return [cardinal(int(p)) if p.isdigit() else {".": "point"}.get(p, ",") for p in parts]


RANGES: tuple[_Rule, ...] = (
    (_TIMES_SIGN, lambda found: " by "),
    (_MINUS, lambda found: " minus "),
    (_RANGE, lambda found: f"{found[1]} to "),
)
AMOUNTS: tuple[_Rule, ...] = (
    (_MONEY, _say_money),
    (_FRACTION_MEASURE, _say_fraction_measure),
    (_BARE_PER, _say_bare_per),
    (_MEASURE, _say_measure),
    (_PER_UNIT, lambda found: f" per {_PER[found[1]].rstrip('*')}"),
)
NUMBERS: tuple[_Rule, ...] = (
    (_PLAIN, _say_plain),
    (_GLUED, lambda found: f" {cardinal(int(found[0]))} "),
)
