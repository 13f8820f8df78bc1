"""What is remembered of earlier turns."""

from voice_agent.exchanges import KEPT, KEPT_S, Exchanges
from voice_agent.llm.model import Message


def test_an_exchange_is_a_question_and_what_was_heard() -> None:
    exchanges = Exchanges()
    exchanges.add("Who?", "Jonas.", at_s=1.0)
    assert exchanges.messages(2.0) == (Message("user", "Who?"), Message("assistant", "Jonas."))


def test_only_the_last_ones_are_kept() -> None:
    exchanges = Exchanges()
    for n in range(KEPT + 2):
        exchanges.add(f"Question {n}?", "Yes.", at_s=1.0)
    assert exchanges.messages(1.0)[0] == Message("user", "Question 2?")
    assert len(exchanges.messages(1.0)) == 2 * KEPT


def test_an_old_one_is_forgotten() -> None:
    exchanges = Exchanges()
    exchanges.add("Who?", "Jonas.", at_s=1.0)
    assert exchanges.messages(1.5 + KEPT_S) == ()


def test_a_question_whose_answer_nobody_heard_is_no_exchange() -> None:
    exchanges = Exchanges()
    exchanges.add("Who?", "", at_s=1.0)
    assert exchanges.messages(1.0) == ()


def test_a_long_answer_is_shortened() -> None:
    exchanges = Exchanges()
    exchanges.add("Who?", "word " * 1000, at_s=1.0)
    assert len(exchanges.messages(1.0)[1].content) < 700
