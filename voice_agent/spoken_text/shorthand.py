"""English abbreviations and symbols as they are said."""

import re

_BEFORE_NUMBERS = {
    "no": "number",
    "nos": "numbers",
    "nr": "number",
    "p": "page",
    "pp": "pages",
    "fig": "figure",
    "figs": "figures",
    "vol": "volume",
    "ch": "chapter",
    "chap": "chapter",
    "sec": "section",
    "sect": "section",
    "art": "article",
    "para": "paragraph",
    "ext": "extension",
    "apt": "apartment",
    "max": "maximum",
    "min": "minimum",
    "approx": "approximately",
    "ca": "about",
    "tel": "telephone",
    "app": "appendix",
    "rm": "room",
    "ver": "version",
}
_NUMBERED = re.compile(rf"\b({'|'.join(_BEFORE_NUMBERS)})\.:? ?(?=[\d+(§$€£])", re.IGNORECASE)
_VULGAR = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8"}
_SIGNS_BEFORE = (
    (re.compile(r"(?:N°|Nº|№)\.? ?(?=\d)"), "number "),
    (re.compile(r"§§? ?(?=\d)"), "section "),
    (re.compile(r"(?<![\w&])#(?=\d)"), "number "),
    (re.compile(r"[~≈] ?(?=[\d$€£])"), "about "),
    (re.compile(r"[≥] ?(?=\d)|>= ?(?=\d)"), "at least "),
    (re.compile(r"[≤] ?(?=\d)|<= ?(?=\d)"), "at most "),
    (re.compile(r"< ?(?=\d)"), "less than "),
    (re.compile(r"> ?(?=\d)"), "more than "),
    (re.compile(r"± ?(?=\d)"), "plus or minus "),
)

_ABBREVIATIONS = {
    "Dr.": "Doctor",
    "Mr.": "Mister",
    "Mrs.": "Missus",
    "Ms.": "Miz",
    "Prof.": "Professor",
    "Rev.": "Reverend",
    "Gen.": "General",
    "Capt.": "Captain",
    "Lt.": "Lieutenant",
    "Sgt.": "Sergeant",
    "Gov.": "Governor",
    "Sen.": "Senator",
    "Jr.": "Junior",
    "Sr.": "Senior",
    "Mt.": "Mount",
    "Ave.": "Avenue",
    "Blvd.": "Boulevard",
    "Rd.": "Road",
    "Inc.": "Incorporated",
    "Ltd.": "Limited",
    "Corp.": "Corporation",
    "Co.": "Company",
    "Dept.": "Department",
    "e.g.": "for example",
    "e. g.": "for example",
    "i.e.": "that is",
    "i. e.": "that is",
    "etc.": "et cetera",
    "et al.": "and others",
    "vs.": "versus",
    "cf.": "compare",
    "approx.": "approximately",
    "incl.": "including",
    "excl.": "excluding",
    "max.": "maximum",
    "min.": "minimum",
    "misc.": "miscellaneous",
    "temp.": "temperature",
    "tel.": "telephone",
    "Tel.": "telephone",
    "Mon.": "Monday",
    "Tue.": "Tuesday",
    "Wed.": "Wednesday",
    "Thu.": "Thursday",
    "Fri.": "Friday",
    "Sat.": "Saturday",
    "Sun.": "Sunday",
    "a.s.a.p.": "as soon as possible",
    "w/o": "without",
}
_ABBREVIATION = re.compile(
    rf"(?<![\w.])({'|'.join(re.escape(key) for key in _ABBREVIATIONS)})(?!\w)(\s*$|(?=\s[A-Z]))?"
)
_STREET = re.compile(r"\b([A-Z]\w+|\d+\w+) [Ss]t\.(?=[\s,;]|$)(\s*$|(?=\s[A-Z]))?")
_SAINT = re.compile(r"\bSt\. (?=[A-Z])")
_ACRONYM = re.compile(r"\b((?:[A-Z]\.){2,})(\s*$)?")
_WEEKDAYS = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_WEEKDAY_RANGE = re.compile(rf"\b({_WEEKDAY})(?:day)?\.?\s?[–-]\s?({_WEEKDAY})(?:day)?\b\.?")
_WEEKDAY_ALONE = re.compile(r"\b(Mon|Tue|Wed|Thu|Fri)\b(?=[\s,:.;)]|$)")
_MAY_END = ("etc.", "Jr.", "Sr.", "Inc.", "Ltd.", "Corp.", "Co.", "et al.", "Ave.", "Rd.")
_SYMBOLS = (
    (re.compile(r"\band/or\b"), "and or"),
    (re.compile(r"\bw/(?=\s|\w)\s?"), "with "),
    (re.compile(r"\s?&\s?"), " and "),
    (re.compile(r"(?<=[a-z])\s?/\s?(?=[a-z])"), " or "),
    (re.compile(r"\s?/\s?"), " "),
    (re.compile(r"\s?=\s?"), " equals "),
    (re.compile(r"(?<=\w)\s?\+\s?(?=\w)"), " plus "),
    (re.compile(r"(?<=\w)\+(?!\w)"), " plus"),
    (re.compile(r"\s[×]\s"), " times "),
    (re.compile(r"(?<=\w)\s?%"), " percent"),
    (re.compile(r"\s?@\s?"), " at "),
    (re.compile(r"#(?=\w)"), "hash "),
    (re.compile(r"\s[–—]\s|(?<=\w)—(?=\w)"), ", "),
    (re.compile(r"\s-\s"), ", "),
    (re.compile(r"[<>{}\[\]|\\^~*_]"), " "),
)


def expand_before_numbers(text: str) -> str:
    """Put into words what stands before a number: "No. 5", "p. 12", "~3"."""
    text = re.sub(r"(\d?)\s?([½¼¾⅓⅔⅛])", lambda f: f"{f[1]} {_VULGAR[f[2]]}", text)
    text = _NUMBERED.sub(lambda found: f"{_cased(found[1])} ", text)
    for pattern, words in _SIGNS_BEFORE:
        text = pattern.sub(words, text)
    return text


def _cased(word: str) -> str:
    words = _BEFORE_NUMBERS[word.lower()]
    return words.capitalize() if word[0].isupper() else words


def expand(text: str) -> str:
    """Put the other abbreviations and symbols into words."""
    text = _WEEKDAY_RANGE.sub(lambda f: f"{_WEEKDAYS[f[1]]} to {_WEEKDAYS[f[2]]}", text)
    text = _STREET.sub(_say_street, text)
    text = _SAINT.sub("Saint ", text)
    text = _ABBREVIATION.sub(_say_abbreviation, text)
    text = _WEEKDAY_ALONE.sub(lambda found: _WEEKDAYS[found[1]], text)
    text = _ACRONYM.sub(_say_acronym, text)
    for pattern, words in _SYMBOLS:
        text = pattern.sub(words, text)
    return text


def _say_abbreviation(found: re.Match[str]) -> str:
    """Return the words; the full stop stays where it also ends the sentence."""
    last = found[2] is not None and (found[2] != "" or found.end() == len(found.string))
    ends = last or (found[2] == "" and found[1] in _MAY_END[:1])
    return _ABBREVIATIONS[found[1]] + ("." if ends and found[1].endswith(".") else "")


def _say_street(found: re.Match[str]) -> str:
    return f"{found[1]} Street" + ("." if found[2] is not None else "")


def _say_acronym(found: re.Match[str]) -> str:
    letters = found[1].replace(".", " ").strip()
    return letters + ("." if found[2] is not None else "")
