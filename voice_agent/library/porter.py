"""English word stems by Porter's algorithm.

Source: M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the author's
two later changes (``bli`` and ``logi`` in step 2). A test compares it with SQLite's own porter.
"""

from functools import lru_cache

_VOWELS = frozenset("aeiou")
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize",
    "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive", "fulness": "ful",
    "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = (
    "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
).split()  # fmt: skip


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of a lower-case ASCII ``word``; any other word comes back as it is."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    word = _past_and_gerund(_plural(word))
    if word.endswith("y") and "v" in _form(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _final_letters(_without_suffix(word))


def _form(word: str) -> str:
    """The word as ``c`` and ``v``: a y is a vowel after a consonant."""
    form = ""
    for letter in word:
        vowel = letter in _VOWELS or (letter == "y" and form.endswith("c"))
        form += "v" if vowel else "c"
    return form


def _measure(word: str) -> int:
    return _form(word).count("vc")


def _ends_cvc(word: str) -> bool:
    return _form(word).endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_gerund(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _form(word[: -len(suffix)]):
            return _mended(word[: -len(suffix)])
    return word


def _mended(word: str) -> str:
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-1] == word[-2:-1] and _form(word)[-1] == "c" and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_cvc(word) else word


def _longest(word: str, suffixes: list[str]) -> str:
    return max((suffix for suffix in suffixes if word.endswith(suffix)), key=len, default="")


def _replaced(word: str, endings: dict[str, str]) -> str:
    suffix = _longest(word, list(endings))
    if suffix and _measure(word[: -len(suffix)]) > 0:
        return word[: -len(suffix)] + endings[suffix]
    return word


def _without_suffix(word: str) -> str:
    suffix = _longest(word, _STEP_4)
    rest = word[: len(word) - len(suffix)]
    if not suffix or _measure(rest) < 2 or (suffix == "ion" and not rest.endswith(("s", "t"))):
        return word
    return rest


def _final_letters(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
