"""What a person reads: the answer once, as it is written, and its sources."""

import io

import pytest

from voice_agent.cli.live_screen import LiveScreen
from voice_agent.cli.screen import Screen, tell_empty_library
from voice_agent.events import Answer, AnswerText, Cancelled, Error, Finishing, Sentence, Source


def answer(text: str, *sources: Source) -> Answer:
    return Answer(
        text=text,
        spoken="",
        basis="complete",
        reason="none",
        sources=sources,
        rounds=0,
        charged_tokens=0,
        answer_tokens=0,
    )


def shown(*streamed: str, end: Answer | Cancelled | Error) -> str:
    page = io.StringIO()
    screen = Screen(page)
    for text in streamed:
        screen(AnswerText(text=text))
    screen(end)
    return page.getvalue()


@pytest.mark.parametrize(
    "streamed", [("It is ", "red."), ("\n It is", " red."), (), ("It is red.\n",)]
)
def test_the_answer_stands_there_once(streamed: tuple[str, ...]) -> None:
    assert shown(*streamed, end=answer("It is red.")).split() == "It is red.".split()


def test_what_two_requests_said_is_not_repeated() -> None:
    page = shown("I will look.", "It is red.", end=answer("I will look.\nIt is red."))
    assert page.count("It is red.") == page.count("I will look.") == 1


def test_what_was_not_streamed_follows() -> None:
    page = shown("It is", "\nI failed.", end=answer("It is\nI failed.\nExcerpt: red."))
    assert page == "It is\nI failed.\nExcerpt: red.\n"


def test_a_live_screen_tells_that_the_answer_is_being_finished() -> None:
    page = io.StringIO()
    screen = LiveScreen(page)
    for event in (AnswerText(text="I will look."), Finishing(reason="time"), answer("No.")):
        screen(event)
    assert page.getvalue().startswith("I will look.\n(Finishing the answer)\n")


def test_an_answer_that_is_another_is_shown_whole() -> None:
    assert shown("It is", end=answer("No.")).endswith("\nNo.\n")


def test_sources_are_named() -> None:
    source = Source("/home/a.md", "Manual", "Pressure", 3)
    assert shown(end=answer("Red.", source)).endswith(
        "\n  Manual › Pressure, page 3 (/home/a.md)\n"
    )


def test_a_cancelled_answer_ends_its_line() -> None:
    end = Cancelled(cause="wake", silence_s=0, stopped_s=0, heard_text="")
    assert (shown("It is", end=end), shown(end=end)) == ("It is\n", "")


def test_other_events_show_nothing() -> None:
    page = io.StringIO()
    Screen(page)(Sentence(n=1, text="Red."))
    assert page.getvalue() == ""


@pytest.mark.parametrize(("documents", "says"), [(0, "library add FOLDER"), (1, "")])
def test_an_empty_library_says_how_to_fill_it(
    capsys: pytest.CaptureFixture[str], documents: int, says: str
) -> None:
    tell_empty_library(documents)
    assert says in capsys.readouterr().err
