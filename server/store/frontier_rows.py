"""All frontiers of a run at once: what is told of them, exported, and put in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from ecom_rlve.envs.curriculum.ledger import Frontier, Key, Seed
from ecom_rlve.run_models import ExportedFrontier, ExportedSeed, FrontierState
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.ledger import StoredLedger, standing_of

_READY = "is_judged = 0 AND live = 0 AND counted > 0"


def frontiers_of(database: Database, run: int) -> list[FrontierState]:
    """Return what is told of each frontier of the run with this row, in order."""
    return [_told(database, frontier, key, at) for frontier, key, at in _frontiers(database, run)]


def export_frontiers(database: Database, run: int) -> list[ExportedFrontier]:
    """Return each frontier with everything that was counted at its level, in order."""
    return [
        ExportedFrontier(
            env_id=key[0],
            style=key[1],
            format=key[2],
            level=at.level,
            passes=at.passes,
            seeds=list(_seeds(database, frontier)),
            judged=[
                number
                for (number,) in database.rows(
                    "SELECT number FROM seeds WHERE frontier = ? AND is_judged = 1 ORDER BY number", (frontier,)
                )
            ],
        )
        for frontier, key, at in _frontiers(database, run)
    ]


def put_frontiers(database: Database, run: int, frontiers: Iterable[ExportedFrontier]) -> None:
    """Put frontiers in the place of those with the same key. Episodes that are live at an equal level stay live."""
    ledger = StoredLedger(database, run)
    for frontier in frontiers:
        key: Key = (frontier.env_id, frontier.style, frontier.format)
        if ledger.frontier(key).level != frontier.level:
            ledger.forget_seeds(key)
        ledger.put_frontier(key, Frontier(frontier.level, frontier.passes))
        for each in frontier.seeds:
            _put_seed(ledger, key, each)
        for number in frontier.judged:
            known = ledger.seed(key, number) or Seed()
            ledger.put_seed(key, number, Seed(known.is_grouped, is_judged=True))
            ledger.forget_episodes(key, number)


def _put_seed(ledger: StoredLedger, key: Key, exported: ExportedSeed) -> None:
    known = ledger.seed(key, exported.seed) or Seed()
    live = known.live
    outcomes = {episode_id: standing_of(text) for episode_id, text in exported.episodes.items()}
    ledger.put_seed(key, exported.seed, Seed(exported.is_grouped))
    seed = Seed(exported.is_grouped)
    for episode_id, outcome in outcomes.items():
        if ledger.standing(key, exported.seed, episode_id) == "live":
            live -= 1
        if outcome != "live":
            seed = seed.with_outcome(outcome)
        ledger.put_standing(key, exported.seed, episode_id, outcome)
    if seed.is_dropped and not live:
        ledger.forget_episodes(key, exported.seed)
        seed = Seed(is_grouped=True)
    ledger.put_seed(key, exported.seed, Seed(seed.is_grouped, live, seed.counted, seed.ended, seed.correct))


def _frontiers(database: Database, run: int) -> list[tuple[int, Key, Frontier]]:
    rows = database.rows(
        "SELECT id, env_id, style, format, level, passes FROM frontiers WHERE run = ? ORDER BY env_id, style, format",
        (run,),
    )
    return [(row[0], (row[1], row[2], row[3]), Frontier(row[4], row[5])) for row in rows]


def _told(database: Database, frontier: int, key: Key, at: Frontier) -> FrontierState:
    (live,) = database.row("SELECT count(*) FROM seeds WHERE frontier = ? AND live > 0", (frontier,))
    ready = database.rows(f"SELECT correct, counted FROM seeds WHERE frontier = ? AND {_READY}", (frontier,))
    means = [Fraction(correct) / counted for correct, counted in ready]
    return FrontierState(
        env_id=key[0],
        style=key[1],
        format=key[2],
        level=at.level,
        passes=at.passes,
        ready_seeds=len(means),
        live_seeds=live,
        mean=float(sum(means, Fraction(0)) / len(means)) if means else None,
    )


def _seeds(database: Database, frontier: int) -> Iterator[ExportedSeed]:
    seeds = database.rows(
        "SELECT id, number, is_grouped FROM seeds WHERE frontier = ? AND is_judged = 0 ORDER BY number", (frontier,)
    )
    for row, number, is_grouped in seeds:
        episodes = database.rows(
            "SELECT id, standing FROM episodes WHERE seed = ? AND standing != 'live' ORDER BY id", (row,)
        )
        yield ExportedSeed(seed=number, is_grouped=bool(is_grouped), episodes=dict(episodes))
