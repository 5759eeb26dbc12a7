"""The ledger in the store does what the one in memory does, whatever is played."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.curriculum.gate import Curriculum
from ecom_rlve.envs.curriculum.ledger import Frontier, Key, Ledger, MemoryLedger, Outcome, Seed
from ecom_rlve.run_models import CurriculumParameters
from ecom_rlve.server.store import ledger as stored
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.frontier_rows import export_frontiers, put_frontiers
from ecom_rlve.server.store.ledger import StoredLedger, forget_live
from ecom_rlve.server.store.run_rows import RunRows

CART: Key = ("CART", "turn", "strict")
RULES = CurriculumParameters(tau_num=2, passes=2)
OUTCOMES = st.sampled_from([Fraction(1), Fraction(1), Fraction(0), Fraction(1, 3), "left", None])
MOVES = st.lists(
    st.tuples(st.sampled_from(["issue", "begin", "end"]), st.integers(0, 4), st.sampled_from("ab"), OUTCOMES),
    max_size=60,
)


def opened() -> tuple[Database, int]:
    database = Database(None)
    return database, RunRows(database).add("r", "", "", b"").id


def moved(ledger: Ledger, move: tuple[str, int, str, Outcome | None]) -> object:
    what, seed, episode_id, outcome = move
    curriculum = Curriculum(ledger, RULES)
    level = curriculum.level(CART)
    if what == "issue":
        curriculum.issue(CART, level, seed, is_grouped=seed % 2 == 0)
        return None
    if what == "begin":
        return curriculum.begin(CART, level, seed, episode_id)
    return curriculum.end(CART, seed, episode_id, outcome, 3)


@given(MOVES)
def test_both_ledgers_agree(moves: list[tuple[str, int, str, Outcome | None]]) -> None:
    database, run = opened()
    memory = MemoryLedger()
    for move in moves:
        with database.transaction():
            assert moved(StoredLedger(database, run), move) == moved(memory, move)
    at_end = StoredLedger(database, run)
    assert at_end.frontier(CART) == memory.frontier(CART)
    assert at_end.ready(CART) == memory.ready(CART)
    assert [at_end.seed(CART, seed) for seed in range(5)] == [memory.seed(CART, seed) for seed in range(5)]
    database.close()


@given(MOVES)
def test_what_is_exported_can_be_put_back(moves: list[tuple[str, int, str, Outcome | None]]) -> None:
    database, run = opened()
    for move in moves:
        moved(StoredLedger(database, run), move)
    forget_live(database)
    exported = export_frontiers(database, run)
    other = RunRows(database).add("other", "", "", b"").id
    for _ in range(2):
        put_frontiers(database, other, exported)
        assert export_frontiers(database, other) == exported
    ledgers = [StoredLedger(database, each) for each in (run, other)]
    assert len({tuple(each.ready(CART)) for each in ledgers}) == 1
    database.close()


def test_live_episodes_are_forgotten_and_their_seeds_judged_by_the_others() -> None:
    database, run = opened()
    curriculum = Curriculum(StoredLedger(database, run))
    for seed in (1, 2, 3):
        curriculum.issue(CART, 0, seed, is_grouped=True)
        for episode_id in "abc":
            curriculum.begin(CART, 0, seed, episode_id)
    curriculum.end(CART, 1, "a", Fraction(1), 20)
    curriculum.end(CART, 1, "b", "left", 20)
    curriculum.end(CART, 2, "a", "left", 20)
    forget_live(database)
    after = StoredLedger(database, run)
    assert after.ready(CART) == [(1, Seed(True, 0, 2, 1, Fraction(1)))]
    assert [after.seed(CART, seed) for seed in (2, 3)] == [Seed(True), Seed(True)]
    assert [after.standing(CART, 1, each) for each in "abc"] == [Fraction(1), "left", None]
    # A second start changes nothing more.
    forget_live(database)
    assert StoredLedger(database, run).ready(CART) == after.ready(CART)
    database.close()


def test_seeds_that_say_nothing_more_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_SEEDS", 10)
    monkeypatch.setattr(stored, "_PRUNED_EVERY", 5)
    database, run = opened()
    ledger = StoredLedger(database, run)
    ledger.put_frontier(CART, Frontier())
    ledger.put_seed(CART, 0, Seed(live=1))
    ledger.put_seed(CART, 1, Seed(counted=1))
    ledger.put_seed(CART, 2, Seed(counted=1, is_judged=True))
    for number in range(3, 101):
        ledger.put_seed(CART, number, Seed())
    kept = [number for (number,) in database.rows("SELECT number FROM seeds ORDER BY number")]
    assert kept == [0, 1, *range(90, 101)]
    database.close()
