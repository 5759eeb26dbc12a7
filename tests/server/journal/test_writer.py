"""The writing thread: what one tick hands over is one transaction, and a job that fails undoes its own changes only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.server.journal.writer import Writer
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreUnavailableError


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path / "store.sqlite3", is_shared=True)
    yield opened
    opened.close()


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    own = Database.beside(database)
    made = Writer(own)
    yield made
    made.close()
    own.close()


def adding(writer: Writer, name: str, failure: Exception | None = None) -> Callable[[], str]:
    """Return a job that adds a row, and fails then if so told."""

    def add() -> str:
        writer._database.row("INSERT INTO stamps (text, is_current) VALUES (?, 0)", (name,))
        if failure is not None:
            raise failure
        return name

    return add


def names(database: Database) -> list[str]:
    return [name for (name,) in database.rows("SELECT text FROM stamps ORDER BY id")]


def test_what_is_handed_over_at_once_is_committed_together(database: Database, writer: Writer) -> None:
    statements: list[str] = []
    writer._database._connection.set_trace_callback(statements.append)

    async def together() -> list[str]:
        return await asyncio.gather(*(writer.run(adding(writer, str(n)), is_single=n % 2 == 0) for n in range(50)))

    assert asyncio.run(together()) == [str(number) for number in range(50)]
    assert statements.count("COMMIT") == 1
    assert names(database) == [str(number) for number in range(50)]
    assert writer.waiting == 0


@pytest.mark.parametrize("is_single", [False, True])
def test_a_job_that_fails_leaves_the_others_alone(database: Database, writer: Writer, is_single: bool) -> None:
    async def together() -> list[Any]:
        jobs = [writer.run(adding(writer, name), is_single=is_single) for name in ("a", "b", "a", "c")]
        return await asyncio.gather(*jobs, return_exceptions=True)

    outcomes = asyncio.run(together())
    assert [each if isinstance(each, str) else type(each) for each in outcomes] == [
        "a",
        "b",
        StoreUnavailableError,
        "c",
    ]
    assert names(database) == ["a", "b", "c"]


def test_changes_before_a_failure_are_undone(database: Database, writer: Writer) -> None:
    async def together() -> list[Any]:
        jobs = [writer.run(adding(writer, "a", KeyError())), writer.run(adding(writer, "b"))]
        return await asyncio.gather(*jobs, return_exceptions=True)

    assert isinstance(asyncio.run(together())[0], KeyError)
    assert names(database) == ["b"]


def test_nobody_is_told_of_success_if_the_transaction_fails(database: Database, writer: Writer) -> None:
    (pages,) = writer._database.row("PRAGMA page_count")
    writer._database.row(f"PRAGMA max_page_count = {pages}")

    async def together() -> list[Any]:
        jobs = [writer.run(adding(writer, f"{n} {'x' * 2000}")) for n in range(20)]
        return await asyncio.gather(*jobs, return_exceptions=True)

    written = [each for each in asyncio.run(together()) if isinstance(each, str)]
    assert names(database) == written
    assert len(written) < 20


def test_who_gives_up_waiting_stops_nobody(database: Database, writer: Writer) -> None:
    async def impatient() -> None:
        task = asyncio.create_task(writer.run(adding(writer, "given up")))
        await asyncio.sleep(0)
        task.cancel()
        await writer.run(adding(writer, "waited for"))

    asyncio.run(impatient())
    assert names(database) == ["given up", "waited for"]


def test_what_was_handed_over_is_written_before_the_end(database: Database, writer: Writer) -> None:
    async def ending() -> None:
        task = asyncio.create_task(writer.run(adding(writer, "last")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        writer.close()
        assert await task == "last"
        with pytest.raises(StoreUnavailableError, match="stopping"):
            await writer.run(adding(writer, "late"))

    asyncio.run(ending())
    assert names(database) == ["last"]
