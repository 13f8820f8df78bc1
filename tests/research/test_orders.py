"""What sounds like an order to write something down, and what does not."""

import pytest

from voice_agent.research.orders import is_order_to_write


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
