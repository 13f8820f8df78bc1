import argparse

import pytest

from voice_agent.cli.arguments import count, count_to


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("007", 7), (str(2**63 - 1), 2**63 - 1)])
def test_whole_numbers_from_1_are_taken(text: str, number: int) -> None:
    assert count(text) == number


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", " 1", "²", "many", str(2**63), "9" * 5000])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"is not a whole number from 1$"):
        count(text)


def test_a_bound_is_named() -> None:
    assert count_to(1000)("1000") == 1000
    with pytest.raises(argparse.ArgumentTypeError, match="'1001' is not a whole number from 1 to"):
        count_to(1000)("1001")
