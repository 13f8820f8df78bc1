"""Different ways of writing the same made equal, and forms found in a text as whole words."""

import re
import unicodedata

_SIGNS = str.maketrans(
    {mark: "'" for mark in "‘’‚‛′`´"}
    | {mark: '"' for mark in "“”„‟″«»"}
    | {mark: "-" for mark in "‐‑‒–—―−"}
    | {mark: "" for mark in "*\u00ad\u200b\u2060\ufeff"}
)
_THOUSANDS = re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:([, '])\d{3})(?:\1\d{3})*(?![\d.,]*\d)")
_THOUSANDS_WITH_CENTS = re.compile(r"(?<![\w.,])[1-9]\d{0,2}(?:,\d{3})+(?=\.\d{1,2}(?!\d))")
_NO_CENTS = re.compile(r"(?<=\d)[.,]00(?![\d.,]*\d)")
_EARLY = re.compile(r"(?<![\w.,:])0(?=\d[.:h]\d\d(?!\d))")
_HALF_OF_DAY = re.compile(r"\b([ap])\. ?m\b\.?")
_UNIT = re.compile(
    r"(?<=\d)(?=(?:ml|l|mg|g|kg|kwh|w|bars?|mm|cm|m|km|am|pm|eur|euros?|percent)(?![^\W_]))"
)


def fold(text: str) -> str:
    """Return ``text`` in one way of writing.

    Case, typographic quotes, dashes and spaces, emphasis, thousands separators (comma, space,
    apostrophe; a point is a decimal point), cents that are zero, the zero of an early hour,
    "a.m." and a unit's missing space are folded.
    """
    folded = unicodedata.normalize("NFKC", text.translate(_SIGNS)).casefold()
    folded = " ".join(folded.split())
    for thousands in (_THOUSANDS, _THOUSANDS_WITH_CENTS):
        folded = thousands.sub(lambda number: re.sub(r"\D", "", number[0]), folded)
    folded = _NO_CENTS.sub("", folded)
    folded = _EARLY.sub("", folded)
    folded = _HALF_OF_DAY.sub(r"\1m", folded)
    return _UNIT.sub(" ", folded)


def stands(form: str, text: str) -> bool:
    """Whether the folded ``form`` stands in the folded ``text`` as whole words.

    No letter or digit stands directly before or after it, and a number is no part of a longer
    one: 21 stands neither in 210 nor in 3.21.
    """
    before = r"(?<![^\W_])" + (r"(?<!\d[.,:])" if form[:1].isdigit() else "")
    after = r"(?![^\W_])" + (r"(?![.,:]\d)" if form[-1:].isdigit() else "")
    return re.search(before + re.escape(form) + after, text) is not None
