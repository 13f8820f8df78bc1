"""Wishes that no document fulfils: to note something, to calculate, to look at the calendar.

Documents may well have passages on the same thing, and a small model takes those for an answer.
"""

import re

_POLITE = (
    r"(?:please|kindly|can you|could you|will you|would you|i want you to|bitte|kannst du"
    r"|könntest du|por favor|puedes|podrías|s'il (?:te|vous) plaît|peux-tu|pouvez-vous)"
)
_VERBS = (
    r"(?:add|note|jot|write (?:it |that |this )?down|write|remember|remind me|put|take a note"
    r"|make a note|notiere?|schreibe?|merke? dir|setze?|füge?|erinnere? mich"
    r"|añade|anota|apunta|agrega|recuérdame|ajoute[zr]?|note[zr]?|écri[st]|rappelle)"
)
_ORDER = re.compile(rf"\W*(?:{_POLITE}\W+)*{_VERBS}\b", re.IGNORECASE)

_CALENDAR = re.compile(
    r"\b(?:what|which) (?:week)?day (?:is|was|will)\b|\bwhat(?:'s| is) the (?:date|time)\W*(?:now"
    r"|today)?\W*$|\bwhat (?:time|date|year|month) is it\b|\bhow many days (?:until|till|since)\b"
    r"|\bwelcher (?:wochen)?tag (?:ist|war)\b|\bwie spät ist\b|\bwie viele tage (?:bis|seit)\b"
    r"|\bqué (?:día|hora|fecha) (?:es|fue|será)\b|\bcuántos días (?:faltan|hasta|desde)\b"
    r"|\bquel jour (?:est|était|sera)\b|\bquelle (?:heure|date) est\b"
    r"|\bcombien de jours (?:jusqu|avant|depuis)",
    re.IGNORECASE,
)
_ARITHMETIC = re.compile(
    r"\d\s*(?:[+*×÷]|times|plus|minus|divided by|multiplied by|percent of|% of|mal|geteilt durch"
    r"|prozent von|% von|por|más|menos|dividido|por ciento de|% de|fois|moins|divisé par"
    r"|pour cent de)\s*\d",
    re.IGNORECASE,
)


def is_reckoning(text: str) -> bool:
    """Whether ``text`` asks to calculate, or for what a calendar or a clock shows."""
    return _CALENDAR.search(text) is not None or _ARITHMETIC.search(text) is not None


def is_order_to_write(text: str) -> bool:
    """Whether ``text`` begins like an order to note something, in a shipped language."""
    return _ORDER.match(text) is not None


def is_question(text: str) -> bool:
    """Whether ``text`` asks something and orders nothing: "Can you add milk?" is an order."""
    return text.rstrip().endswith("?") and not is_order_to_write(text)
