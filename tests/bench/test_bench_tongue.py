"""The language of a short text."""

import pytest

from voice_agent.bench.tongue import tongue


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The boiler must show 1.6 bar when it is cold.", "en"),
        ("14 days", "en"),
        ("", "en"),
        ("Der Tank fasst 3.000 Liter.", "de"),
        ("Die Kaffeemühle muss auf 14 gestellt werden.", "de"),
        ("Une cartouche brûle pendant 85 minutes à pleine puissance. Vive le feu", "fr"),
        ("El pase es válido para 11 museos de la ciudad.", "es"),
    ],
)
def test_a_text_is_told_by_its_common_words(text: str, language: str) -> None:
    assert tongue(text) == language
