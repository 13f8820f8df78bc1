"""Which of the shipped languages a short text is written in, told by its commonest words."""

import re
from collections.abc import Mapping

_WORD = re.compile(r"[^\W\d_]+")

_COMMON: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        "the a an is are was were of to and in on it its with by at from for not has have that "
        "this be or you your must does costs can as they there".split()
    ),
    "de": frozenset(
        "der die das ein eine einen dem den des ist sind war und im am auf mit von zu für nicht "
        "hat haben auch sich bei nach wird werden muss kostet oder sie es alle auf".split()
    ),
    "fr": frozenset(
        "le la les un une des est sont était et dans sur avec de du au aux pour ne pas il elle "
        "que qui tous jours doit coûte ou ce cette par".split()
    ),
    "es": frozenset(
        "el la los las un una es son era y en con de del al para no que por se su debe cuesta o "
        "este esta hay cada como".split()
    ),
}


def tongue(text: str) -> str:
    """Return "en", "de", "fr" or "es"; English where nothing speaks for another one."""
    words = [word.casefold() for word in _WORD.findall(text)]
    found = {language: sum(w in common for w in words) for language, common in _COMMON.items()}
    return max(found, key=lambda language: found[language])
