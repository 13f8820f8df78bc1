"""English words for numbers."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ("", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def digits(text: str) -> str:
    """Return the digits of ``text`` one by one; other characters are dropped."""
    return " ".join(_SMALL[int(char)] for char in text if char in "0123456789")


def cardinal(number: int) -> str:
    """Return a whole number in words; digit by digit from a sextillion on."""
    if number < 0:
        return f"minus {cardinal(-number)}"
    if number < 1000:
        return _below_thousand(number)
    if number >= 1000 ** len(_SCALES):
        return digits(str(number))
    words = []
    for power in range(len(_SCALES) - 1, -1, -1):
        group, number = divmod(number, 1000**power)
        if group:
            words.append(f"{_below_thousand(group)} {_SCALES[power]}".strip())
    return " ".join(words)


def _below_thousand(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    words = [f"{_SMALL[hundreds]} hundred"] if hundreds else []
    if rest or not hundreds:
        words.append(_below_hundred(rest))
    return " ".join(words)


def _below_hundred(number: int) -> str:
    if number < 20:
        return _SMALL[number]
    tens, ones = divmod(number, 10)
    return f"{_TENS[tens]}-{_SMALL[ones]}" if ones else _TENS[tens]


def ordinal(number: int) -> str:
    """Return "twenty-first" for 21."""
    words = cardinal(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    head, last = words[:cut], words[cut:]
    if last in _ORDINALS:
        return head + _ORDINALS[last]
    return f"{head}{last[:-1]}ieth" if last.endswith("y") else f"{head}{last}th"


def year(number: int) -> str:
    """Return a year as people say it: "nineteen oh six", "two thousand five", "twenty twelve"."""
    century, rest = divmod(number, 100)
    if not 1100 <= number <= 2999 or number % 1000 < 10:
        return cardinal(number)
    if rest == 0:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def plural(words: str) -> str:
    """Return the plural of the last word: "nineties", "halves", "thirds"."""
    if words.endswith("y"):
        return f"{words[:-1]}ies"
    return f"{words[:-1]}ves" if words.endswith("half") else f"{words}s"


def fraction(above: int, below: int) -> str:
    """Return "three quarters" for 3/4."""
    names = {2: "half", 4: "quarter"}
    name = names.get(below) or ordinal(below)
    if below == 1:
        return f"{cardinal(above)} over one"
    return f"{cardinal(above)} {name if above == 1 else plural(name)}"


def mixed(whole: str | None, above: int, below: int) -> str:
    """Return "two and a half" for 2 1/2; without ``whole`` the fraction alone."""
    if not whole:
        return fraction(above, below)
    part = "a half" if (above, below) == (1, 2) else fraction(above, below)
    return f"{cardinal(int(whole))} and {part}"


def decimal(whole: str, part: str) -> str:
    """Return "three point one four" for "3" and "14"; without ``part`` the whole number."""
    words = cardinal(int(whole)) if whole else "zero"
    return f"{words} point {digits(part)}" if part else words


def parse(written: str) -> tuple[str, str] | None:
    """Split a written number into whole and decimal digits; None if it is not one number.

    Both 1,250.50 and 1.250,50 are understood; 1.250 alone is a decimal, 1,250 a thousand.
    """
    text = written.translate({ord(mark): None for mark in "'’\u202f "})
    commas, dots = text.count(","), text.count(".")
    if commas and dots:
        mark = max(text.rfind(","), text.rfind("."))
        thousands = "," if text[mark] == "." else "."
        if text.count(text[mark]) > 1 or not _grouped(text[:mark], thousands):
            return None
        return text[:mark].replace(thousands, ""), text[mark + 1 :]
    if commas > 1 or dots > 1 or (commas and len(text) - text.rfind(",") == 4):
        mark_used = "," if commas else "."
        return (text.replace(mark_used, ""), "") if _grouped(text, mark_used) else None
    whole, _, part = text.replace(",", ".").partition(".")
    return whole, part


def _grouped(text: str, mark: str) -> bool:
    first, *others = text.split(mark)
    return 1 <= len(first) <= 3 and all(len(group) == 3 for group in others)
