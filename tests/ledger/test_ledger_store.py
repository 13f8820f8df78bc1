from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from voice_agent.errors import LedgerError
from voice_agent.events import (
    Answer,
    Cancelled,
    Error,
    Round,
    Sentence,
    Source,
    Timings,
    ToolCall,
    Transcript,
)
from voice_agent.ledger import Ledger

ANSWER = Answer(
    text="On Tuesday [1].",
    spoken="On Tuesday.",
    basis="forced",
    reason="time",
    sources=(Source(path="/docs/bins.md", title="Bins", heading="Paper"),),
    rounds=2,
    charged_tokens=300,
    answer_tokens=12,
    timings=Timings(first_token=0.5),
)
CANCELLED = Cancelled(cause="wake", silence_s=0.1, stopped_s=0.2, heard_text="On")
SECRET = "the safe opens with 4711"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "voice-agent" / "ledger.sqlite3"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.open(path) as ledger:
        yield ledger


def begin(ledger: Ledger, question: str = "When?", conversation: int | None = None) -> int:
    return ledger.begin_turn(question, kind="typed", language="en", conversation=conversation)


def raw(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_the_ledger_is_private(ledger: Ledger, path: Path) -> None:
    begin(ledger)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


def test_an_answered_turn_is_kept_whole(ledger: Ledger) -> None:
    turn = begin(ledger)
    ledger.step(turn, Round(n=1, charged=300))
    ledger.step(turn, ToolCall(id="a", name="search", arguments={"query": "bins"}))
    ledger.end_turn(turn, ANSWER)
    kept = ledger.turn(turn)
    assert (kept.state, kept.basis, kept.reason) == ("answered", "forced", "time")
    assert (kept.text, kept.spoken, kept.rounds) == ("On Tuesday [1].", "On Tuesday.", 2)
    assert (kept.charged_tokens, kept.answer_tokens) == (300, 12)
    assert kept.sources[0]["path"] == "/docs/bins.md" and kept.timings["first_token"] == 0.5
    assert [(s.n, s.kind) for s in kept.steps] == [(1, "round"), (2, "tool_call"), (3, "answer")]
    assert kept.steps[1].data["arguments"] == {"query": "bins"}


def test_what_is_kept_is_there_when_opened_again(path: Path) -> None:
    with Ledger.open(path) as first:
        first.end_turn(begin(first, "Wann kommt die Müllabfuhr?"), ANSWER)
    with Ledger.open(path) as second:
        assert second.turns()[0].question == "Wann kommt die Müllabfuhr?"


def test_a_cancelled_turn_keeps_its_cause_and_what_was_heard(ledger: Ledger) -> None:
    turn = begin(ledger)
    ledger.end_turn(turn, CANCELLED)
    kept = ledger.turn(turn)
    assert (kept.state, kept.reason, kept.heard_text) == ("cancelled", "wake", "On")


def test_a_failed_turn_keeps_its_error(ledger: Ledger) -> None:
    turn = begin(ledger)
    ledger.end_turn(turn, Error(stage="llm", message="It broke.", mend="Mend it."))
    kept = ledger.turn(turn)
    assert (kept.state, kept.error_stage) == ("failed", "llm")
    assert kept.error_message == "It broke. Mend it."


def test_a_turn_ends_once(ledger: Ledger) -> None:
    turn = begin(ledger)
    ledger.end_turn(turn, ANSWER)
    with pytest.raises(LedgerError, match="has ended before: it is answered"):
        ledger.end_turn(turn, CANCELLED)
    assert len(ledger.turn(turn).steps) == 1


def test_a_transcript_brings_the_question(ledger: Ledger) -> None:
    turn = ledger.begin_turn("", kind="spoken", language="en")
    ledger.step(turn, Transcript(text="Wann?", language="de", audio_s=1, stt_s=0.1))
    assert (ledger.turn(turn).question, ledger.turn(turn).language) == ("Wann?", "de")


def test_what_is_said_later_in_a_turn_is_not_its_question(ledger: Ledger) -> None:
    turn = ledger.begin_turn("When?", kind="typed", language="en")
    ledger.step(turn, Transcript(text="Ja.", language="de", audio_s=1, stt_s=0.1))
    assert (ledger.turn(turn).question, ledger.turn(turn).language) == ("When?", "en")


def test_what_was_heard_can_come_before_or_after_the_end(ledger: Ledger) -> None:
    before, after = begin(ledger), begin(ledger)
    ledger.heard(before, "On Tues")
    ledger.end_turn(before, ANSWER)
    ledger.end_turn(after, ANSWER)
    ledger.heard(after, "On Tues")
    assert {turn.heard_text for turn in ledger.turns()} == {"On Tues"}


def test_turns_come_newest_last_within_the_limit(ledger: Ledger) -> None:
    for question in "abc":
        begin(ledger, question)
    assert [turn.question for turn in ledger.turns(2)] == ["b", "c"]


def test_turns_of_one_conversation(ledger: Ledger) -> None:
    conversation = ledger.begin_conversation()
    begin(ledger, "a", conversation)
    begin(ledger, "other")
    begin(ledger, "b", conversation)
    assert [t.question for t in ledger.turns(conversation=conversation)] == ["a", "b"]


def test_the_turn_that_runs_is_open(ledger: Ledger) -> None:
    assert ledger.turn(begin(ledger)).state == "open"


def test_an_unknown_turn_is_named(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match=r"no turn 7"):
        ledger.turn(7)
    with pytest.raises(LedgerError, match=r"no turn 7"):
        ledger.delete(7)


def test_text_that_is_not_unicode_is_kept_as_far_as_it_goes(ledger: Ledger) -> None:
    turn = begin(ledger, "a\udcffb")
    ledger.step(turn, Sentence(n=1, text="c\udcff"))
    assert (ledger.turn(turn).question, ledger.turn(turn).steps[0].data["text"]) == ("a?b", "c?")


def filled(ledger: Ledger) -> int:
    turn = begin(ledger, SECRET)
    for n in range(50):
        ledger.step(turn, Sentence(n=n, text=f"{SECRET} {n} " * 50))
    ledger.end_turn(turn, CANCELLED)
    return turn


def test_a_deleted_turn_leaves_no_text_on_disk(ledger: Ledger, path: Path) -> None:
    begin(ledger, "this one stays")
    turn = filled(ledger)
    assert SECRET.encode() in raw(path)
    ledger.delete(turn)
    assert SECRET.encode() not in raw(path)
    assert [t.question for t in ledger.turns()] == ["this one stays"]


def test_deleting_all_leaves_no_text_on_disk(ledger: Ledger, path: Path) -> None:
    filled(ledger)
    assert ledger.delete_all() == 1
    assert SECRET.encode() not in raw(path)
    assert ledger.turns() == []


def test_deleting_works_while_the_service_has_the_ledger_open(ledger: Ledger, path: Path) -> None:
    filled(ledger)
    with Ledger.open(path) as other:
        assert other.delete_all() == 1
    assert SECRET.encode() not in raw(path)


def test_a_turn_deleted_while_it_runs_stays_deleted(ledger: Ledger, path: Path) -> None:
    turn = begin(ledger)
    ledger.delete(turn)
    ledger.step(turn, Sentence(n=1, text=SECRET))
    ledger.heard(turn, SECRET)
    ledger.end_turn(turn, ANSWER)
    assert ledger.turns() == [] and SECRET.encode() not in raw(path)


def test_ids_are_not_used_again(ledger: Ledger) -> None:
    first = begin(ledger)
    ledger.delete(first)
    assert begin(ledger) > first


def test_a_deleted_conversation_can_go_on(ledger: Ledger) -> None:
    conversation = ledger.turn(begin(ledger)).conversation
    ledger.delete_all()
    assert ledger.turn(begin(ledger, conversation=conversation)).conversation == conversation


def test_old_turns_expire(path: Path) -> None:
    long_ago = datetime.now(UTC) - timedelta(days=31)
    with Ledger.open(path, clock=lambda: long_ago) as ledger:
        begin(ledger, SECRET)
    with Ledger.open(path) as ledger:
        begin(ledger, "new")
        assert ledger.expire(0) == 0
        assert ledger.expire(30) == 1
        assert [turn.question for turn in ledger.turns()] == ["new"]
    assert SECRET.encode() not in raw(path)
