"""Results that are kept from one part of a run to the next."""

from pathlib import Path

import pytest

from voice_agent.bench.rows import Rows
from voice_agent.errors import UsageError


def test_results_of_earlier_parts_come_first(tmp_path: Path) -> None:
    file = tmp_path / "rows"
    Rows(file).add({"n": 1, "text": "é\u2028"})
    later = Rows(file)
    later.add({"n": 2})
    assert later.all() == [{"n": 1, "text": "é\u2028"}, {"n": 2}]
    assert Rows(file).all() == later.all()


def test_without_a_file_nothing_is_kept() -> None:
    rows = Rows(None)
    rows.add({"n": 1})
    assert rows.all() == [{"n": 1}]


def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "notes"
    file.write_text("milk\n")
    with pytest.raises(UsageError):
        Rows(file)
