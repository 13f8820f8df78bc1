"""A stream of text pieces cut into sentences, the same however the pieces are cut."""

import re

from voice_agent.sentences.clauses import first_clause_end
from voice_agent.sentences.languages import language_of
from voice_agent.sentences.stops import sentence_end

_STRONG = re.compile(r"[;:](?=\s)|\s[–—-](?=\s)|—")
_CONJUNCTION = re.compile(
    r",(?=\s(?:and|but|or|so|because|which|while|where|although|und|aber|oder|sondern|weil|dass"
    r"|wobei|denn|y|pero|porque|que|et|mais|car|qui)\s)"
)
_COMMA = re.compile(r",(?=\s)")


class SentenceStream:
    """Collects pieces of text and releases each sentence as soon as its end is certain.

    ``max_chars``: a longer sentence is cut at the end of a clause (None: never).
    ``first_clause_chars``: the very first clause is released on its own when it is at least so
    long (None: never) and more of its sentence follows, so that speech starts before the first
    sentence has ended.

    Line breaks inside a sentence become spaces, except in code fences. The released pieces are
    written text: Markdown and markup are for `voice_agent.spoken_text`.
    """

    def __init__(
        self,
        language: str = "en",
        *,
        max_chars: int | None = 200,
        first_clause_chars: int | None = None,
    ) -> None:
        self._language = language_of(language)
        self._max_chars = max_chars
        self._first_clause_chars = first_clause_chars
        self._text = ""

    def feed(self, piece: str) -> list[str]:
        """Take the next piece; return the sentences that are complete now."""
        released = []
        for char in piece.replace("\r\n", "\n").replace("\r", "\n"):
            self._text += char
            if _may_decide(char, self._text):
                released += self._release(final=False)
        return released

    def flush(self) -> list[str]:
        """Return what is left; the text has ended."""
        released = self._release(final=True)
        rest, self._text = self._text, ""
        return released + ([_tidy(rest)] if rest.strip() else [])

    def _release(self, *, final: bool) -> list[str]:
        released = []
        while end := self._next_end(final):
            sentence, self._text = self._text[:end], self._text[end:].lstrip()
            self._first_clause_chars = None
            released.append(_tidy(sentence))
        return released

    def _next_end(self, final: bool) -> int:
        end = sentence_end(self._text, self._language, final=final)
        sentence = self._text[:end] if end else self._text
        return self._first_clause(sentence) or self._long_clause(sentence) or end

    def _first_clause(self, sentence: str) -> int:
        if self._first_clause_chars is None:
            return 0
        return first_clause_end(sentence, self._first_clause_chars)

    def _long_clause(self, sentence: str) -> int:
        if self._max_chars is None or len(sentence.rstrip()) <= self._max_chars:
            return 0
        if re.match(r"\s*(?:```|~~~|<|\{|\|)", sentence):
            return 0
        head = sentence[: self._max_chars + 1]
        for pattern in (_STRONG, _CONJUNCTION, _COMMA):
            ends = [f.end() for f in pattern.finditer(head) if _balanced(head[: f.end()])]
            if ends and ends[-1] >= self._max_chars // 3:
                return ends[-1]
        if len(sentence) <= 2 * self._max_chars:
            return 0
        space = max(head.rfind(" "), head.rfind("\n"))
        return space if space > 0 else self._max_chars


def split_sentences(text: str, language: str = "en", *, max_chars: int | None = 200) -> list[str]:
    """Return the sentences of a whole text."""
    stream = SentenceStream(language, max_chars=max_chars)
    return stream.feed(text) + stream.flush()


def _may_decide(char: str, text: str) -> bool:
    """Whether a new character can complete a decision: it ends a word, or begins one."""
    return not char.isalnum() or not text[-2:-1].isalnum()


def _balanced(text: str) -> bool:
    return text.count("(") <= text.count(")") and text.count("[") <= text.count("]")


def _tidy(sentence: str) -> str:
    sentence = sentence.strip()
    if sentence.startswith(("```", "~~~", "<")):
        return sentence
    return re.sub(r"\s+", " ", sentence)
