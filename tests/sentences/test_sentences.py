import pytest

from voice_agent.sentences import SentenceStream, split_sentences

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
    assert stream.feed("Yes, according to the contract, the rent is") == [
        "Yes, according to the contract,"
    ]
    assert stream.feed(" due on the third, not later. And") == [
        "the rent is due on the third, not later."
    ]


@pytest.mark.parametrize("text", ["", "   \n\n ", "...", "\x00", "😀", "你好。再见。"])
def test_odd_text_is_kept(text: str) -> None:
    assert "".join(split_sentences(text)) == text.strip()
