"""What prompts cost on a server: estimates, and how its own figures correct them."""

from voice_agent.llm.counting import PromptCounts, Usage, plain_tokens
from voice_agent.llm.model import Size
from voice_agent.llm.wire import Prompt

FIRST = Prompt((b"a" * 300,))
SECOND = Prompt((b"a" * 300, b"b" * 60))


def settled(counts: PromptCounts, prompt: Prompt, **usage: int) -> Size:
    return counts.settle(prompt, Usage(**usage), processed=True)


def test_three_bytes_are_a_token_rounded_up() -> None:
    assert [plain_tokens(n) for n in (0, 1, 3, 4)] == [0, 1, 1, 2]


def test_a_first_prompt_is_all_new() -> None:
    assert PromptCounts().size(FIRST) == Size(100, 0)


def test_what_the_last_prompt_began_with_is_not_counted_again() -> None:
    counts = PromptCounts()
    settled(counts, FIRST)
    assert counts.size(SECOND) == Size(120, 100)


def test_the_same_prompt_again_costs_a_token() -> None:
    counts = PromptCounts()
    settled(counts, FIRST)
    assert counts.size(FIRST).new_tokens == 1


def test_a_prompt_that_never_arrived_is_not_held() -> None:
    counts = PromptCounts()
    counts.settle(FIRST, Usage(), processed=False)
    assert counts.size(SECOND).reused_tokens == 0


def test_estimates_follow_the_running_ratio_of_the_servers_figures() -> None:
    counts = PromptCounts()
    settled(counts, FIRST, prompt_tokens=80)
    assert counts.tokens(300) == 80
    settled(counts, FIRST, prompt_tokens=100)
    assert counts.tokens(300) == 90


def test_a_server_that_counts_nothing_changes_nothing() -> None:
    counts = PromptCounts()
    assert settled(counts, FIRST, prompt_tokens=0) == Size(100, 0)
    assert counts.tokens(300) == 100


def test_what_the_server_says_of_its_cache_is_charged() -> None:
    counts = PromptCounts()
    settled(counts, FIRST, prompt_tokens=100, cached_tokens=0)
    assert settled(counts, SECOND, prompt_tokens=120, cached_tokens=64) == Size(120, 64)


def test_a_server_without_a_cache_is_expected_to_process_all() -> None:
    counts = PromptCounts()
    settled(counts, FIRST, prompt_tokens=100, cached_tokens=0)
    settled(counts, SECOND, prompt_tokens=120, cached_tokens=0)
    assert counts.size(SECOND) == Size(120, 0)


def test_a_cache_never_holds_more_than_the_prompt() -> None:
    assert settled(PromptCounts(), FIRST, prompt_tokens=10, cached_tokens=99).new_tokens == 0
