"""Recall of what customers want: the opening of an episode as the query, the goal's products as what is to be found.

For CART that is the wanted product itself, for PD and SUB one of the products that fit, for BUNDLE one for each thing
that the opening names. The other environments want nothing of a search at d = 0, or the same in a journey.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.catalog.search.search import passing_rows
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.world.shop import Shop

FIRST = 50
Targets = list[frozenset[int]]
"""For each thing wanted the rows of which one must be found."""


def _cart(_shop: Shop, goal: Any, _opening: str) -> Targets:
    return [frozenset({item.row}) for item in goal.items]


def _fitting(_shop: Shop, goal: Any, _opening: str) -> Targets:
    return [frozenset(goal.fitting.tolist())]


def _bundle(shop: Shop, goal: Any, opening: str) -> Targets:
    found = []
    for need in goal.needs:
        kind = shop.catalog.categories[shop.catalog.category_index[need.category]]
        noun = kind.singular.rpartition(" of ")[2]
        if noun in opening.casefold():
            rows = passing_rows(shop.catalog, [Constraint("category", Op.EQ, need.category), *need.wishes])
            assert rows is not None, "there are constraints"
            found.append(frozenset(rows.tolist()))
    return found


TARGETS: dict[str, Callable[[Shop, Any, str], Targets]] = {
    "BUNDLE": _bundle,
    "CART": _cart,
    "PD": _fitting,
    "SUB": _fitting,
}


def hits(shop: Shop, env_id: str, episodes: int) -> Iterator[bool]:
    """Yield for each thing that the customers of an environment want at d = 0 whether their opening finds it."""
    for seed in range(episodes):
        try:
            episode = Episode(shop, EpisodeSpec(env_id, 0, seed), "relevance")
        except GenerationError:
            continue
        opening = episode.opening.user_message
        found = frozenset(shop.search.rank(opening, None, FIRST).tolist())
        for wanted in TARGETS[env_id](shop, episode.intent.goal, opening):
            yield not found.isdisjoint(wanted)
