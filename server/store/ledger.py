"""The ledger of one run's curriculum in the store. Every call is one or two statements on indexed rows."""

from __future__ import annotations

from fractions import Fraction

from ecom_rlve.envs.curriculum.ledger import Frontier, Key, Seed, Standing
from ecom_rlve.server.store.database import Database

MOST_SEEDS = 100_000
"""Seeds of one level that are kept, a hundred times more than live episodes. If there are more, the oldest of those
that are judged, or that nobody has begun, are forgotten; what comes back of them later is not counted."""
_PRUNED_EVERY = 1_000
_SEED = "is_grouped, live, counted, ended, correct, is_judged"


class StoredLedger:
    """A ledger over the tables, for one transaction: what it has read or written it need not read again."""

    def __init__(self, database: Database, run: int) -> None:
        """``run`` is the run's row."""
        self._database = database
        self._run = run
        self._ids: dict[Key, int] = {}
        self._frontiers: dict[Key, Frontier] = {}
        self._seed_ids: dict[tuple[Key, int], int] = {}
        self._seeds: dict[tuple[Key, int], Seed | None] = {}

    def frontier(self, key: Key) -> Frontier:
        """Return a frontier."""
        if key in self._frontiers:
            return self._frontiers[key]
        row = self._database.row(
            "SELECT id, level, passes FROM frontiers WHERE run = ? AND env_id = ? AND style = ? AND format = ?",
            (self._run, *key),
        )
        if row is None:
            found = Frontier()
        else:
            self._ids[key], found = row[0], Frontier(row[1], row[2])
        self._frontiers[key] = found
        return found

    def put_frontier(self, key: Key, frontier: Frontier) -> None:
        """Keep a frontier."""
        self._frontiers[key] = frontier
        (self._ids[key],) = self._database.row(
            "INSERT INTO frontiers (run, env_id, style, format, level, passes) VALUES (?, ?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET level = excluded.level, passes = excluded.passes RETURNING id",
            (self._run, *key, frontier.level, frontier.passes),
        )

    def seed(self, key: Key, number: int) -> Seed | None:
        """Return a seed."""
        if (key, number) in self._seeds:
            return self._seeds[key, number]
        found = self._seeds[key, number] = self._read_seed(key, number)
        return found

    def put_seed(self, key: Key, number: int, seed: Seed) -> None:
        """Keep a seed."""
        self._seeds[key, number] = seed
        values = (seed.is_grouped, seed.live, seed.counted, seed.ended, str(seed.correct), seed.is_judged)
        known = self._seed_ids.get((key, number))
        if known is not None:
            self._database.row(
                "UPDATE seeds SET is_grouped = ?, live = ?, counted = ?, ended = ?, correct = ?, is_judged = ? "
                "WHERE id = ?",
                (*values, known),
            )
            return
        if self._frontier_id(key) is None:
            self.put_frontier(key, Frontier())
        (row,) = self._database.row(
            f"INSERT INTO seeds (frontier, number, {_SEED}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id",
            (self._ids[key], number, *values),
        )
        self._seed_ids[key, number] = row
        if row % _PRUNED_EVERY == 0:
            self._prune(self._ids[key])

    def count_ready(self, key: Key) -> int:
        """Return the number of ready seeds."""
        (ready,) = self._database.row(
            "SELECT count(*) FROM seeds WHERE frontier = ? AND is_judged = 0 AND live = 0 AND counted > 0",
            (self._frontier_id(key),),
        )
        return int(ready)

    def ready(self, key: Key) -> list[tuple[int, Seed]]:
        """Return the ready seeds, in order."""
        rows = self._database.rows(
            f"SELECT id, number, {_SEED} FROM seeds "
            "WHERE frontier = ? AND is_judged = 0 AND live = 0 AND counted > 0 ORDER BY number",
            (self._frontier_id(key),),
        )
        for row in rows:
            self._seed_ids[key, row[1]] = row[0]
        return [(row[1], _seed(row[2:])) for row in rows]

    def standing(self, key: Key, number: int, episode_id: str) -> Standing | None:
        """Return how an episode stands."""
        row = self._database.row(
            "SELECT standing FROM episodes WHERE seed = ? AND id = ?", (self._seed_id(key, number), episode_id)
        )
        return None if row is None else standing_of(row[0])

    def put_standing(self, key: Key, number: int, episode_id: str, standing: Standing | None) -> None:
        """Keep how an episode stands."""
        seed = self._seed_id(key, number)
        if standing is None:
            self._database.row("DELETE FROM episodes WHERE seed = ? AND id = ?", (seed, episode_id))
            return
        self._database.row(
            "INSERT INTO episodes (seed, id, standing) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET standing = excluded.standing",
            (seed, episode_id, str(standing)),
        )

    def forget_episodes(self, key: Key, number: int) -> None:
        """Forget the episodes of a seed."""
        self._database.row("DELETE FROM episodes WHERE seed = ?", (self._seed_id(key, number),))

    def forget_seeds(self, key: Key) -> None:
        """Forget all seeds of a frontier."""
        self._database.row("DELETE FROM seeds WHERE frontier = ?", (self._frontier_id(key),))
        for each in [known for known in (*self._seed_ids, *self._seeds) if known[0] == key]:
            self._seed_ids.pop(each, None)
            self._seeds.pop(each, None)

    def _read_seed(self, key: Key, number: int) -> Seed | None:
        frontier = self._frontier_id(key)
        if frontier is None:
            return None
        row = self._database.row(f"SELECT id, {_SEED} FROM seeds WHERE frontier = ? AND number = ?", (frontier, number))
        if row is None:
            return None
        self._seed_ids[key, number] = row[0]
        return _seed(row[1:])

    def _frontier_id(self, key: Key) -> int | None:
        if key not in self._ids:
            self.frontier(key)
        return self._ids.get(key)

    def _seed_id(self, key: Key, number: int) -> int | None:
        if (key, number) not in self._seed_ids:
            self.seed(key, number)
        return self._seed_ids.get((key, number))

    def _prune(self, frontier: int) -> None:
        self._database.row(
            "DELETE FROM seeds WHERE frontier = ?1 AND (is_judged = 1 OR (live = 0 AND counted = 0)) AND id <= "
            "(SELECT id FROM seeds WHERE frontier = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
            (frontier, MOST_SEEDS),
        )


