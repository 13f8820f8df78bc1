"""The budgets of research as plain values: research-loop.md, "Budgets"."""

import pytest

from voice_agent.llm.model import Size
from voice_agent.research.budget import TimeBudget, TokenBudget, fits_context, tools_allowed


def test_time_is_spent_at_its_limit() -> None:
    budget = TimeBudget(10, started=100)
    assert (budget.spent(109.9), budget.spent(110)) == (False, True)


def test_waiting_for_the_user_does_not_count() -> None:
    budget = TimeBudget(10, started=100)
    budget.extend(5)
    assert (budget.deadline, budget.spent(114)) == (115, False)


def test_a_reservation_is_the_new_prompt_and_the_whole_output_allowance() -> None:
    budget = TokenBudget(1_000)
    assert budget.reserve(Size(prompt_tokens=500, reused_tokens=400), 200) == 300
    assert budget.left == 700


def test_a_reservation_that_does_not_fit_sets_nothing_aside() -> None:
    budget = TokenBudget(1_000)
    assert budget.reserve(Size(900, 0), 101) is None
    assert budget.left == 1_000


def test_a_reservation_that_just_fits_is_given() -> None:
    assert TokenBudget(1_000).reserve(Size(900, 0), 100) == 1_000


def test_what_was_not_used_is_returned() -> None:
    budget = TokenBudget(1_000)
    reserved = budget.reserve(Size(300, 0), 200)
    assert reserved is not None
    budget.settle(reserved, 320)
    assert (budget.charged, budget.left) == (320, 680)


def test_requests_at_the_same_time_share_the_budget() -> None:
    budget = TokenBudget(1_000)
    assert budget.reserve(Size(400, 0), 200) == 600
    assert budget.reserve(Size(400, 0), 200) is None


@pytest.mark.parametrize(
    ("step", "max_steps", "allowed"),
    [(1, 0, True), (999, 0, True), (1, 2, True), (2, 2, False), (3, 4, True), (4, 4, False)],
)
def test_the_last_of_n_requests_is_the_answer(step: int, max_steps: int, allowed: bool) -> None:
    assert tools_allowed(step, max_steps) is allowed


@pytest.mark.parametrize(("prompt", "fits"), [(7_680, True), (7_681, False)])
def test_the_output_allowance_must_fit_the_context_too(prompt: int, fits: bool) -> None:
    assert fits_context(Size(prompt, prompt - 1), 512, 8_192) is fits
