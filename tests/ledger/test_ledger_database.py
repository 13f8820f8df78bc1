import sqlite3
from pathlib import Path

import pytest

from voice_agent.errors import LedgerError
from voice_agent.ledger import Ledger
from voice_agent.ledger.database import open_database
from voice_agent.ledger.migrations import MIGRATIONS, Migration, migrate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


def at_version(path: Path, migrations: tuple[Migration, ...]) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    migrate(db, migrations)
    return db


def m999_moods(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE turns ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")


def m999_broken(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM conversations")
    db.execute("this is not SQL")


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS) + 1))
def test_a_ledger_of_every_version_is_brought_up_to_date(path: Path, version: int) -> None:
    at_version(path, MIGRATIONS[:version]).close()
    with Ledger.open(path) as ledger:
        ledger.begin_turn("When?", kind="typed", language="en")
        assert ledger.turns()[0].question == "When?"


def test_a_change_is_applied_once_and_keeps_what_was_there(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.begin_turn("When?", kind="typed", language="en")
    at_version(path, (*MIGRATIONS, m999_moods)).close()
    db = at_version(path, (*MIGRATIONS, m999_moods))
    assert db.execute("SELECT question, mood FROM turns").fetchall() == [("When?", "calm")]
    db.close()


def test_a_change_that_fails_changes_nothing(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.begin_turn("When?", kind="typed", language="en")
    with pytest.raises(sqlite3.Error):
        at_version(path, (*MIGRATIONS, m999_broken))
    with Ledger.open(path) as ledger:
        assert len(ledger.turns()) == 1


def test_a_ledger_of_a_newer_program_is_left_alone(path: Path) -> None:
    at_version(path, (*MIGRATIONS, m999_moods)).close()
    with pytest.raises(LedgerError, match="newer voice-agent .*m999_moods") as refused:
        Ledger.open(path)
    assert refused.value.file == str(path)


def test_a_file_that_is_no_ledger_is_named_and_left_as_it_is(path: Path) -> None:
    path.write_text("dear diary, " * 1000)
    with pytest.raises(LedgerError, match=r"file is not a database.*Move it aside.*mv '"):
        Ledger.open(path)
    assert path.read_text() == "dear diary, " * 1000


def test_a_cut_ledger_is_named(path: Path) -> None:
    with Ledger.open(path) as ledger:
        ledger.begin_turn("When?" * 5000, kind="typed", language="en")
    path.write_bytes(path.read_bytes()[:8192])
    with pytest.raises(LedgerError, match="malformed.*Move it aside"), Ledger.open(path) as ledger:
        ledger.turns()


def test_a_folder_in_its_place_is_named(path: Path) -> None:
    path.mkdir()
    with pytest.raises(LedgerError, match=r"ledger\.sqlite3"):
        Ledger.open(path)


def test_a_place_that_cannot_hold_it_is_named(path: Path) -> None:
    path.write_text("")
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger.open(path / "ledger.sqlite3")


def test_a_ledger_that_another_program_holds_is_said_to_be(path: Path) -> None:
    Ledger.open(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerError, match=r"locked.*Another program holds it"):
        open_database(path, busy_timeout_s=0.05)
    holder.close()


def test_a_full_disk_is_said_to_be(path: Path) -> None:
    db = open_database(path)
    db.execute("PRAGMA max_page_count = 20")
    with Ledger(db, path) as ledger:
        with pytest.raises(LedgerError, match="full.*Make space"):
            ledger.begin_turn("x" * 200_000, kind="typed", language="en")
        assert ledger.turns() == []


def test_a_reader_in_the_way_of_erasing_is_reported(path: Path) -> None:
    db = open_database(path, busy_timeout_s=0.05)
    reader = sqlite3.connect(path, isolation_level=None)
    with Ledger(db, path) as ledger:
        turn = ledger.begin_turn("When?", kind="typed", language="en")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM turns").fetchall()
        with pytest.raises(LedgerError, match="It is deleted, but traces"):
            ledger.delete(turn)
        reader.close()
        assert ledger.turns() == []
