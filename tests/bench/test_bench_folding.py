"""Ways of writing made equal, and forms as whole words."""

import pytest

from voice_agent.bench.folding import fold, stands


def found(form: str, text: str) -> bool:
    return stands(fold(form), fold(text))


@pytest.mark.parametrize("text", ["1,050 g", "1 050 g", "1\u202f050 g", "1050g", "1'050 g"])
def test_thousands_separators_are_folded(text: str) -> None:
    assert fold(text) == "1050 g"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("It is 1.050 kg", "it is 1.050 kg"),
        ("1,050.50 euros", "1050.50 euros"),
        ("1,234,567", "1234567"),
        ("555 0160", "555 0160"),
        ("in 2023 124 euros", "in 2023 124 euros"),
        ("2.9 bar, 110 km", "2.9 bar, 110 km"),
        ("€124.00.", "€124."),
        ("at 09:40 a.m. sharp", "at 9:40 am sharp"),
        ("01.05.2026", "1.05.2026"),
        ("it’s **90**\u00a0ml – “full”", 'it\'s 90 ml - "full"'),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("21", "Take line 21."),
        ("€ 124", "It was (€ 124)"),
        ("9:40", "It leaves at 09:40."),
        ("09:40", "It leaves at 9:40am"),
        ("1 May 2026", "from 1 May 2026, at the earliest"),
        ("three months", "Every Three Months"),
        ("77", "77.00"),
        ("90 ml", "60-90 ml"),
    ],
)
def test_a_form_stands_as_whole_words(form: str, text: str) -> None:
    assert found(form, text)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("21", "210"),
        ("21", "bus A21"),
        ("21", "3.21"),
        ("21", "21.5 km"),
        ("2.9", "12.9 bar"),
        ("9:40", "19:40"),
        ("1 May 2026", "21 May 2026"),
        ("month", "months"),
        ("118 euros", "1,118 euros"),
        ("Falk", "Falkner"),
    ],
)
def test_a_part_of_a_word_or_number_is_no_whole_word(form: str, text: str) -> None:
    assert not found(form, text)
