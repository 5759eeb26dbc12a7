"""The store's file: what is refused at the start and why, and that a change is made whole or not at all."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError
from ecom_rlve.server.store.schema import APPLICATION_ID, TABLES, UPGRADES, VERSION


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "store.sqlite3"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path)
    yield opened
    opened.close()


def add_run(database: Database, name: str) -> None:
    database.row("INSERT INTO runs (name, settings, pins, key) VALUES (?, '', '', x'')", (name,))


def add_runs(database: Database, runs: list[str], failure: Exception | None = None) -> None:
    """Add runs in one transaction, with another inside; then fail, if so told."""
    with database.transaction():
        for name in runs:
            with database.transaction():
                add_run(database, name)
        if failure is not None:
            raise failure


def names(database: Database) -> list[str]:
    return [name for (name,) in database.rows("SELECT name FROM runs ORDER BY name")]


def test_what_was_written_is_there_after_the_next_start(path: Path) -> None:
    first = Database(path)
    with first.transaction():
        add_run(first, "a")
    first.close()
    second = Database(path)
    assert names(second) == ["a"]
    assert second.row("PRAGMA journal_mode")[0] == "wal"
    second.close()


def test_memory_is_the_same_without_a_file() -> None:
    database = Database(None)
    with database.transaction():
        add_run(database, "a")
    database.checkpoint()
    assert names(database) == ["a"]
    database.close()
    other = Database(None)
    assert names(other) == []
    other.close()


def test_the_second_server_is_refused_until_the_first_has_ended(path: Path) -> None:
    first = Database(path)
    with pytest.raises(StoreError, match=r"another server uses the store .*ECOM_RLVE_STORE"):
        Database(path)
    first.close()
    Database(path).close()


def test_the_lock_dies_with_its_process(path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from ecom_rlve.server.store.database import Database; "
        "kept = Database(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == -9
    Database(path).close()


def of_bytes(path: Path) -> None:
    path.write_bytes(b"not a database at all " * 400)


def half_overwritten(path: Path) -> None:
    Database(path).close()
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()


def newer(path: Path) -> None:
    Database(path).close()
    with sqlite3.connect(path) as file:
        file.execute(f"PRAGMA user_version = {VERSION + 1}")
    file.close()


def a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (of_bytes, "damaged"),
        (half_overwritten, "damaged"),
        (of_another_program, "of another program"),
        (newer, f"newer version .*have version {VERSION + 1}.*upgrade this server"),
        (a_folder, "cannot be opened"),
    ],
)
def test_what_is_no_store_of_ours_is_refused_and_left_alone(path: Path, make: Callable[[Path], None], why: str) -> None:
    path.parent.mkdir()
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    for _ in range(2):
        # The lock is let go of, too.
        with pytest.raises(StoreError, match=f"{why}.*ECOM_RLVE_STORE") as refused:
            Database(path)
    assert str(path) in str(refused.value)
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"cannot be written .*ECOM_RLVE_STORE"):
        Database(tmp_path / "file" / "store.sqlite3")


def test_a_transaction_is_whole_or_not_at_all(database: Database) -> None:
    with pytest.raises(KeyError):
        add_runs(database, ["a", "b"], KeyError())
    assert names(database) == []
    add_runs(database, ["c"])
    assert names(database) == ["c"]


def test_a_full_disk_changes_nothing_and_is_told(database: Database) -> None:
    (pages,) = database.row("PRAGMA page_count")
    database.row(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailableError, match=r"full.*nothing was changed"):
        add_runs(database, [f"run {number}" for number in range(1000)])
    assert names(database) == []
    database.row("PRAGMA max_page_count = 100000")
    with database.transaction():
        add_run(database, "a")
    assert names(database) == ["a"]


def test_a_lock_of_somebody_else_is_told_and_not_waited_for_long(database: Database, path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked"), database.transaction():
        add_run(database, "a")
    other.execute("ROLLBACK")
    other.close()
    with database.transaction():
        add_run(database, "b")
    assert names(database) == ["b"]


def test_the_log_is_moved_into_the_file(database: Database, path: Path) -> None:
    with database.transaction():
        for number in range(1000):
            add_run(database, f"run {number}")
    before = path.stat().st_size
    database.checkpoint()
    assert path.stat().st_size > before
    assert len(names(database)) == 1000


def of_version(version: int, path: Path) -> None:
    """Leave a file as an earlier version made it, with a run in it."""
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as file:
        for statement in TABLES[: len(TABLES) - len(UPGRADES[version])]:
            file.execute(statement)
        file.execute("INSERT INTO runs (name, settings, pins, key) VALUES ('old', '', '', x'')")
        file.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        file.execute(f"PRAGMA user_version = {version}")
    file.close()


@pytest.mark.parametrize("version", sorted(UPGRADES))
def test_a_file_of_an_older_version_gets_what_it_lacks_and_keeps_what_it_has(path: Path, version: int) -> None:
    of_version(version, path)
    database = Database(path)
    assert names(database) == ["old"]
    assert database.row("SELECT count(*) FROM played") == (0,)
    assert database.row("SELECT count(*) FROM sessions") == (0,)
    assert database.row("PRAGMA user_version") == (VERSION,)
    database.close()


def test_those_that_share_a_file_keep_out_those_that_do_not(path: Path) -> None:
    told: list[bool] = []
    first = Database(path, is_shared=True, prepare=lambda _, is_first: told.append(is_first))
    second = Database(path, is_shared=True, prepare=lambda _, is_first: told.append(is_first))
    assert told == [True, False]
    with pytest.raises(StoreError, match="another server uses the store"):
        Database(path)
    first.close()
    with pytest.raises(StoreError, match="another server uses the store"):
        Database(path)
    second.close()
    alone = Database(path)
    with pytest.raises(StoreError, match="another server uses the store"):
        Database(path, is_shared=True)
    alone.close()


def test_who_cannot_prepare_a_file_leaves_it_to_others(path: Path) -> None:
    def refuse(_database: Database, _is_first: bool) -> None:
        raise StoreError("no")

    with pytest.raises(StoreError, match="no"):
        Database(path, is_shared=True, prepare=refuse)
    Database(path).close()
