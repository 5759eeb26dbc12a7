"""What a project needs: kinds of things, the requirements for each, and which products meet them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.constraints import Constraint, all_satisfied, is_satisfied
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.tasks.bundle.projects import Project, is_offered, mixed_project, offered, projects
from ecom_rlve.envs.tasks.bundle.wishes import draw_wishes
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import ProductCoins
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Split
from ecom_rlve.streams import Streams, in_random_order

_REDRAWS = 50
_REDRAWS_OF_THEMES = 25
"""After so many redraws any kinds are taken: in a small catalog a theme may have too few products of the split."""
_TRIES = 64


@dataclass(frozen=True, slots=True)
class Need:
    """One kind of thing that the project needs."""

    category: str
    wishes: tuple[Constraint, ...]
    """Conditions that every acceptable product meets, besides being in stock at a known price."""
    cheapest: int
    """Row of the cheapest acceptable product that does not sell out."""


def draw_needs(world: World, count: int, streams: Streams) -> tuple[Project, tuple[Need, ...], ProductCoins, int]:
    """Return a project, ``count`` needs of it, the coins of the kind of which products sell out, and the redraws.

    Each need is drawn around a product of the world's split. Of the kind whose products sell out, one that meets the
    need does not. Raises ``GenerationError`` after 50 redraws.
    """
    shop, things, wishes = world.shop, streams.stream("things"), streams.stream("wishes")
    item = int(streams.stream("stock-out kind").integers(count))
    redraws = 0
    while True:
        project, anchors, failed = _draw_things(shop, count, things, world.split, _REDRAWS - redraws)
        redraws += failed
        coins = ProductCoins(world, anchors[item][0])
        drafts = [_fitting(shop, kind, row, wishes_at(world.axes.m), wishes) for kind, row in anchors]
        drafts[item] = (drafts[item][0], coins.standing(drafts[item][1]))
        if len(drafts[item][1]):
            needs = (
                Need(kind, wanted, int(rows[0])) for (kind, _), (wanted, rows) in zip(anchors, drafts, strict=True)
            )
            return project, tuple(needs), coins, redraws
        redraws += 1


def _draw_things(
    shop: Shop, count: int, rng: Generator, split: Split, most: int
) -> tuple[Project, list[tuple[str, int]], int]:
    """Return a project, ``count`` of its kinds, each with a product of the split, and the number of redraws."""
    choices = projects(shop, count)
    redraws = 0
    while choices and redraws < most:
        project = choices[int(rng.integers(len(choices)))] if redraws < _REDRAWS_OF_THEMES else mixed_project(shop)
        drawn: list[tuple[str, int]] = []
        for at in in_random_order(rng, len(project.kinds)):
            kind = project.kinds[at]
            row = _anchor(shop, kind, rng, split)
            if row is None:
                redraws += 1
                continue
            drawn.append((kind, row))
            if len(drawn) == count:
                return project, drawn, redraws
    raise GenerationError(
        f"no project with {count} kinds of things in split {split!r} was found after {_REDRAWS} redraws; use another "
        "seed or a larger catalog"
    )


def _anchor(shop: Shop, kind: str, rng: Generator, split: Split) -> int | None:
    """Return a random product of a kind that is on offer and in the split; None if 64 tries find none."""
    rows, places = shop.aisle(kind).rows, offered(shop, kind)
    tried = (int(rows[places[at]]) for at in rng.integers(len(places), size=_TRIES).tolist())
    return next((row for row in tried if shop.split(row) == split), None)


def _fitting(
    shop: Shop, kind: str, anchor: int, count: int, rng: Generator
) -> tuple[tuple[Constraint, ...], NDArray[np.int32]]:
    """Return ``count`` wishes that the product ``anchor`` meets, and the products that meet them, cheapest first."""
    aisle, places = shop.aisle(kind), offered(shop, kind)
    on_offer = np.zeros(len(aisle), dtype=np.bool_)
    on_offer[places] = True
    wishes, fitting = draw_wishes(shop, anchor, aisle, on_offer, count, rng)
    return wishes, aisle.rows[places[fitting[places]]]


def wishes_at(m: int) -> int:
    """Return the number of wishes for each kind, given axis 1: 2 + (m - 2) // 4, at least 2.

    With one wish for each of two things, a table of the products that meet most wishes would be right in 1 % of
    episodes without reading any.

    >>> [wishes_at(m) for m in (2, 3, 5, 6, 8, 12)]
    [2, 2, 2, 3, 3, 4]
    """
    return 2 + max(0, m - 2) // 4


def acceptable(world: World, need: Need) -> NDArray[np.int32]:
    """Return the products that meet a need and have not sold out, cheapest first."""
    aisle = world.shop.aisle(need.category)
    rows = aisle.rows[all_satisfied(aisle, need.wishes, offered(world.shop, need.category))]
    return np.asarray(rows[~np.isin(rows, list(world.sold_out))] if world.sold_out else rows)


def is_acceptable(world: World, need: Need, row: int) -> bool:
    """Tell whether a product meets a need and has not sold out."""
    catalog = world.shop.catalog
    return (
        catalog.category_of(row).name == need.category
        and row not in world.sold_out
        and is_offered(catalog, row)
        and all(is_satisfied(catalog, wish, row) for wish in need.wishes)
    )
