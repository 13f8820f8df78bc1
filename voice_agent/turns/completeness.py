"""Whether a partial transcript is a whole question: by its last words, no model."""

import re

from voice_agent.phrases import is_stop

# Words that a sentence goes on after, whatever stands behind them.
_NEVER_LAST = {
    "en": "and or but because if the a an my your his our their than every",
    "de": "und oder aber weil dass wenn der das ein eine einen einem mein meine dein deine ob",
    "es": "y o pero porque que si el la los las un una mi tu su de del al",
    "fr": "et ou mais parce que si le la les un une mon ma mes ton ta du des de",
}
# Words that may end a question ("What is it made of?") but nothing else.
_LAST_IN_QUESTIONS_ONLY = {
    "en": "of to for with from at by in on about into is are was were do does did can which"
    " what who when where how there's it's i'm um uh er",
    "de": "von mit für bei in auf aus nach ist sind war kann wie was wer wann wo äh",
    "es": "con para por en es son era sobre entre cuando como eh",
    "fr": "avec pour dans par sur est sont à en chez quand comme euh",
}
# What "of" can follow at a question's end; behind any other word its noun is still to come.
_BEFORE_A_LAST_OF = (
    "made out think thinks thought hear heard consist consists composed full afraid proud"
    " aware capable fond rid sort kind type part member instead die died speak know care short"
)
_SPELT = {
    "en": "zero oh one two three four five six seven eight nine double",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf",
}
_FEWEST_WORDS = 3
_SPELT_WORDS = 3


def looks_complete(text: str, language: str) -> bool | None:
    """Return whether ``text`` ends where a question can end; None where that is open.

    False after "and", "of" and their like, after a comma or dots, and in a number that is being
    spelt; a question mark does not help "What is the colour of?", as a pause is often heard as one.
    True for at least three words with a question mark, and for "stop" and its like. Whisper
    closes nearly every text with a full stop, so that says nothing. An unknown language goes by
    its marks alone.
    """
    words = re.findall(r"[\w']+", text.lower())
    if not words:
        return None
    if is_stop(text):
        return True
    stripped = text.rstrip(" \"')»")
    asked = stripped.endswith("?")
    if stripped.endswith(("...", "…", ",", ";", ":", "-", "–")):
        return False
    if _is_in(words[-1], _NEVER_LAST, language):
        return False
    if not asked and _is_in(words[-1], _LAST_IN_QUESTIONS_ONLY, language):
        return False
    if language == "en" and _lacks_its_noun(words):
        return False
    if not asked and _is_spelling(words, language):
        return False
    return True if asked and len(words) >= _FEWEST_WORDS else None


def _lacks_its_noun(words: list[str]) -> bool:
    before = words[-2:-1]
    return words[-1] == "of" and not set(before) & set(_BEFORE_A_LAST_OF.split())


def _is_spelling(words: list[str], language: str) -> bool:
    tail = words[-_SPELT_WORDS:]
    return len(tail) == _SPELT_WORDS and all(
        word.isdigit() or len(word) == 1 or _is_in(word, _SPELT, language) for word in tail
    )


def _is_in(word: str, lists: dict[str, str], language: str) -> bool:
    return word in lists.get(language, "").split()
