"""Ended episodes of a journal with their traces, as a Parquet file; a server may go on writing meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ecom_rlve.envs.episode.trace import trace_of
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.journal.entries import Stored
from ecom_rlve.server.journal.replaying import begun, play
from ecom_rlve.server.journal.rows import JournalRows
from ecom_rlve.server.runs.pins import difference, pins_of, read_pins
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.errors import StoreError

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 500
"""Episodes that are in memory at a time, and of a row group of the file."""
_TEXTS = ("episode_id", "run_id", "env_id", "split", "style", "format", "termination", "trace")
_NUMBERS = ("difficulty", "seed", "steps")


def export(store: Path, out: Path, shop: Shop, tell: Callable[[int], None] = lambda _: None) -> Counter[str]:
    """Write every ended episode of a store that ``shop`` can play again; return how many were left out, by reason.

    ``tell`` is called with how many are written so far. Each episode is played again: the journal holds its actions,
    and its trace follows from them.

    Raises:
        StoreError: there is no store with a journal.
        OSError: the file cannot be written.
        ModuleNotFoundError: the extra ``data`` is missing.
    """
    from pyarrow.parquet import ParquetWriter

    schema = _schema()
    left_out: Counter[str] = Counter()
    written = 0
    with ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in _batches(store, shop, left_out):
            writer.write_table(_table(batch, schema))
            written += len(batch)
            tell(written)
    return left_out


def _schema() -> pa.Schema:
    """Return the columns; reward and what follows it are null where a fault of the server ended an episode."""
    import pyarrow as pa

    more = {"reward": pa.float64(), "is_correct": pa.bool_(), "ended_at": pa.timestamp("us", "UTC")}
    return pa.schema({**dict.fromkeys(_TEXTS, pa.string()), **dict.fromkeys(_NUMBERS, pa.int64()), **more})


def _table(batch: list[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_pylist(batch, schema)


def _batches(store: Path, shop: Shop, left_out: Counter[str]) -> Iterator[list[Mapping[str, Any]]]:
    database = _opened(store)
    try:
        rows, pins, after = JournalRows(database, 0, 0), pins_of(shop), 0
        while found := rows.ended(after, _BATCH):
            after = found[-1].row
            batch = []
            for stored in found:
                if (differs := difference(read_pins(stored.stamp), pins)) is not None:
                    left_out[f"played on something else: {differs}"] += 1
                    continue
                try:
                    batch.append(_row(rows, stored, shop))
                except Exception as error:
                    # Whatever is wrong with one of them, the others are written.
                    left_out[f"cannot be played again: {type(error).__name__}"] += 1
            if batch:
                yield batch
    finally:
        database.close()


def _opened(store: Path) -> Database:
    if not store.is_file():
        raise StoreError(f"there is no store at {store}; name the server's by ECOM_RLVE_STORE")
    database = Database.to_read(store)
    if database.row("SELECT 1 FROM sqlite_schema WHERE name = 'played'") is None:
        database.close()
        raise StoreError(f"the store {store} has no journal yet; a server of this version makes one when it starts")
    return database


def _row(rows: JournalRows, stored: Stored, shop: Shop) -> Mapping[str, Any]:
    episode = begun(shop, stored)
    if stored.spoken:
        episode.reword(stored.spoken)
    play(episode, rows.lines(stored.row))
    spec, result = stored.spec, episode.result
    ended_at = rows.ended_at(stored.row)
    return {
        "episode_id": stored.episode_id,
        "run_id": stored.run,
        "env_id": spec.env_id,
        "difficulty": spec.difficulty,
        "seed": spec.seed,
        "split": spec.split,
        "style": spec.style,
        "format": spec.format,
        "steps": episode.log.taken,
        "reward": None if result is None else result.r_total,
        "is_correct": None if result is None else result.is_correct,
        "termination": None if result is None else result.termination.value,
        "ended_at": None if ended_at is None else datetime.fromtimestamp(ended_at, UTC),
        "trace": trace_of(episode).dump(),
    }
