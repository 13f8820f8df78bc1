import pytest

from voice_agent.phrases import LANGUAGES, phrase
from voice_agent.repeating import asks_to_repeat


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_own_request_is_understood_in_every_language(language: str) -> None:
    assert asks_to_repeat(phrase("repeat", language))


@pytest.mark.parametrize(
    "question",
    [
        "Repeat that.",
        "Could you say that again, please?",
        "Pardon?",
        "Wie bitte?",
        "Noch einmal, bitte.",
        "Repítelo, por favor.",
        "Tu peux répéter, s'il te plaît ?",
    ],
)
def test_a_request_for_the_last_answer_is_one(question: str) -> None:
    assert asks_to_repeat(question)


@pytest.mark.parametrize(
    "question", ["", "Please.", "Repeat the boiler service dates.", "When is the service again?"]
)
def test_another_question_is_none(question: str) -> None:
    assert not asks_to_repeat(question)
