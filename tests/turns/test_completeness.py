import pytest

from voice_agent.turns.completeness import looks_complete


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the capital of France?", "en"),
        ("What is it made of?", "en"),
        ("Which club is she a member of?", "en"),
        ("Never mind.", "en"),
        ("Which bus goes there on Sunday, the 5?", "en"),
        ("Wann wurde die Heizung gewartet?", "de"),
        ("¿Cuándo llega el tren?", "es"),
        ("Où est la clé de la cave ?", "fr"),
    ],
)
def test_a_whole_question(text: str, language: str) -> None:
    assert looks_complete(text, language) is True


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the capital of", "en"),
        ("What is the capital of.", "en"),
        ("What is the capital of?", "en"),
        ("What is the total cost of?", "en"),
        ("How much is the rent and", "en"),
        ("How much is the rent and?", "en"),
        ("Show me the invoice from...", "en"),
        ("In the house rules,", "en"),
        ("My number is 0 1 7", "en"),
        ("The code is four double two.", "en"),
        ("Wie hoch ist die Miete und", "de"),
        ("Cuánto cuesta el", "es"),
        ("Combien coûte la", "fr"),
    ],
)
def test_something_is_still_to_come(text: str, language: str) -> None:
    assert looks_complete(text, language) is False


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("...", "en"),
        ("Jarvis?", "en"),
        ("The dishwasher in the kitchen.", "en"),
        ("What time is it", "en"),
        ("Tell me the price of this.", "en"),
        ("Hvad er klokken nu.", "da"),
    ],
)
def test_no_telling(text: str, language: str) -> None:
    assert looks_complete(text, language) is None
