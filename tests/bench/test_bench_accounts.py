"""Where an account of a reply does not match."""

from typing import Any

import pytest

from voice_agent.bench.accounts import estimates, faults, table, verdict

REQUEST = {
    "kind": "reply",
    "reason": "end",
    "expected_prompt_tokens": 100,
    "expected_new_tokens": 40,
    "prompt_tokens": 100,
    "reused_tokens": 60,
    "evaluated_tokens": 40,
    "output_tokens": 5,
}
FINAL = REQUEST | {"expected_new_tokens": 30, "evaluated_tokens": 30, "output_tokens": 10}
ROW: dict[str, Any] = {
    "id": "q01",
    "way": "as shipped",
    "charged": 45,
    "answer_tokens": 40,
    "told": 45,
    "counted": 85,
    "requests": [REQUEST, FINAL],
}


def test_an_account_that_matches_has_no_fault() -> None:
    assert faults(ROW) == []
    assert verdict([ROW]).startswith("1 of 1 replies match (2 requests, 45 tokens charged); 1 of")


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"charged": 44, "told": 44}, "charged 44 and 40 for the answer, evaluated 85"),
        ({"told": 40}, "charged 45, told 40"),
        ({"counted": 86}, "85 tokens by the seam's count, llama.cpp counts 86"),
        (
            {"requests": [REQUEST | {"expected_new_tokens": 41}, FINAL]},
            "expected 41 new tokens, 40 were",
        ),
        (
            {"served": [REQUEST, FINAL | {"output_tokens": 9}]},
            "processed and generated (30, 10), the server says (30, 9)",
        ),
        ({"served": [REQUEST]}, "2 requests, the server says 1"),
    ],
)
def test_a_figure_that_differs_is_a_fault(changed: dict[str, Any], fault: str) -> None:
    assert faults(ROW | changed) == [fault]
    assert verdict([ROW | changed]).startswith("0 of 1")


def test_the_last_token_of_a_cut_reply_was_generated_but_not_evaluated() -> None:
    cut = [REQUEST | {"reason": "length"}, FINAL]
    assert faults(ROW | {"requests": cut, "counted": 84}) == []


def test_the_counter_says_nothing_of_a_request_that_was_aborted() -> None:
    aborted = [REQUEST | {"reason": "stopped"}, FINAL]
    row = ROW | {"requests": aborted, "counted": 300}
    assert faults(row) == []
    assert "(300) aborted" in table([row])
    assert "0 of them checked" in verdict([row])


def test_a_server_never_tells_what_a_request_cost_that_was_left() -> None:
    ours = [REQUEST, FINAL | {"reason": "deadline"}]
    served = [REQUEST, FINAL | {"output_tokens": 90}]
    assert faults(ROW | {"requests": ours, "served": served, "counted": None}) == []


def test_a_request_that_failed_has_cost_nothing_that_is_known() -> None:
    failed = {"reason": "failed", "expected_prompt_tokens": 9, "expected_new_tokens": 9}
    assert faults(ROW | {"requests": [REQUEST, FINAL, failed], "counted": None}) == []


def test_an_estimate_stands_beside_the_servers_figure() -> None:
    asked = REQUEST | {"plain_tokens": 120, "usage_prompt_tokens": 80}
    shown = estimates([ROW | {"requests": [asked], "exact": False}])
    assert shown.splitlines()[1].split()[-6:] == ["120", "100", "80", "+25.0%", "60", "40"]
