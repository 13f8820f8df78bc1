"""What counts as new, and what bears on the question: research-loop.md, "Evidence and progress"."""

import pytest

from voice_agent.events import Source
from voice_agent.research.evidence import (
    MIN_NEW_FINGERPRINTS,
    Evidence,
    Finding,
    Novelty,
    fingerprints,
)

BOILER = "The boiler must be serviced once a year, best before the heating season begins."
CAR = "The winter tyres of the car are stored in the garage behind the house."


def evidence(*findings: Finding) -> Evidence:
    kept = Evidence(terms=lambda text: text.casefold().split(), weight=lambda term: 1.0)
    kept.add(findings)
    return kept


def finding(text: str, path: str = "a.md", heading: str | None = None) -> Finding:
    return Finding(text, Source(path, path, heading))


@pytest.mark.parametrize(
    "again",
    [
        BOILER.upper(),
        BOILER.replace(" ", "  \n"),
        f"score: 0.83 {BOILER}",
        f"2025-01-02 10:11:12 {BOILER}",
        f"10:11 {BOILER}",
    ],
    ids=["case", "white space", "score", "time stamp", "time of day"],
)
def test_what_does_not_count_makes_nothing_new(again: str) -> None:
    novelty = Novelty()
    novelty.add(BOILER)
    assert novelty.add(again) == 0


def test_the_order_of_results_does_not_count() -> None:
    novelty = Novelty()
    novelty.add(f"{BOILER}\n\n{CAR}")
    assert novelty.add(BOILER) == novelty.add(CAR) == 0


def test_other_text_is_new() -> None:
    novelty = Novelty()
    novelty.add(BOILER)
    assert novelty.add(CAR) >= MIN_NEW_FINGERPRINTS


def test_alternating_results_are_no_progress() -> None:
    novelty = Novelty()
    assert [novelty.add(text) > 0 for text in (BOILER, CAR, BOILER, CAR)] == [
        True,
        True,
        False,
        False,
    ]


def test_fingerprints_are_bounded_and_the_oldest_are_forgotten_first() -> None:
    novelty = Novelty(limit=len(fingerprints(CAR)))
    novelty.add(BOILER)
    novelty.add(CAR)
    assert (novelty.add(CAR), novelty.add(BOILER) > 0) == (0, True)


def test_a_text_of_nothing_has_no_fingerprints() -> None:
    assert fingerprints(" \n\n \n") == set()


def test_each_text_is_kept_once() -> None:
    kept = evidence(finding(BOILER))
    kept.add([finding(BOILER), finding(CAR)])
    assert len(kept) == 2


def test_what_has_been_found_before_is_told_from_what_has_not() -> None:
    assert evidence(finding(BOILER)).unseen([finding(BOILER), finding(CAR)]) == [finding(CAR)]


def test_the_same_words_in_another_document_are_another_finding() -> None:
    assert len(evidence(finding(BOILER, "a.md"), finding(BOILER, "b.md"))) == 2


def test_blank_findings_are_no_evidence() -> None:
    assert len(evidence(finding(" \n"))) == 0


def test_the_best_comes_first_whenever_it_was_found() -> None:
    kept = evidence(finding("tyres of the car", "car.md"), finding("boiler serviced yearly"))
    assert [f.text for f in kept.ranked("boiler serviced")] == [
        "boiler serviced yearly",
        "tyres of the car",
    ]


def test_what_lies_under_the_floor_is_left_out() -> None:
    kept = evidence(finding("boiler serviced yearly"), finding("tyres of the car", "car.md"))
    assert [f.text for f in kept.ranked("boiler serviced", 0.2)] == ["boiler serviced yearly"]


def test_the_heading_counts_for_relevance() -> None:
    kept = evidence(finding("once a year", heading="boiler"))
    assert len(kept.ranked("boiler", 1.0)) == 1


def test_a_statement_stays_with_the_one_beside_it_that_bears_on_the_question() -> None:
    kept = evidence(finding("boiler serviced yearly"), finding("it costs 124 euros"))
    assert len(kept.ranked("boiler serviced", 0.9)) == 2


def test_a_question_without_terms_has_no_relevant_evidence() -> None:
    assert evidence().relevance(finding(BOILER), "") == 0.0


def test_sources_are_those_that_hold_the_answers_words() -> None:
    kept = evidence(finding("boiler serviced once a year", "boiler.md"), finding(CAR, "car.md"))
    assert [s.path for s in kept.sources_of("It is serviced once a year")] == ["boiler.md"]


def test_an_answer_without_evidence_has_no_sources() -> None:
    assert evidence().sources_of("It is serviced once a year.") == ()
