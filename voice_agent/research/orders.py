"""Telling an order to write something down from a question.

The documents may well have passages on what a note is about, but they do not answer an order.
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


def is_order_to_write(text: str) -> bool:
    """Whether ``text`` begins like an order to note something, in a shipped language."""
    return _ORDER.match(text) is not None
