import pytest

from voice_agent.sentences import SentenceStream, split_sentences
from voice_agent.spoken_text import spoken

ENGLISH = [
    ["The key is in the drawer.", "Take it."],
    ["Dr. Weber opens at 8.30 a.m. on Monday.", "Call first."],
    ["It costs 3.5 euros.", "20 people came."],
    ["Bring fruit, e.g. apples, to Mr. Lee on Nov. 5.", "Is that fine?", "Good!"],
    ["See No. 5 and p. 12, i.e. the annex.", "The answer is no.", "She left."],
    ["He moved to the U.S. in May.", "He likes the U.S.", "They do too."],
    ["Well... maybe.", "I never knew....", "We left."],
    ["“Stop!” she said.", "“Go on.”", "He went."],
    ["See https://example.com/a.b?c=d.", "It explains all."],
    ["Paint, varnish etc. are in the cellar.", "It is dry there."],
    ["Rinse it first [2].", "Then dry it.[3]", "Done."],
    ["J. R. Smith wrote to the Acme Co. about it.", "They paid."],
    ["That is for you and I.", "We know."],
]


@pytest.mark.parametrize("expected", ENGLISH)
def test_english(expected: list[str]) -> None:
    assert split_sentences(" ".join(expected)) == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", ["Am 3. Mai kommt Dr. Weber, z. B. um 8.30 Uhr.", "Das passt."]),
        ("de", ["Es kostet ca. 12.", "Die Miete steigt am 1. Januar usw.", "Sie zahlt."]),
        ("de", ["Er sagte: „Komm!“", "Dann ging er."]),
        ("es", ["¡Hola!", "¿Cómo está, Sra. López?", "Bien."]),
        ("fr", ["Elle a dit « Non. »", "Il est parti avec M. Petit."]),
    ],
)
def test_other_languages(language: str, expected: list[str]) -> None:
    assert split_sentences(" ".join(expected), language) == expected


MARKDOWN = """# Opening hours

The shop is open daily
from nine to five. On Sunday it is closed.

1. Ring the bell
2. Wait for Mr. Hall

- apples
- pears

| day | time |
|---|---|
| Mon | 9 |

```
x = 1. Then
y = 2
```
That is all"""


def test_markdown_is_cut_at_its_lines_and_a_fence_stays_whole() -> None:
    assert split_sentences(MARKDOWN) == [
        "# Opening hours",
        "The shop is open daily from nine to five.",
        "On Sunday it is closed.",
        "1. Ring the bell",
        "2. Wait for Mr. Hall",
        "- apples",
        "- pears",
        "| day | time |",
        "|---|---|",
        "| Mon | 9 |",
        "```\nx = 1. Then\ny = 2\n```",
        "That is all",
    ]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
def test_the_cut_of_the_stream_changes_nothing(size: int) -> None:
    text = MARKDOWN + "\n\n" + " ".join(" ".join(case) for case in ENGLISH)
    stream = SentenceStream(first_clause_chars=25)
    out = [s for i in range(0, len(text), size) for s in stream.feed(text[i : i + size])]
    whole = SentenceStream(first_clause_chars=25)
    assert out + stream.flush() == whole.feed(text) + whole.flush()


def test_a_sentence_is_released_with_the_first_letter_of_the_next() -> None:
    stream = SentenceStream()
    assert stream.feed("The key is in the drawer. ") == []
    assert stream.feed("T") == ["The key is in the drawer."]


def test_leaked_reasoning_is_one_piece() -> None:
    assert split_sentences("Yes. <think>First. Then.</think> It is open.") == [
        "Yes.",
        "<think>First. Then.</think>",
        "It is open.",
    ]


def test_a_list_in_one_line_is_cut_before_each_number() -> None:
    assert split_sentences("1. Open the lid 2. Fill the tank 3. Close it") == [
        "1. Open the lid",
        "2. Fill the tank",
        "3. Close it",
    ]


def test_a_long_sentence_is_cut_at_a_clause() -> None:
    first = "The tenant pays the rent on the third day of each month" + " of the year" * 8
    pieces = split_sentences(f"{first}, and the landlord confirms it in writing" + " soon" * 9)
    assert pieces[0] == first + ","
    assert pieces[1].startswith("and the landlord")


