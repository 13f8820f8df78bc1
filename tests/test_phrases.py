"""What tells the assistant to stop, and what is a question all the same."""

import pytest

from voice_agent.phrases import is_no, is_stop, is_yes


@pytest.mark.parametrize(
    "text",
    ["Stop.", "Never mind.", "Nevermind, thanks.", "Stop, stop, please!", "That\u2019s enough."]
    + ["Stopp!", "Vergiss es, bitte.", "Hör auf."]
    + ["¡Para!", "Olvídalo, gracias.", "Callate"]
    + ["Arrête-toi, s'il te plaît.", "Laisse tomber.", "TAIS-TOI"],
)
def test_a_short_word_to_stop_is_one_in_every_language(text: str) -> None:
    assert is_stop(text)


@pytest.mark.parametrize(
    "text",
    ["", "Okay.", "No.", "Please.", "Where does the bus stop?", "Stop the washing machine."]
    + ["How do I cancel the contract?", "Wann ist Schluss?", "¿Para qué sirve?", "Merci."]
    + ["stop " * 50],
)
def test_what_says_more_or_less_is_none(text: str) -> None:
    assert not is_stop(text)


@pytest.mark.parametrize(
    "text",
    ["Yes.", "yeah, sure", "OK", "Yes, add it to the list.", "Oh yes, please!", "Go ahead."]
    + [
        "Ja!",
        "Na klar.",
        "Mach das bitte.",
        "sí",
        "¡Claro que sí!",
        "oui",
        "D\u2019accord",
        "Vas-y !",
    ],
)
def test_a_clear_yes_is_one_in_every_language(text: str) -> None:
    assert is_yes(text) and not is_no(text)


@pytest.mark.parametrize(
    "text", ["No.", "don't", "Nein, danke.", "yes, no", "Non merci", "Not now"]
)
def test_a_no_is_one_in_every_language(text: str) -> None:
    assert is_no(text) and not is_yes(text)


@pytest.mark.parametrize(
    "text", ["", "which one?", "yesterday", "hm", "Thank you.", "Is that a yes?", "yes " * 50]
)
def test_anything_else_is_no_yes(text: str) -> None:
    assert not is_yes(text)
