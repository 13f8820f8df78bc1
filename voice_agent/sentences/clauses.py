"""Where an answer's first clause ends, so that it can be spoken before its sentence is whole."""

import re

REST_CHARS = 15
"""A sentence that ends sooner after the clause is spoken in one breath."""

_ENDS = re.compile(
    r"(?<![.\s])\s?[,;:](?=\s+[^\s\d])"  # "e.g., this", "May 3, 2019", "1, 2 and 3" belong together
    r"|\s[–—-](?=\s+[^\s\d])"
    r"|(?<!\s)—(?=[^\W\d])"
)
_NEVER = re.compile(
    r"\s*(?:[#>|`~<{\[•⁃*+_-]|\d{1,3}[.)]"
    r"|\W*(?:sources?|references?|quellen?|fuentes?)\W*:)",
    re.IGNORECASE,
)
_PAIRS = ("()", "[]", "{}", "<>", "【】", "«»")
_QUOTES = '"“”„'
_TWINS = ("`", "**", "~~")


def first_clause_end(sentence: str, at_least: int) -> int:
    """Return the length of the first clause of at least ``at_least`` characters, or 0.

    ``sentence`` begins where a sentence begins; it may still grow, or is whole. Structured text,
    a list of sources, and what stands in brackets, quotes or marks of emphasis is not divided, nor
    a number, a date or an abbreviation: each part is spoken as it would be in the whole.
    """
    if _NEVER.match(sentence):
        return 0
    for found in _ENDS.finditer(sentence):
        end = found.end()
        if len(sentence) - end < REST_CHARS:
            return 0
        if end >= at_least and is_closed(sentence[:end]):
            return end
    return 0


def is_closed(text: str) -> bool:
    """Whether every bracket, quote and mark of emphasis that opens in ``text`` also closes."""
    pairs = all(text.count(pair[0]) <= text.count(pair[1]) for pair in _PAIRS)
    quotes = sum(text.count(quote) for quote in _QUOTES)
    return pairs and quotes % 2 == 0 and all(text.count(twin) % 2 == 0 for twin in _TWINS)
