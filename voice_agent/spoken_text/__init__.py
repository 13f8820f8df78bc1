"""Written text -> what a person would say."""

import re

from voice_agent.spoken_text.english import say_english
from voice_agent.spoken_text.lexicon import lexicon_of
from voice_agent.spoken_text.markup import strip_markup

__all__ = ["spoken"]


def spoken(text: str, language: str = "en") -> str:
    """Return ``text`` as it is said aloud; "" when nothing in it can be said.

    Markdown, HTML, citation marks, bare addresses, call markup, reasoning and emoji are not
    spoken. In English, numbers and what is written short are put into words; in other languages
    the voice reads numbers itself and only symbols are replaced.
    """
    lexicon = lexicon_of(language)
    plain = strip_markup(text, lexicon)
    if language[:2].lower() == "en":
        plain = say_english(plain)
    for symbol, word in lexicon.symbols:
        plain = re.sub(symbol, word, plain)
    return _tidy(plain)


def _tidy(text: str) -> str:
    """Close the gaps that removed marks leave, and drop text without a letter or digit."""
    text = re.sub(r"\(\s*[,;.]?\s*\)|\[\s*\]", " ", text)
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"\s+([,;:.!?…])(?=\s|$|[\"'”’)])", r"\1", text)
    text = re.sub(r"([,;:])(?:\s*[,;:])+", r"\1", text)
    text = re.sub(r"[,;:]+(?=[.!?])", "", text)
    text = re.sub(r"^[\s,;:.!?)\]–—-]+(?=\w)", "", text).strip()
    text = re.sub(r"\s+[–—-]$|—$", ",", text)  # a clause that goes on
    return text if re.search(r"\w", text) else ""
