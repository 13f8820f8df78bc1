"""Whether a partial transcript is a whole question: by its last words, no model."""

import re

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
_ASKS_OR_ORDERS = {
    "en": "what who whom whose when where why which how is are was were do does did can could will"
    " would should may tell show find give list explain read play set turn search look name",
    "de": "was wer wen wem wann wo warum welche welcher welches wie ist sind war kann können"
    " sag zeig finde gib nenne erkläre lies suche mach",
    "es": "qué quién cuándo dónde por cuál cómo cuánto es son dime muestra busca lee explica pon",
    "fr": "que quoi qui quand où pourquoi quel quelle comment combien est dis montre cherche lis"
    " explique donne mets",
}
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
    spelt; True for at least three words that ask or order and end as a sentence does. Whisper
    closes nearly every text with a full stop, so that alone says nothing. An unknown language
    goes by its marks alone.
    """
    words = re.findall(r"[\w']+", text.lower())
    if not words:
        return None
    stripped = text.rstrip(" \"')»")
    asked = stripped.endswith("?")
    if stripped.endswith(("...", "…", ",", ";", ":", "-", "–")):
        return False
    if _is_in(words[-1], _NEVER_LAST, language):
        return False
    if not asked and (_is_in(words[-1], _LAST_IN_QUESTIONS_ONLY, language)):
        return False
    if not asked and _is_spelling(words, language):
        return False
    if len(words) < _FEWEST_WORDS:
        return None
    ended = asked or (stripped.endswith((".", "!")) and _is_in(words[0], _ASKS_OR_ORDERS, language))
    return True if ended else None


def _is_spelling(words: list[str], language: str) -> bool:
    tail = words[-_SPELT_WORDS:]
    return len(tail) == _SPELT_WORDS and all(
        word.isdigit() or len(word) == 1 or _is_in(word, _SPELT, language) for word in tail
    )


def _is_in(word: str, lists: dict[str, str], language: str) -> bool:
    return word in lists.get(language, "").split()
