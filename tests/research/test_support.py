"""The statement on which an answer stands."""

from voice_agent.events import Source
from voice_agent.library import content_terms
from voice_agent.research.evidence import Finding
from voice_agent.research.support import is_about_another, support, tells_nothing

NOTE = Finding("Leo is in class 8a", Source("notes.md", "notes"))
ROW = Finding("class 8a pays by 12 September", Source("school.md", "trips"))
OTHER = Finding("class 4b pays by 31 March", Source("school.md", "trips"))
QUESTION = "when does Leo pay"


def under(answer: str, *, linked: bool = False) -> list[Finding]:
    return support(
        QUESTION,
        answer,
        [OTHER, NOTE, ROW],
        terms=str.split,
        weight=lambda term: 1.0,
        linked=linked,
    )


def test_it_is_the_one_that_holds_what_the_answer_tells() -> None:
    assert under("by 12 September") == [ROW]


def test_of_linked_ones_that_of_what_was_asked_about_belongs_to_it() -> None:
    assert under("by 12 September", linked=True) == [ROW, NOTE]


def test_without_findings_there_is_none() -> None:
    assert support(QUESTION, "12", [], terms=str.split, weight=len) == []


def test_an_answer_with_nothing_new_tells_nothing() -> None:
    assert tells_nothing(QUESTION, "does Leo pay", terms=str.split)


def test_what_is_said_of_another_number_is_no_answer() -> None:
    contract = Finding("the rent is 900 euros", Source("contract-flat-3.md", "contract"))
    other = is_about_another("what is the rent of flat 4", [contract], terms=str.split)
    same = is_about_another("what is the rent of flat 3", [contract], terms=str.split)
    assert (other, same) == (True, False)


def test_a_number_may_be_heard_as_a_word_and_small_words_are_not_numbered() -> None:
    contract = Finding("the rent of 3 rooms in flat 3 is 900", Source("contract.md", "contract"))
    asked = ("what is the rent of flat four", "what is the rent of 4 rooms in flat three")
    another = [is_about_another(text, [contract], terms=content_terms) for text in asked]
    assert another == [True, False]


def test_numbers_that_measure_or_date_name_nothing() -> None:
    bill = Finding("in October 2024 it was 90 euros", Source("bill.md", "bill"))
    assert not is_about_another("what was it in October 2023", [bill], terms=str.split)


def test_what_is_said_of_members_is_no_answer_about_non_members() -> None:
    fee = [Finding("members pay 5 euros", Source("club.md", "club"))]
    both = [*fee, Finding("non-members pay 9 euros", Source("club.md", "club"))]
    asked = "what do non-members pay"
    assert is_about_another(asked, fee, terms=content_terms)
    assert not is_about_another(asked, both, terms=content_terms)


def test_what_is_said_of_non_members_is_no_answer_about_members() -> None:
    fee = Finding("Non-members pay 9 euros", Source("club.md", "club"))
    asked = ("what do members pay", "what do non-members pay", "what is paid in euros")
    another = [is_about_another(text, [fee], terms=content_terms) for text in asked]
    assert another == [True, False, False]
