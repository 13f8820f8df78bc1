"""Which samples belong to which word, from the phonemes' sample counts.

The phonemizer joins and splits words ("of the" is one group of phonemes, "2012" are three), so
words are found in the sentence's phonemes by those of each word alone: the longest matching runs
(Ratcliff and Obershelp), then the nearest border between two groups.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_MARKS = frozenset("ˈˌːˑ̩̯̃ʲ'-^$_,.:;?!()\"«»¡¿—…‖| ")


@dataclass(frozen=True)
class Phoneme:
    """One phoneme and how many samples it lasts."""

    symbol: str
    samples: int


@dataclass(frozen=True)
class _Letter:
    symbol: str
    start: int
    end: int
    first: bool  # of its group


def word_spans(words: Sequence[str], sentence: Iterable[Phoneme]) -> list[tuple[int, int]]:
    """Return start and end in samples of each word, given the phonemes of each word alone.

    A word without phonemes of its own (a dash) has an empty span where it stands.
    """
    letters = _letters(sentence)
    spelled = [(n, char) for n, word in enumerate(words) for char in word if char not in _MARKS]
    if not letters:
        return [(0, 0)] * len(words)
    first_of = _cuts([n for n, _ in spelled], _matches(spelled, letters), letters)
    spans: list[tuple[int, int]] = []
    for n in range(len(words)):
        if n not in first_of:
            at = spans[-1][1] if spans else 0
            spans.append((at, at))
            continue
        begin, end = first_of[n]
        spans.append((letters[begin].start, letters[end - 1].end))
    return spans


def _letters(sentence: Iterable[Phoneme]) -> list[_Letter]:
    """Return the sounding phonemes with their samples; marks lengthen the letter before them."""
    letters: list[_Letter] = []
    at, first = 0, True
    for phoneme in sentence:
        end = at + phoneme.samples
        if phoneme.symbol not in _MARKS:
            letters.append(_Letter(phoneme.symbol, at, end, first))
            first = False
        elif phoneme.symbol in "ːˑ" and letters:
            last = letters[-1]
            letters[-1] = _Letter(last.symbol, last.start, end, last.first)
        elif phoneme.symbol in " ^$,.:;?!":
            first = True
        at = end
    return letters


def _matches(spelled: list[tuple[int, str]], letters: list[_Letter]) -> dict[int, tuple[int, int]]:
    """Return the first and last letter that matched, by word."""
    alone, together = [char for _, char in spelled], [letter.symbol for letter in letters]
    matcher = SequenceMatcher(None, alone, together, autojunk=False)
    found: dict[int, tuple[int, int]] = {}
    for block in matcher.get_matching_blocks():
        for step in range(block.size):
            word, at = spelled[block.a + step][0], block.b + step
            found[word] = (found.get(word, (at, at))[0], at)
    return found


def _cuts(
    owners: list[int], found: dict[int, tuple[int, int]], letters: list[_Letter]
) -> dict[int, tuple[int, int]]:
    """Divide all letters among the words that have phonemes, in order."""
    words = list(dict.fromkeys(owners))
    spans: dict[int, tuple[int, int]] = {}
    begin = 0
    for word, following in zip(words, [*words[1:], None], strict=True):
        if following is None:
            end = len(letters)
        else:
            low = max(begin, found[word][1] if word in found else begin) + 1
            known = [found[w][0] for w in words if w >= following and w in found]
            high = min(known, default=len(letters))
            end = _border(letters, low, high, nearest_first=following not in found)
        end = min(max(end, begin), len(letters))
        if end > begin:
            spans[word] = (begin, end)
        begin = end
    return spans


def _border(letters: list[_Letter], low: int, high: int, *, nearest_first: bool) -> int:
    """Return where the next word begins, from ``low`` to ``high``: best where a group begins."""
    starts = [at for at in range(low, min(high + 1, len(letters))) if letters[at].first]
    if not starts:
        return max(low, high) if not nearest_first else low
    return starts[0] if nearest_first else starts[-1]
