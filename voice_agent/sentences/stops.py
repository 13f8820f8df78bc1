"""Where a sentence ends, decided as soon as what follows allows it.

Every function looks at text that begins where a sentence begins and may still grow, unless
``final``. Nothing is decided on a character that could still change the decision.
"""

import re

from voice_agent.sentences.languages import Language

WAIT = -1
"""The text so far cannot tell; ask again when it has grown."""
NO = 0
"""No sentence ends here."""

_CLOSERS = r"(?:\[\d+(?:[,;–-] ?\d+)*\]|【[^】\n]*】|[\"'”’“»›)\]*_`]| [»›])*"
_CANDIDATE = re.compile(
    rf"(?P<stop>\.(?: \.){{2,3}}(?!\w){_CLOSERS}|(?:[.!?…]+{_CLOSERS})+|[。！？]+[”’」』）]*)"
    r"|(?P<line>[ \t]*\n\s*)"
    r"|(?P<bullet>[ \t]+(?=[•⁃▪●‣]))"
)
_MARKER = re.compile(r"\s*(?:[•⁃▪●‣*+-]\s*)?(?:(\d{1,3}|[a-z])(\.\)|[.)]))?(?=\s|$)")
_LINE_MARKER = re.compile(r"[•⁃▪●‣*+>|#-]|\d{1,3}[.)]\s|```|~~~")
_STRUCTURE = re.compile(r"\s*(?:#{1,6}\s|\||[-*_]{3,}\s*$)")
_BLOCK = re.compile(
    r"(?P<fence>```|~~~)|<(?P<tag>think|thinking|reasoning|tool_call|tool_calls|tool_response|tools"
    r"|function_call)>",
    re.IGNORECASE,
)
_OPEN_TAIL = re.compile(r"(?:[\[【][^\]】\n]{0,40}| )$")


def sentence_end(text: str, language: Language, *, final: bool = False) -> int:
    """Return the length of the first sentence of ``text``, or `NO` when it has no end yet.

    A code fence or a block of call markup or reasoning is one piece of its own.
    """
    block = _BLOCK.search(text)
    if block and not text[: block.start()].strip():
        return _block_end(text, block)
    limit = block.start() if block else len(text)
    marker_end = _next_list_item(text, limit)
    limit = marker_end or limit
    for found in _CANDIDATE.finditer(text, 0, limit):
        end = _judge(text, found, language, final)
        if end == WAIT:
            return NO
        if end and text[:end].strip():
            return end
    return marker_end or (block.start() if block else NO)


def _block_end(text: str, block: re.Match[str]) -> int:
    closing = block["fence"] or f"</{block['tag']}>"
    at = text.lower().find(closing.lower(), block.end())
    return NO if at < 0 else at + len(closing)


def _next_list_item(text: str, limit: int) -> int:
    """Where "2." begins in a text that begins with "1.", or 0."""
    first = _MARKER.match(text)
    if not first or not first[1]:
        return 0
    mark = first[1]
    following = str(int(mark) + 1) if mark.isdigit() else chr(ord(mark) + 1)
    item = re.compile(rf"(?<=\s)(?:[•⁃▪●‣]\s*)?{following}{re.escape(first[2])}\s")
    found = item.search(text, first.end(), limit)
    return found.start() if found else 0


def _judge(text: str, found: re.Match[str], language: Language, final: bool) -> int:
    """Return the end of the sentence at this candidate, or `NO`, or `WAIT`."""
    if found["bullet"] is not None:
        return found.end() if text[: found.start()].strip() else NO
    if found["line"] is not None:
        return _judge_line(text, found, final)
    if found.end() == len(text) and not final and text[found.end() - 1] not in "。！？":
        return WAIT
    if text[found.start()] in "。！？":
        return found.end()
    after = re.compile(r"\s*").match(text, found.end())
    following = after.end() if after else found.end()
    if following == len(text):
        return found.end() if final else _paragraph(text, found.end())
    if following == found.end():
        return WAIT if _OPEN_TAIL.search(text) and not final else NO
    if "\n\n" in text[found.end() : following]:
        return found.end()
    return (
        found.end()
        if _ends(text, found, following, language, final=final)
        else _undecided(text, following, final)
    )


def _paragraph(text: str, end: int) -> int:
    return end if "\n\n" in text[end:] else WAIT


def _undecided(text: str, following: int, final: bool) -> int:
    """`WAIT` while the next word is incomplete and may still decide, else `NO`."""
    word = text[following:]
    if final or not word[0].isupper() or re.search(r"[\s.,!?]", word):
        return NO
    return WAIT


def _ends(
    text: str, found: re.Match[str], following: int, language: Language, *, final: bool
) -> bool:
    """Whether the stop ends a sentence, from the words on both sides."""
    stop, first = found["stop"], text[following]
    if first.islower() or first in ",;:.!?)]}»–—-" and not _LINE_MARKER.match(text[following:]):
        return False
    if stop.startswith(". ."):
        return stop.count(".") > 3 and not first.islower()
    if stop[0] != "." or stop[1:2] in (".", "…"):
        return True
    before = re.search(r"[^\s(\[\"'„“«]*$", text[: found.start()])
    word = before[0].lower().lstrip("-–") if before else ""
    next_word = _word(text, following, final)
    if _is_marker(text[: found.end()]):
        return False
    return _ends_after(word, next_word, text[: found.start()], language)


def _is_marker(text: str) -> bool:
    marker = _MARKER.fullmatch(text)
    return bool(marker and marker[1])


def _word(text: str, start: int, final: bool) -> str:
    """Return the word at ``start``; an incomplete one is marked by a trailing hyphen."""
    found = re.compile(r"[\"'“„«¿¡(\[]*([^\s.,;:!?)\"”]+)").match(text, start)
    if not found:
        return text[start]
    whole = final or found.end() < len(text)
    return found[1] if whole else found[1] + "-"


def _ends_after(word: str, next_word: str, before: str, language: Language) -> bool:
    """Whether "word." ends a sentence that goes on with ``next_word``."""
    starts = next_word.lower() in language.starters
    if word in language.never and not (word in language.either and starts):
        return False
    if word in language.either:
        return starts
    if word in language.numbered and next_word[0].isdigit():
        return False
    if language.ordinals and re.fullmatch(r"\d{1,2}", word):
        return starts
    if len(word) == 1 and word.isalpha():
        chained = re.search(r"(?:^|[\s(])\w\.\s?\w$", before)
        return starts and not chained
    if re.fullmatch(r"(?:\w\.)+\w", word):
        return starts and before[-1].isupper()
    return True


def _judge_line(text: str, found: re.Match[str], final: bool) -> int:
    """Whether a line break ends a sentence that has no stop: by paragraph, list or table."""
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    if found["line"].count("\n") > 1 or _STRUCTURE.match(line):
        return found.end()
    rest = text[found.end() :]
    if not rest:
        return found.end() if final else WAIT
    if _LINE_MARKER.match(rest):
        return found.end()
    if not final and len(rest) < 5 and re.fullmatch(r"\d{1,3}[.)]?|[`~]{1,2}", rest):
        return WAIT
    wrapped = rest[0].islower() or len(line) >= 60
    return NO if wrapped and not _MARKER_LINE.match(line) else _new_line(rest, found.end())


_MARKER_LINE = re.compile(r"\s*(?:[•⁃▪●‣*+-]|\d{1,3}[.)])\s")


def _new_line(rest: str, end: int) -> int:
    return NO if rest[0].islower() else end
