import io
import logging
from collections.abc import Iterator

import pytest

from voice_agent.events import Answer, Asked, Error, Event, Transcript
from voice_agent.logs import JournalListener, log_to_journal

SAID: tuple[Event, ...] = (
    Transcript(text="my secret", language="en", audio_s=1, stt_s=1, turn=1),
    Asked(text="my secret", turn=2),
    Answer(
        text="the secret",
        spoken="the secret",
        basis="complete",
        reason="none",
        sources=(),
        rounds=1,
        charged_tokens=1,
        answer_tokens=1,
        turn=2,
    ),
    Error(stage="llm", message="It failed.", mend="Ask again.", turn=3),
)


@pytest.fixture(autouse=True)
def _root_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    outputs, level = root.handlers[:], root.level
    yield
    root.handlers[:] = outputs
    root.setLevel(level)


def logged(level: str) -> str:
    stream = io.StringIO()
    log_to_journal(level, stream)
    for event in SAID:
        JournalListener()(event)
    return stream.getvalue()


def test_no_word_of_what_was_said_is_logged_by_default() -> None:
    assert "secret" not in logged("info")
    assert len(logged("info").splitlines()) == len(SAID)


def test_every_line_has_its_level_for_the_journal() -> None:
    *lines, last = logged("info").splitlines()
    assert {line[:3] for line in lines} == {"<6>"}
    assert last == "<3>Turn 3: It failed. Ask again."
    assert logged("warning").splitlines() == [last]


def test_with_debug_the_words_are_there() -> None:
    assert "my secret" in logged("debug")
