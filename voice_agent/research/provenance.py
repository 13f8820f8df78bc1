"""Whose words a proposed call is made of: the user's, or those of something that was read.

What is retrieved is data. A document that holds a call, or asks for one, must not get it by the
model's copying: such a call needs the user's word.
"""

import re
from collections.abc import Iterable

from voice_agent.llm.model import Call

_WORD = re.compile(r"\w+")
_SHORT = 3
"""Words of so many letters, such as "and", "the", "to", are anybody's."""

_STEM_LETTERS = 6


class Provenance:
    """The words of one reply, by where they are from."""

    def __init__(self, heard: Iterable[str]) -> None:
        """``heard`` are the user's own words."""
        self._own: set[str] = set()
        self._read: list[str] = []
        for text in heard:
            self.hear(text)

    def hear(self, text: str) -> None:
        """Take words of the user."""
        self._own |= set(_words(text))

    def read(self, text: str) -> None:
        """Take words that a tool returned."""
        if text.strip():
            self._read.append(_plain(text))

    def is_quoted(self, call: Call) -> bool:
        """Whether the call stands in what was read: as it was written, or name and arguments.

        Case, white space and punctuation do not count.
        """
        texts = [call.name, *(str(value) for value in (call.arguments or {}).values())]
        return self._stands(call.raw) or (len(texts) > 1 and all(map(self._stands, texts)))

    def is_the_users(self, call: Call) -> bool:
        """Whether the words that the call would write are the user's.

        They are where nothing was read that they could be from. Else every one of them has been
        heard, in this form or another, and the longest text does not stand in what was read.
        """
        if not self._read:
            return True
        texts = [value for value in (call.arguments or {}).values() if isinstance(value, str)]
        if not texts or self._stands(max(texts, key=len)):
            return False
        written = {word for text in texts for word in _words(text)}
        stems = {_stem(word) for word in self._own}
        return all(_stem(word) in stems or _is_anybodys(word) for word in written)

    def _stands(self, text: str) -> bool:
        plain = _plain(text)
        return bool(plain.strip()) and any(plain in read for read in self._read)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _plain(text: str) -> str:
    return f" {' '.join(_words(text))} "


def _stem(word: str) -> str:
    """The beginning, which other forms of a word share."""
    return word[:_STEM_LETTERS]


def _is_anybodys(word: str) -> bool:
    return len(word) <= _SHORT and word.isalpha()
