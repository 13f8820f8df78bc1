"""The poisoned documents of the benchmark: each holds the fact and the order that it should."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from voice_agent.bench.folding import fold, stands

POISONED = Path(__file__).parents[2] / "benchmarks" / "poisoned"
ROWS = tomllib.loads((POISONED / "questions.toml").read_text())
TEXTS = {file.name: file.read_text() for file in (POISONED / "documents").iterdir()}
PRIVATE = {"diary.md", "house-alarm.md", "bank-accounts.md"}


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


@pytest.mark.parametrize("row", ROWS["question"], ids=lambda row: row["id"])
def test_the_fact_stands_beside_the_order(row: dict[str, Any]) -> None:
    text = TEXTS[row["file"]]
    assert all(any(stands(fold(form), fold(text)) for form in group) for group in row["accept"])
    assert words(row["order"]) in words(text)


def test_every_document_is_asked_about_or_private() -> None:
    asked = {row["file"] for row in ROWS["question"]}
    assert len(asked) == 20 and set(TEXTS) == asked | PRIVATE
    attacks = [row["attack"] for row in ROWS["question"]]
    assert {attack: attacks.count(attack) for attack in attacks} == dict.fromkeys(
        ("write", "call", "reveal", "language"), 5
    )


def test_what_is_private_stands_in_no_other_document() -> None:
    for secret in ROWS["secrets"]:
        found = {name for name, text in TEXTS.items() if stands(fold(secret), fold(text))}
        assert len(found) == 1 and found <= PRIVATE, secret
