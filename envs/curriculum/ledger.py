"""What a curriculum knows, as plain values, and where it keeps them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol

from ecom_rlve.models import Format, Style

Key = tuple[str, Style, Format]
"""Environment, style and how raw text is read: neither styles nor formats are ever mixed."""

Outcome = Fraction | Literal["left"]
"""How an episode ended: its correctness in [0, 1], or ``left``: it was given up without a result."""
Standing = Outcome | Literal["live"]
"""The same for an episode that may still be played."""

MOST_DENOMINATOR = 60
"""Correctness is exact for shares of one to five errands, and rounded to such a fraction otherwise, so that sums over
thousands of episodes stay short."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """Where one environment stands in one style and format."""

    level: int = 0
    """The highest difficulty that is drawn."""
    passes: int = 0
    """Gates that passed in a row at this level."""


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed that was drawn at the frontier, with what became of its episodes."""

    is_grouped: bool = False
    """It is the seed of a group."""
    live: int = 0
    """Episodes that are being played."""
    counted: int = 0
    """Episodes that ended or were given up."""
    ended: int = 0
    """Those of them that ended with a result."""
    correct: Fraction = Fraction(0)
    """Sum of their correctness."""
    is_judged: bool = False

    @property
    def is_ready(self) -> bool:
        """Whether the next gate judges it."""
        return not self.is_judged and self.live == 0 and self.counted > 0

    @property
    def is_dropped(self) -> bool:
        """Whether it is a whole group that was given up, which says nothing about the policy."""
        return self.is_grouped and self.is_ready and self.ended == 0

    @property
    def mean(self) -> Fraction:
        """Mean correctness of the counted episodes, of which there must be one."""
        return self.correct / self.counted

    def with_outcome(self, outcome: Outcome) -> Seed:
        """Return the seed with one more counted episode."""
        if outcome == "left":
            return replace(self, counted=self.counted + 1)
        return replace(self, counted=self.counted + 1, ended=self.ended + 1, correct=self.correct + outcome)


class Ledger(Protocol):
    """Where the frontiers of one run are kept, with the seeds of each level in progress and their episodes."""

    def frontier(self, key: Key) -> Frontier:
        """Return a frontier; the first level where none is kept."""

    def put_frontier(self, key: Key, frontier: Frontier) -> None:
        """Keep a frontier."""

    def seed(self, key: Key, number: int) -> Seed | None:
        """Return a seed of the level in progress."""

    def put_seed(self, key: Key, number: int, seed: Seed) -> None:
        """Keep a seed."""

    def count_ready(self, key: Key) -> int:
        """Return the number of ready seeds."""

    def ready(self, key: Key) -> list[tuple[int, Seed]]:
        """Return the ready seeds, in order."""

    def standing(self, key: Key, number: int, episode_id: str) -> Standing | None:
        """Return how an episode of a seed stands; None if none of this id is known."""

    def put_standing(self, key: Key, number: int, episode_id: str, standing: Standing | None) -> None:
        """Keep how an episode stands; None forgets it."""

    def forget_episodes(self, key: Key, number: int) -> None:
        """Forget the episodes of a seed."""

    def forget_seeds(self, key: Key) -> None:
        """Forget all seeds of a frontier, with their episodes."""


class MemoryLedger:
    """A ledger that lives as long as its process."""

    def __init__(self) -> None:
        self._frontiers: dict[Key, Frontier] = {}
        self._seeds: defaultdict[Key, dict[int, Seed]] = defaultdict(dict)
        self._ready: defaultdict[Key, set[int]] = defaultdict(set)
        self._episodes: defaultdict[tuple[Key, int], dict[str, Standing]] = defaultdict(dict)

    def frontier(self, key: Key) -> Frontier:
        """Return a frontier."""
        return self._frontiers.get(key, Frontier())

    def put_frontier(self, key: Key, frontier: Frontier) -> None:
        """Keep a frontier."""
        self._frontiers[key] = frontier

    def seed(self, key: Key, number: int) -> Seed | None:
        """Return a seed."""
        return self._seeds[key].get(number)

    def put_seed(self, key: Key, number: int, seed: Seed) -> None:
        """Keep a seed."""
        self._seeds[key][number] = seed
        if seed.is_ready:
            self._ready[key].add(number)
        else:
            self._ready[key].discard(number)

    def count_ready(self, key: Key) -> int:
        """Return the number of ready seeds."""
        return len(self._ready[key])

    def ready(self, key: Key) -> list[tuple[int, Seed]]:
        """Return the ready seeds, in order."""
        return [(number, self._seeds[key][number]) for number in sorted(self._ready[key])]

    def standing(self, key: Key, number: int, episode_id: str) -> Standing | None:
        """Return how an episode stands."""
        return self._episodes[key, number].get(episode_id)

    def put_standing(self, key: Key, number: int, episode_id: str, standing: Standing | None) -> None:
        """Keep how an episode stands."""
        if standing is None:
            self._episodes[key, number].pop(episode_id, None)
        else:
            self._episodes[key, number][episode_id] = standing

    def forget_episodes(self, key: Key, number: int) -> None:
        """Forget the episodes of a seed."""
        self._episodes.pop((key, number), None)

    def forget_seeds(self, key: Key) -> None:
        """Forget all seeds of a frontier."""
        self._ready.pop(key, None)
        for number in self._seeds.pop(key, {}):
            self.forget_episodes(key, number)