def test_endless_text_without_a_stop_is_cut_between_words() -> None:
    pieces = split_sentences("word " * 2000)
    assert max(map(len, pieces)) <= 400
    assert " ".join(pieces).split() == ["word"] * 2000


def test_the_first_clause_may_come_early() -> None:
    stream = SentenceStream(first_clause_chars=20)
    assert stream.feed("Yes, according to the contract, the rent is due on") == [
        "Yes, according to the contract,"
    ]
    assert stream.feed(" the third, not later. And") == ["the rent is due on the third, not later."]


@pytest.mark.parametrize(
    ("clause", "rest"),
    [
        ("The key hangs next to the door,", "and the lamp is on the left."),
        ("The red bin is emptied on Mondays;", "the blue one every second week."),
        ("The museum has three floors:", "paintings hang on the first."),
        ("The old boiler was replaced –", "the new one is in the cellar."),
        ("The old boiler was replaced —", "the new one is in the cellar."),
        ("Dr. Smith of St. Mary's Hospital,", "who called twice, is back at 5."),
        ("Up to 1,000 kg may be carried,", "says the plate on its door."),
        ("On 3 March 2024 at 9:30, they", ""),
        ("Wenn die Pumpe nachts ausfällt,", "ruf bitte den Hausmeister an."),
        ("Si la alarma suena por la noche,", "llame al portero de abajo."),
        ("La clé se trouve dans le tiroir ;", "la lampe est posée à gauche."),
    ],
)
def test_the_first_clause_ends_at_a_mark_of_any_language(clause: str, rest: str) -> None:
    stream = SentenceStream(first_clause_chars=20)
    text = f"{clause} {rest}".strip()
    assert [*stream.feed(text), *stream.flush()] == list(filter(None, [clause, rest]))


@pytest.mark.parametrize(
    "sentence",
    [
        "The warehouse is closed on May 3, 2019 to all our visitors.",
        "The lift of the house carries up to 1,000 kg at a time.",
        "The lift is inspected in months 3, 6 and 9 of each year.",
        "It is open from Monday to Friday 9 – 12 and in the evening.",
        "Bring us fruit e.g., the red apples of the cellar.",
        "The text says “take care of the pump, the boiler and the lamp” there.",
        "The caretaker (a tall man with a hat, always friendly) has the key.",
        "**The caretaker has the key, the spare one and the lamp** today.",
        "The caretaker of the house has it [see rules.md, page three of it].",
        "Sources: the-rules-of-the-house.md, the-second-file.md and more.md.",
        '{"answer": "It is open on all days", "source": "the rules of it"}',
        "| A table of things, and | a second cell, with a | third |",
        "The key hangs next to the door, too.",
        "The door is green.",
    ],
)
def test_what_belongs_together_is_not_divided(sentence: str) -> None:
    stream = SentenceStream(first_clause_chars=10)
    assert [*stream.feed(sentence), *stream.flush()] == [sentence]


def test_only_the_first_clause_comes_alone() -> None:
    stream = SentenceStream(first_clause_chars=20)
    text = "It is open. If the alarm rings at night, call the caretaker of the house."
    assert [*stream.feed(text), *stream.flush()] == split_sentences(text)


@pytest.mark.parametrize("language", ["en", "de", "es", "fr"])
def test_a_clause_and_its_rest_are_spoken_as_the_whole(language: str) -> None:
    text = (
        "On 3 May 2024 the **service** cost 1,250.50 euros [1] – oil included – and 5 km of wire,"
        " as Dr. Lee [2] says, were used [3, 4]."
    )
    stream = SentenceStream(language, first_clause_chars=20)
    clause, *rest = [*stream.feed(text), *stream.flush()]
    assert rest
    said = " ".join(spoken(piece, language) for piece in (clause, *rest))
    assert said.replace(" –", ",") == spoken(text, language).replace(" –", ",")


@pytest.mark.parametrize("text", ["", "   \n\n ", "...", "\x00", "😀", "你好。再见。"])
def test_odd_text_is_kept(text: str) -> None:
    assert "".join(split_sentences(text)) == text.strip()