def forget_live(database: Database) -> None:
    """Forget the episodes that were live when the last server ended and that the journal does not hold.

    They are lost through no fault of the policy. Their seeds may become ready by their other episodes. A group that has
    no result left is dropped.
    """
    with database.transaction():
        database.row(
            "DELETE FROM episodes WHERE standing = 'live' AND NOT EXISTS (SELECT 1 FROM played "
            "JOIN frontiers ON frontiers.run = played.run_row JOIN seeds ON seeds.frontier = frontiers.id "
            "WHERE played.episode_id = episodes.id AND played.state = 'live' AND seeds.id = episodes.seed)"
        )
        database.row(
            "UPDATE seeds SET live = (SELECT count(*) FROM episodes WHERE seed = seeds.id AND standing = 'live') "
            "WHERE live > 0"
        )
        dropped = "is_grouped = 1 AND is_judged = 0 AND live = 0 AND counted > 0 AND ended = 0"
        database.row(f"DELETE FROM episodes WHERE seed IN (SELECT id FROM seeds WHERE {dropped})")
        database.row(f"UPDATE seeds SET counted = 0, correct = '0' WHERE {dropped}")


def standing_of(text: str) -> Standing:
    """Return how an episode stands, from its text in the table."""
    if text == "live":
        return "live"
    return "left" if text == "left" else Fraction(text)


def _seed(row: tuple[int, int, int, int, str, int]) -> Seed:
    is_grouped, live, counted, ended, correct, is_judged = row
    return Seed(bool(is_grouped), live, counted, ended, Fraction(correct), bool(is_judged))
