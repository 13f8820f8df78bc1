"""The table of rules and of what breaks them has kept up with the source and the tests."""

import importlib.util
from pathlib import Path

FILE = Path(__file__).parent.parent.parent / "benchmarks" / "rules.py"


def test_every_rule_can_be_broken_and_has_its_test() -> None:
    spec = importlib.util.spec_from_file_location("rules", FILE)
    assert spec is not None and spec.loader is not None
    rules = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rules)
    table = rules.read_rules()
    assert rules.faults(table) == []
    assert len(table) > 120
