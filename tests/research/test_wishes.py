"""What sounds like a wish that no document fulfils, and what does not."""

import pytest

from voice_agent.research.wishes import is_order_to_write, is_reckoning


@pytest.mark.parametrize(
    "text",
    [
        "Add milk to my shopping list.",
        "please note that the plumber comes on Monday",
        "Could you write down: buy milk?",
        "Remind me to call Bob",
        "Notiere: Milch kaufen",
        "Schreib bitte Milch auf die Liste",
        "Bitte setze Milch auf die Einkaufsliste",
        "Apunta leche en la lista",
        "Ajoute du lait à ma liste",
    ],
)
def test_an_order_is_told(text: str) -> None:
    assert is_order_to_write(text)


@pytest.mark.parametrize(
    "text",
    [
        "Which note did I make about the boiler?",
        "What is on my shopping list?",
        "Notes on the boiler, what do they say?",
        "Who wrote the contract?",
        "Added sugar: how much is in it?",
        "Wann wurde der Vertrag geschrieben?",
        "",
    ],
)
def test_a_question_is_no_order(text: str) -> None:
    assert not is_order_to_write(text)


@pytest.mark.parametrize(
    "text",
    [
        "What day is it today?",
        "Which weekday is 24 December 2027?",
        "What's the time?",
        "How many days until Christmas?",
        "What is 17 times 23?",
        "How much is 15% of 80?",
        "Welcher Wochentag ist der 24.12.2027?",
        "Was ist 12 mal 13?",
        "¿Qué día es hoy?",
        "Quelle heure est-il ?",
    ],
)
def test_what_is_to_be_reckoned_is_told(text: str) -> None:
    assert is_reckoning(text)


@pytest.mark.parametrize(
    "text",
    [
        "What time is check-in?",
        "What is the date of the garden party?",
        "How many days before must a holiday be requested?",
        "Which tyres cost 20-30 euros?",
        "How many times was the boiler serviced in 2023?",
        "",
    ],
)
def test_what_documents_say_is_not_to_be_reckoned(text: str) -> None:
    assert not is_reckoning(text)
