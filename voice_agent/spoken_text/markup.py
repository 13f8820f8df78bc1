"""Takes out of a text what is written for the eye only."""

import html
import json
import re

from voice_agent.spoken_text.lexicon import Lexicon

_TAGS = (
    "think|thinking|reasoning|tool_call|tool_calls|tool_response|tools|function_call|script|style"
)
_BLOCK = re.compile(rf"<({_TAGS})\b[^>]*>.*?(?:</\1>|$)", re.DOTALL | re.IGNORECASE)
_LATE_CLOSING = re.compile(r"^.*</(?:think|thinking|reasoning|tool_call)>", re.DOTALL | re.I)
_SPECIAL_TOKEN = re.compile(r"<\|[^|>\n]*\|>|<[|｜][^>\n]*[|｜]>")
_FENCE = re.compile(r"(```+|~~~+)([^\n`]*\n)?(.*?)(?:\1|$)", re.DOTALL)
_CALL = re.compile(r"\{\s*\"(?:name|tool|function|arguments)\"\s*:.*", re.DOTALL)

_FILE = (
    r"[\w./\\ ~-]*[\w)]\.(?:md|markdown|txt|pdf|docx?|odt|rtf|html?|csv|tsv|json|xlsx?|pptx?|epub)"
)
_SOURCE_WORD = r"(?:sources?|references?|refs?|citations?|quellen?|fuentes?|see|siehe)"
_CITATION = re.compile(
    r"\s*(?:"
    r"\[\^?\d+(?:\s?[,;–-]\s?\^?\d+)*\](?!\()"
    r"|\[\^[\w-]+\]:?"
    r"|【[^】]*】"
    rf"|[(\[]\s*{_SOURCE_WORD}\s*:[^)\]]*[)\]](?!\()"
    rf"|[(\[]\s*(?:{_SOURCE_WORD}:?\s+)?`?{_FILE}`?(?:\s*[#:,;][^)\]]*)?[)\]](?!\()"
    r")",
    re.IGNORECASE,
)
_SOURCE_LINE = re.compile(
    rf"^\W*(?:sources?|references?|quellen?|fuentes?)\W*:.*(?:{_FILE}|https?://|\[\d).*$",
    re.IGNORECASE | re.MULTILINE,
)
_FILE_NAME = re.compile(
    r"(?<![\w/.])(?:[\w.~-]*[/\\])*([\w-]+)\."
    r"(?:md|markdown|txt|pdf|docx?|odt|rtf|html?|csv|tsv|json|xlsx?|pptx?|epub)\b"
)
_URL = re.compile(
    r"(?:https?://|ftp://|file://|www\.)[^\s<>\"'|]*[\w/=&#-]"
    r"|\b(?:[\w-]+\.)+[a-z]{2,}/[^\s<>\"']*[\w/]",
    re.IGNORECASE,
)
_BRACKETED_URL = re.compile(rf"\s*[(<\[]\s*(?:{_URL.pattern})\s*[)>\]]", re.IGNORECASE)
_EMAIL = re.compile(r"(?:mailto:)?\b([\w.+-]+)@((?:[\w-]+\.)+[a-zA-Z]{2,})\b")
_DOMAIN = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|de|uk|fr|es|eu|at|ch|info)\b")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u25a0-\u25ff"
    "\ufe00-\ufe0f\u200d\u20e3\U000e0000-\U000e007f\ue000-\uf8ff\ufffd]+"
)
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$|^[\s|:+-]*-[\s|:+-]*$")
_BULLET = re.compile(r"^\s*[-*+•⁃▪●‣–]\s*(?:\[[ xX]\]\s+)?(?=\S)(?<=[\s•⁃▪●‣\]])")
_NUMBERED = re.compile(r"^\s*(\d{1,2})(?:\.\)|[.)])\s+(?=\S)")
_MONTH = re.compile(r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")


def strip_markup(text: str, lexicon: Lexicon) -> str:
    """Return the words of ``text`` in one line, without anything that is only for the eye."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _INVISIBLE.sub("", _CONTROL.sub(" ", text))
    text = _strip_calls(text, lexicon)
    text = _strip_html(text)
    text = _strip_links(text, lexicon)
    lines = [_say_line(line, lexicon) for line in text.split("\n")]
    return " ".join(_close_paragraphs(lines))


def _strip_calls(text: str, lexicon: Lexicon) -> str:
    """Drop reasoning and call markup; a code fence becomes a short notice."""
    text = _LATE_CLOSING.sub("", _BLOCK.sub("\n", text))
    text = _SPECIAL_TOKEN.sub(" ", text)
    text = _FENCE.sub(lambda fence: _say_fence(fence[3], lexicon), text)
    text = _CALL.sub("", text)
    return "" if _is_json(text) else text


def _say_fence(code: str, lexicon: Lexicon) -> str:
    data = not code.strip() or code.lstrip()[0] in "{[<"
    return "\n" if data else f"\n{lexicon.code}\n"


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[{")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _strip_html(text: str) -> str:
    text = re.sub(r"<!--.*?(?:-->|$)", "", text, flags=re.DOTALL)
    text = re.sub(r"<((?:https?://|mailto:)[^>\s]+|[^>\s@]+@[^>\s]+)>", r" \1 ", text)
    text = re.sub(r"</(?:td|th)>\s*(?=<t)", ", ", text, flags=re.IGNORECASE)
    text = re.sub(r"<(?:br|/p|/div|/h\d|/li|/tr)\b[^>]*>", "\n", text, flags=re.IGNORECASE)
    text = re.sub(r"</?[a-zA-Z][^<>]*>", "", text)
    return html.unescape(text).replace("\u00a0", " ")


def _strip_links(text: str, lexicon: Lexicon) -> str:
    """Keep the words of links, drop citations, and say addresses as people do."""
    text = _SOURCE_LINE.sub("", text)
    text = re.sub(r"!\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\((?:[^()]|\([^()]*\))*\)", r"\1", text)
    text = re.sub(r"^\s*\[[^\]]+\]:\s+\S+.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[\[(?:[^\]|]*\|)?([^\]|]+)\]\]", r"\1", text)
    text = re.sub(r"\[([^\]]+)\]\[[^\]]*\]", r"\1", text)
    text = _CITATION.sub("", text)
    text = _EMAIL.sub(lambda mail: f"{mail[1]} {lexicon.at} {mail[2]}", text)
    text = _URL.sub(lexicon.link, _BRACKETED_URL.sub("", text))
    text = _FILE_NAME.sub(lambda name: re.sub(r"[-_]+", " ", name[1]), text)
    return _DOMAIN.sub(lambda name: name[0].replace(".", f" {lexicon.dot} "), text)


def _say_line(line: str, lexicon: Lexicon) -> str:
    if _RULE.match(line):
        return ""
    line = re.sub(r"^\s*(?:>\s?)+", "", line)
    heading = _HEADING.match(line)
    bare = _BULLET.sub("", heading[1] if heading else line)
    numbered = _NUMBERED.match(bare)
    if numbered and not _MONTH.match(bare[numbered.end() :]):
        bare = f"{numbered[1]}, {bare[numbered.end() :]}"
    structured = bool(heading or numbered or bare != line or "|" in line)
    words = _strip_emphasis(_say_cells(bare))
    return _with_stop(words) if structured else words


def _say_cells(line: str) -> str:
    if " | " not in line and not line.lstrip().startswith("|"):
        return line
    cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
    return ", ".join(cell for cell in cells if cell)


def _strip_emphasis(line: str) -> str:
    line = re.sub(r"\\([\\`*_{}\[\]()#+.!|~>-])", r"\1", line)
    line = re.sub(r"`+([^`]*)`+", r"\1", line).replace("`", "")
    line = re.sub(r"\*{2,}|~~|==(?=\S)|(?<=\S)==", "", line)
    line = re.sub(r"(?<![\w*])\*(?=\S)([^*\n]*?\S)\*(?!\w)", r"\1", line)
    line = re.sub(r"(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)", "", line)
    line = re.sub(r"(?<=\w)_+(?=\w)", " ", line)
    line = re.sub(r"(?<!\S)\*(?=[A-Za-z])|(?<=[A-Za-z.,!?])\*(?!\S)", "", line)
    line = re.sub(r"\s*(?:→|⇒|->|=>|➔)\s*", ", ", line)
    return _EMOJI.sub(" ", line)


def _close_paragraphs(lines: list[str]) -> list[str]:
    """End a line by a full stop where a blank line or the next structured line shows its end."""
    closed: list[str] = []
    for line in lines:
        if line.strip():
            closed.append(line.strip())
        elif closed:
            closed[-1] = _with_stop(closed[-1])
    return closed


def _with_stop(words: str) -> str:
    words = words.rstrip()
    return (
        f"{words}." if words and words[-1].isalnum() or words[-1:] in "%)€°²³" and words else words
    )
