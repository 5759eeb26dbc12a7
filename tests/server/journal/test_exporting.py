"""Ended episodes as Parquet: each trace can be replayed, and what cannot be played again is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow.parquet import read_table

from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.journal.exporting import export
from ecom_rlve.server.store.errors import StoreError

DONE = {"answer": {"done": True}}


def test_every_ended_episode_is_written_while_the_server_goes_on(
    api: Callable[..., Any], shop: Shop, tmp_path: Path
) -> None:
    store, out = tmp_path / "store.sqlite3", tmp_path / "traces.parquet"
    http = api(store=store)
    told = {}
    for env_id in ("CART", "RETURN"):
        http.reset(env_id=env_id, seed=3, episode_id=env_id, run_id="r")
        told[env_id] = http.step(env_id, DONE).json()["reward"]
    http.reset(env_id="CART", episode_id="live")
    http.reset(env_id="CART", episode_id="damaged")
    http.step("damaged", DONE)
    http.service.database.row("UPDATE actions SET action = '[]' WHERE episode = 4")
    assert export(store, out, shop) == {"cannot be played again: AttributeError": 1}
    rows = {row["episode_id"]: row for row in read_table(out).to_pylist()}
    assert {name: row["reward"] for name, row in rows.items()} == told
    assert {row["run_id"] for row in rows.values()} == {"r"}
    for row in rows.values():
        replay(Trace.load(row["trace"]), shop)
    assert http.step("live", DONE).status_code == 200


def test_another_catalog_plays_none_of_them(api: Callable[..., Any], tmp_path: Path) -> None:
    store, out = tmp_path / "store.sqlite3", tmp_path / "traces.parquet"
    http = api(store=store)
    http.reset(env_id="CART", episode_id="E")
    http.step("E", DONE)
    ((why, times),) = export(store, out, Shop.open("synthetic:400:1")).items()
    assert (why.startswith("played on something else: the catalog was"), times) == (True, 1)
    assert read_table(out).num_rows == 0


def test_where_there_is_no_journal_nothing_is_written(tmp_path: Path, shop: Shop) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        export(tmp_path / "none", tmp_path / "out", shop)
    assert not (tmp_path / "none").exists()
