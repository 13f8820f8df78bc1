"""What counts as a right answer."""

import tomllib

import pytest

from voice_agent.bench.judge import declines, judge
from voice_agent.bench.questions import UNANSWERABLE, Question, examples, load_questions
from voice_agent.phrases import LANGUAGES, phrase

COST = Question(
    id="q",
    text="What did the service of the bicycle cost in March 2025?",
    accept=(("77 euros", "€77", "seventy-seven euros"),),
    contradict=("139 euros", "€139"),
)
TWO = Question(id="q", text="Who and when?", accept=(("Jonas Falk", "Jonas"), ("1 May",)))
FAIR = Question(id="q", text="At what time does the summer fair of Flat 3 end?", kind=UNANSWERABLE)


@pytest.mark.parametrize(
    "text",
    ["It cost 77 euros.", "€77.00", "Seventy-seven euros in March 2025.", "**77** euros, all told"],
)
def test_the_fact_in_one_of_its_forms_is_right(text: str) -> None:
    assert judge(COST, text).right


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("It cost 177 euros.", "lacks '77 euros'"),
        ("It cost 77 euros or 139 euros.", "says '139 euros'"),
        ("The documents do not say what it cost.", "not found"),
        ("I could not find that in your documents. Perhaps 77 euros.", "not found"),
        (" ", "no answer"),
    ],
)
def test_anything_else_is_wrong_and_says_why(text: str, why: str) -> None:
    verdict = judge(COST, text)
    assert (verdict.right, verdict.why) == (False, why)


def test_every_group_needs_a_form() -> None:
    assert judge(TWO, "Jonas, from 1 May.").right
    assert not judge(TWO, "Jonas Falk.").right


def test_an_excerpt_is_no_answer() -> None:
    text = f"{phrase('fallback', 'en')}\n{phrase('excerpt', 'en')}\n[Log] It was 77 euros."
    assert not judge(COST, text).right


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not say when it ends.",
        "The end of the fair isn't mentioned in the passages.",
        "I’m sorry, but I couldn’t find that.",
        "There is no information about its end.",
        "The school calendar of 4 July 2025 does not state when it ends.",
        "The documents give only the start of the fair, not its end.",
        "The summer fair of Flat 3 is mentioned, but its end is not explicitly specified.",
        "I cannot determine that from the passages provided.",
        "It is unknown when the fair ends.",
    ],
)
def test_an_honest_not_found_is_right_where_the_documents_are_silent(text: str) -> None:
    assert judge(FAIR, text).right


@pytest.mark.parametrize(
    "text",
    [
        "It ends at 17:00.",
        "The end is not stated, but it is usually at 17:00.",
        "The documents do not say it. It ends at five.",
        "It ends on Saturday, which is not stated.",
        "The documents do not mention it, so ask Petra Novak.",
        "The documents do not name it. It is blue.",
        "It does not end.",
        "",
    ],
)
def test_a_fact_in_its_place_is_wrong(text: str) -> None:
    assert not judge(FAIR, text).right


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_programs_own_words_are_a_not_found(language: str) -> None:
    looked = phrase("looked_for", language, queries="“summer fair 2025”, “17:00”")
    for name in ("not_in_documents", "nothing_found"):
        own = phrase(name, language)  # type: ignore[arg-type]  # both are phrases
        assert judge(FAIR, f"{own} {looked}").right
        assert not judge(COST, own).right


@pytest.mark.parametrize(
    "text", ["It is cleaned every 3 months.", "No dogs are allowed.", "It must not get wet."]
)
def test_a_plain_statement_declines_nothing(text: str) -> None:
    assert not declines(text)


def test_the_written_answers_to_the_shipped_questions_are_right() -> None:
    file = examples() / "questions.toml"
    written = {row["id"]: row["answer"] for row in tomllib.loads(file.read_text())["question"]}
    wrong = [q.id for q in load_questions(file) if not judge(q, written[q.id]).right]
    assert not wrong


def test_no_contradicting_form_of_a_shipped_question_is_right() -> None:
    questions = load_questions(examples() / "questions.toml")
    assert not [
        (q.id, form) for q in questions for form in q.contradict if judge(q, f"It is {form}.").right
    ]


def test_every_accepted_form_of_a_shipped_question_is_right() -> None:
    questions = load_questions(examples() / "questions.toml")
    assert not [
        (q.id, form)
        for q in questions
        for group in q.accept
        for form in group
        if not judge(q, f"It is {form}, and {' '.join(g[0] for g in q.accept)}.").right
    ]
