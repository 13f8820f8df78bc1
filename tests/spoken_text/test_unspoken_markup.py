import pytest

from voice_agent.spoken_text import spoken

NEVER_SPOKEN = [
    ("# Opening hours", "Opening hours."),
    ("**Very** *hot* and __loud__, ~~cold~~ `now`.", "Very hot and loud, cold now."),
    ("* apples", "apples."),
    ("- [x] call the plumber", "call the plumber."),
    ("2. Ring the bell", "two, Ring the bell."),
    ("> Keep it dry.", "Keep it dry."),
    ("---", ""),
    ("|---|:--:|", ""),
    ("| Monday | nine |", "Monday, nine."),
    ("See [the lease](docs/lease.md#rent) for it.", "See the lease for it."),
    ("![a plan](plan.png) It is small.", "a plan It is small."),
    ("```python\nprint(1)\n```", "There is code on the screen."),
    ("```json\n{\"name\": \"search\"}\n```", ""),
    ("The rent is due.[1] It is high [2, 3].", "The rent is due. It is high."),
    ("It is due 【1†source】.", "It is due."),
    ("It is due (source: house/lease.md).", "It is due."),
    ("It is due [house/lease.md, p. 3].", "It is due."),
    ("It is due.\n\nSources: lease.md, [2]", "It is due."),
    ("Read house/heating-manual.md first.", "Read heating manual first."),
    ("See https://example.com/a?b=c. Then stop.", "See a link. Then stop."),
    ("See the page (https://example.com/a).", "See the page."),
    ("Write to jo@example.com.", "Write to jo at example dot com."),
    ("Well done! 🎉👍🏽", "Well done!"),
    ("Settings → Network", "Settings, Network"),
    ("<b>Hot</b> &amp; cold<br>water", "Hot and cold water"),
    ("<think>I should look.</think>It is open.", "It is open."),
    ("I should look.</think>It is open.", "It is open."),
    ("<think>never closed", ""),
    ("It is. <tool_call>{\"name\": \"x\"}</tool_call>", "It is."),
    ("{\"name\": \"search\", \"arguments\": {\"q\": \"a. b\"}}", ""),
    ("It is open.<|im_end|>", "It is open."),
    ("A\x00B\x07 c\u200bd", "A B cd"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said"), NEVER_SPOKEN)
def test_what_is_for_the_eye_is_not_spoken(written: str, said: str) -> None:
    assert spoken(written) == said


@pytest.mark.parametrize("text", ["", "...", "[1]", "🎉", "***", "\x00", "| | |", "```\n```"])
def test_nothing_to_say_is_the_empty_string(text: str) -> None:
    assert spoken(text) == ""


def test_other_scripts_are_kept() -> None:
    assert spoken("你好，世界") == "你好，世界"


def test_german_symbols_and_code_notice() -> None:
    assert spoken("Es sind ca. 25 °C & 60 %, z. B. heute.", "de") == (
        "Es sind circa 25 Grad Celsius und 60 Prozent, zum Beispiel heute."
    )
    assert spoken("```\nx\n```", "de") == "Auf dem Bildschirm steht Code."


def test_a_date_that_begins_a_german_line_is_no_list_number() -> None:
    assert spoken("3. Mai ist frei.", "de") == "3. Mai ist frei."


@pytest.mark.parametrize("odd", ["[", "(" * 5000, "*" * 5000, "<" * 5000, "[[" * 2000, "|" * 3000])
def test_unbalanced_marks_do_no_harm(odd: str) -> None:
    assert "word" in spoken(f"word {odd}")
