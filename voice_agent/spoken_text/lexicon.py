"""The few words that stripped markup and symbols are replaced by, in each language."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lexicon:
    """``symbols`` are pairs of a pattern and its words, applied in order."""

    code: str
    link: str
    at: str
    dot: str
    symbols: tuple[tuple[str, str], ...] = ()


ENGLISH = Lexicon(code="There is code on the screen.", link="a link", at="at", dot="dot")

_NUMBER_BEFORE = r"(?<=\d)\s?"

GERMAN = Lexicon(
    code="Auf dem Bildschirm steht Code.",
    link="ein Link",
    at="ät",
    dot="Punkt",
    symbols=(
        (r"\bz\. ?B\.", "zum Beispiel"),
        (r"\bd\. ?h\.", "das heißt"),
        (r"\bu\. ?a\.", "unter anderem"),
        (r"\bbzw\.", "beziehungsweise"),
        (r"\bca\.", "circa"),
        (r"\busw\.(?=$|\s*$)", "und so weiter."),
        (r"\busw\.", "und so weiter"),
        (r"\bNr\. ?(?=\d)", "Nummer "),
        (r"\bDr\. ", "Doktor "),
        (r"(\d)\s?[–-]\s?(?=\d+(?:\s|$|[^\d.-]))", r"\1 bis "),
        (r"(\d{1,2}):(\d\d)(?: Uhr)?(?!\d)", r"\1 Uhr \2"),
        (_NUMBER_BEFORE + "€", " Euro"),
        (r"€\s?(\d[\d.,]*\d|\d)", r"\1 Euro"),
        (_NUMBER_BEFORE + "°C", " Grad Celsius"),
        (_NUMBER_BEFORE + "%", " Prozent"),
        (_NUMBER_BEFORE + r"km/h\b", " Kilometer pro Stunde"),
        (_NUMBER_BEFORE + r"kWh\b", " Kilowattstunden"),
        (_NUMBER_BEFORE + r"kg\b", " Kilogramm"),
        (_NUMBER_BEFORE + "m²", " Quadratmeter"),
        (r"\s?&\s?", " und "),
    ),
)

SPANISH = Lexicon(
    code="Hay código en la pantalla.",
    link="un enlace",
    at="arroba",
    dot="punto",
    symbols=(
        (_NUMBER_BEFORE + "€", " euros"),
        (_NUMBER_BEFORE + "°C", " grados"),
        (_NUMBER_BEFORE + "%", " por ciento"),
        (r"\s?&\s?", " y "),
    ),
)

FRENCH = Lexicon(
    code="Il y a du code à l'écran.",
    link="un lien",
    at="arobase",
    dot="point",
    symbols=(
        (_NUMBER_BEFORE + "€", " euros"),
        (_NUMBER_BEFORE + "°C", " degrés"),
        (_NUMBER_BEFORE + "%", " pour cent"),
        (r"\s?&\s?", " et "),
    ),
)

_LEXICONS = {"en": ENGLISH, "de": GERMAN, "es": SPANISH, "fr": FRENCH}


def lexicon_of(code: str) -> Lexicon:
    """Return the words for a language code such as "de" or "de_DE"; English for an unknown one."""
    return _LEXICONS.get(code[:2].lower(), ENGLISH)
