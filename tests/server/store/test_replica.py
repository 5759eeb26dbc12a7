"""A store that servers on several machines share through a log in Redis."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.server.store.changes import Change, Entry, Head, carry_out, decode, encode
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError
from ecom_rlve.server.store.schema import TABLES, UPGRADES, VERSION
from ecom_rlve.server.store.shared import opened_log

VALUES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.binary() | st.floats(allow_nan=False)
Machine = Callable[..., Database]


@pytest.fixture
def machine(redis_url: str, tmp_path: Path) -> Iterator[Machine]:
    """Open the shared store on one more machine, or on one that had it before."""
    with ExitStack() as stack:

        def opened(name: str) -> Database:
            made = Database(tmp_path / name / "copy.sqlite3", is_shared=True, log=opened_log(redis_url))
            stack.callback(made.close)
            return made

        yield opened


def add(database: Database, name: str) -> None:
    """Write one run down."""
    database.row("INSERT INTO workers (seen_at) VALUES (?)", (float(name),))


def seen(database: Database) -> list[tuple[int, float]]:
    """Return what was written, by row."""
    return [tuple(row) for row in database.rows("SELECT id, seen_at FROM workers ORDER BY id")]


@given(st.lists(st.tuples(st.text(), st.lists(VALUES))))
def test_changes_survive_the_way(changes: list[tuple[str, list[Any]]]) -> None:
    told: list[Change] = decode(encode(changes))
    assert told == [(statement, tuple(values)) for statement, values in changes]


@given(st.binary())
def test_what_is_no_change_is_a_value_error(text: bytes) -> None:
    with pytest.raises(ValueError, match="no changes of a store"):
        decode(text)


@pytest.mark.parametrize(
    "statement", ["ATTACH 'x' AS x", "DROP TABLE t", "PRAGMA user_version = 9", "CREATE TABLE u (a)"]
)
def test_another_server_may_change_rows_and_nothing_else(statement: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a)")
        carry_out(connection, [("INSERT INTO t VALUES (?)", (1,))])
        with pytest.raises(sqlite3.DatabaseError):
            carry_out(connection, [(statement, ())])
        assert connection.execute("SELECT a FROM t").fetchall() == [(1,)]


def test_every_machine_sees_what_any_has_written(machine: Machine) -> None:
    one, other = machine("1"), machine("2")
    for turn in range(6):
        add((one, other)[turn % 2], str(turn))
    wanted = [(turn + 1, float(turn)) for turn in range(6)]
    assert [seen(each) for each in (other, one, machine("3"))] == [wanted] * 3


def test_what_a_transaction_undoes_happens_nowhere(machine: Machine) -> None:
    one, other = machine("1"), machine("2")

    def fail() -> None:
        with one.transaction():
            add(one, "1")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with one.transaction():
        one.row("SAVEPOINT job")
        add(one, "2")
        one.row("ROLLBACK TO job")
        one.row("RELEASE job")
        add(one, "3")
    assert seen(other) == seen(one) == [(1, 3.0)]


def test_a_transaction_sees_what_another_machine_wrote_just_before(machine: Machine) -> None:
    one, other = machine("1"), machine("2")
    add(one, "1")
    with other.transaction():
        assert seen(other) == [(1, 1.0)]
        with pytest.raises(StoreUnavailableError, match="all the time"):
            add(one, "2")
        add(other, "3")
    assert seen(one) == [(1, 1.0), (2, 3.0)]


def test_an_answer_of_redis_that_is_lost_changes_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = machine("1"), machine("2")
    assert one._replica is not None
    log = one._replica.log
    append = log.append

    def lost(token: str, entry: Entry) -> None:
        append(token, entry)
        raise StoreUnavailableError("the answer was lost")

    monkeypatch.setattr(log, "append", lost)
    with pytest.raises(StoreUnavailableError):
        add(one, "1")
    monkeypatch.undo()
    assert seen(one) == seen(other) == [(1, 1.0)]


def test_an_append_that_was_sent_twice_is_one(machine: Machine) -> None:
    one = machine("1")
    assert one._replica is not None
    log = one._replica.log
    entry = Entry(Head(1, "a"), "", encode([]))
    log.append("nobody", entry)
    log.append("nobody", entry)
    with pytest.raises(StoreUnavailableError):
        log.append("nobody", Entry(Head(1, "b"), "", encode([])))


def test_a_server_that_died_with_the_lock_is_waited_for(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    one = machine("1")
    assert one._replica is not None
    monkeypatch.setattr("ecom_rlve.server.store.redis_log._LOCK_MS", 200)
    one._replica.log.take("the dead one", 0)
    add(one, "1")
    assert seen(one) == [(1, 1.0)]


def test_a_new_machine_starts_from_an_image(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecom_rlve.server.store.redis_log._SNAPSHOT_EVERY", 5)
    monkeypatch.setattr("ecom_rlve.server.store.redis_log._KEPT", 2)
    one, lagging = machine("1"), machine("lagging")
    assert one._replica is not None
    for number in range(12):
        add(one, str(number))
        one.checkpoint()
    assert len(one._replica.log.after(0)) < 12
    wanted = [(number + 1, float(number)) for number in range(12)]
    assert seen(machine("new")) == seen(lagging) == wanted
    add(lagging, "12")
    assert seen(one) == [*wanted, (13, 12.0)]


def test_a_copy_that_knows_what_was_lost_is_built_anew(machine: Machine, redis_url: str) -> None:
    from redis import Redis

    one = machine("1")
    for number in range(3):
        add(one, str(number))
    with closing(Redis.from_url(redis_url)) as client:
        client.flushall()
    assert seen(one) == []
    add(one, "7")
    assert seen(machine("2")) == seen(one) == [(1, 7.0)]


def test_two_copies_that_went_different_ways_become_one(machine: Machine, redis_url: str) -> None:
    """Redis has lost its last second, and one machine has written on before the other looked."""
    from redis import Redis

    one, other = machine("1"), machine("2")
    for number in range(3):
        add(one, str(number))
    assert len(seen(other)) == 3
    assert one._replica is not None
    kept = one._replica.log.after(0)[:2]
    with closing(Redis.from_url(redis_url)) as client:
        client.flushall()
        for entry in kept:
            one._replica.log.append("nobody", entry)
    add(one, "50")
    assert seen(other) == seen(one) == [(1, 0.0), (2, 1.0), (3, 50.0)]


def test_a_store_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(StoreError) as refused:
        opened_log("redis://:secret@127.0.0.1:1/0")
    assert "secret" not in str(refused.value)


def test_an_image_that_an_older_version_left_gets_what_it_lacks(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ecom_rlve.server.store.redis_log._SNAPSHOT_EVERY", 5)
    monkeypatch.setattr("ecom_rlve.server.store.redis_log._KEPT", 2)
    with monkeypatch.context() as older:
        older.setattr("ecom_rlve.server.store.database.VERSION", 2)
        older.setattr("ecom_rlve.server.store.database.TABLES", TABLES[: len(TABLES) - len(UPGRADES[2])])
        one = machine("1")
        for number in range(12):
            add(one, str(number))
            one.checkpoint()
        with pytest.raises(StoreUnavailableError, match="no such table: sessions"):
            one.rows("SELECT id FROM sessions")
    new = machine("new")
    assert seen(new) == seen(one)
    assert new.rows("SELECT id FROM sessions") == []
    assert new.row("PRAGMA user_version") == (VERSION,)
