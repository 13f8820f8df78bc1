"""What a memory holds of a prompt: research-loop.md, "Budgets", tokens."""

from voice_agent.llm.prefix import reusable


def test_what_is_appended_leaves_the_rest_as_it_was() -> None:
    assert reusable([1, 2, 3], [1, 2, 3, 4, 5]) == 3


def test_the_last_token_is_always_evaluated() -> None:
    assert reusable([1, 2, 3], [1, 2, 3]) == 2
    assert reusable([], []) == 0


def test_after_a_changed_beginning_nothing_holds() -> None:
    assert reusable([1, 2, 3], [9, 2, 3, 4]) == 0


def test_what_follows_a_change_does_not_hold() -> None:
    assert reusable([1, 2, 3, 4], [1, 2, 9, 4]) == 2


def test_a_memory_that_cannot_be_cut_holds_nothing_of_a_changed_prompt() -> None:
    assert reusable([1, 2, 3], [1, 2, 9, 4], can_be_cut=False) == 0
    assert reusable([1, 2, 3], [1, 2, 3], can_be_cut=False) == 0


def test_a_memory_that_cannot_be_cut_is_continued() -> None:
    assert reusable([1, 2, 3], [1, 2, 3, 4], can_be_cut=False) == 3
