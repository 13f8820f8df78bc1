"""Text to the normal forms under which it is indexed and looked up.

One function serves documents, questions and whoever compares sentences with a question, so a
word is always counted as the same term: case and accents folded, English words stemmed, irregular
forms brought to their base, small number words written as digits, thousands separators dropped.
"""

import re
import unicodedata

from voice_agent.library.porter import stem

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})

_IRREGULAR_FORMS = """
child children, person people persons, man men, woman women, foot feet, tooth teeth, mouse mice,
life lives, wife wives, knife knives, leaf leaves, shelf shelves, half halves, loaf loaves,
begin began begun, break broke broken, bring brought, build built, buy bought, catch caught,
choose chose chosen, come came, cost costs, deal dealt, draw drew drawn, drive drove driven,
eat ate eaten, fall fell fallen, feed fed, feel felt, fight fought, find found, fly flew flown,
forget forgot forgotten, freeze froze frozen, get got gotten, give gave given, go went gone,
grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept, know knew known,
lead led, leave left, lend lent, lose lost, make made, meet met, pay paid, ride rode ridden,
ring rang rung, rise rose risen, run ran, say said, sell sold, send sent, shine shone,
shoot shot, sing sang sung, sink sank sunk, sit sat, sleep slept, speak spoke spoken,
spend spent, stand stood, steal stole stolen, stick stuck, strike struck, swim swam swum,
take took taken, teach taught, tear torn, tell told, think thought, throw threw thrown,
wake woke woken, wear wore worn, win won, write wrote written, die dying died dies,
2 two, 3 three, 4 four, 5 five, 6 six, 7 seven, 8 eight, 9 nine, 10 ten, 11 eleven, 12 twelve,
minute min mins
"""
_BASE = {
    form: base
    for base, *forms in (line.split() for line in _IRREGULAR_FORMS.split(","))
    for form in forms
}

_STOP_WORDS = {
    "en": """a about am an and any are as at be been being but by can could did do does doing
        don doesn didn isn wasn for from had has have having he her hers him his how i if in into
        is it its just ll many may me might much must my no nor not of on or our ours please re s
        shall she should so some such t tell than that the their theirs them then there these they
        this those to too us ve was we were what when where which who whom whose why will with
        would you your yours""",
    "de": """aber als am an auch auf aus bei bin bis bitte da das dass dein dem den der des die
        dies diese dieser dieses doch du durch ein eine einem einen einer eines er es fur hat habe
        haben ich ihr im in ist ja kann man mein meine mir mich mit nach nicht noch nur oder ohne
        sag sein seine sich sie sind so uber um und uns unser unsere viel viele vom von vor war
        waren warum was welche welchem welchen welcher welches wem wen wann wer werden wie wieviel
        wird wo worden wurde wurden zu zum zur""",
    "es": """a al algo como con cual cuales cuando cuanta cuantas cuanto cuantos de del desde
        donde e el ella ellos en entre era eran eres es esa ese eso esta este esto fue fueron ha
        han hay la las le les lo los mas me mi mis muy no nos o para pero por porque que quien
        quienes se ser si sin sobre son su sus te tu un una unas uno unos y ya yo""",
    "fr": """a ai au aux avec c ce ces cet cette combien comment d dans de des du elle elles en
        est et etait etaient eu fait il ils j je l la le les leur leurs lui m ma mais me mes mon n
        ne nos notre nous on ont ou par pas pour pourquoi qu quand que quel quelle quelles quels
        qui quoi s sa sans se ses si son sont sur t ta te tes ton tu un une vos votre vous y""",
}
_STOP_SETS = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}


def words(text: str) -> list[str]:
    """Return the words and numbers of ``text`` in order, case and accents folded, not stemmed.

    Letters and digits are apart (``E14`` is ``e``, ``14``), a decimal number or a time of day is
    one word (``10.50`` is ``10.5``, ``18:30``), a date of figures is its parts.
    """
    found: list[str] = []
    for token in _TOKEN.findall(_folded(text)):
        found.extend(_number(token) if token[0].isdecimal() else (token,))
    return found


def terms(text: str) -> list[str]:
    """Return the normal forms of all words of ``text`` in order, as the index holds them."""
    return [_normal(word) for word in words(text)]


def content_terms(text: str) -> list[str]:
    """Return the distinct terms of a question in order, without its language's stop words.

    The language is the one of en, de, es, fr with most stop words in the text; a text of nothing
    but stop words keeps them all.
    """
    spoken = words(text)
    stop = max(_STOP_SETS.values(), key=lambda listed: sum(word in listed for word in spoken))
    kept = [word for word in spoken if word not in stop] or spoken
    return list(dict.fromkeys(map(_normal, kept)))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", text.translate(_LIGATURES).casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _number(token: str) -> list[str]:
    if ":" in token:
        return [token[1:] if token[0] == "0" and token[1].isdecimal() else token]
    if _THOUSANDS.fullmatch(token):
        return [token.replace(",", "").replace(".", "")]
    parts = re.split("[.,]", token)
    if len(parts) != 2:
        return parts
    decimals = parts[1].rstrip("0")
    return [f"{parts[0]}.{decimals}" if decimals else parts[0]]


def _normal(word: str) -> str:
    base = _BASE.get(word)
    return stem(word if base is None else base)
