"""The goal of PD: constraints drawn from a target product."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.catalog.constraints import Constraint, all_met
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.errand import Errand, Intent, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.parts.constraints import (
    MOST_ALTERNATIVES,
    natural_constraint,
    price_bound,
    usable_counts,
    usable_in_categories,
    usable_names,
    widened,
)
from ecom_rlve.envs.parts.description import facts_of
from ecom_rlve.envs.parts.recommendation import (
    PATIENCE,
    REDRAWS,
    Rows,
    buyable,
    fewest_fitting,
    most_fitting,
    one_stays,
    shelf_stockout,
    target_among,
    targets_in,
)
from ecom_rlve.envs.tasks.product_discovery import preferences
from ecom_rlve.envs.tasks.product_discovery.opening import opening
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_MOST_AIMED_AT = 12
"""If few products fit, the constraints are widened until a drawn number of them do, from the fewest that may to this
one, so that the length of the list matters."""
_FIRST_DRAWS = 15
"""After so many draws of which too few products fit, an equality may have three values: where everything known of a
product counts, two values of each are sometimes met by too few others."""
_ROOM_PER_CONSTRAINT = 4
"""Products that a category must have for each constraint, so that some of them are alike in all."""
_LEAST_TARGETS = 200
"""Target products that a catalog must have at a difficulty to serve it."""


@dataclass(frozen=True, eq=False, slots=True)
class DiscoveryGoal:
    """What the customer wants."""

    category: str
    constraints: tuple[Constraint, ...]
    """All constraints, the one on the price first."""
    priority: str
    """The dimension that matters most to the customer; one of those with a constraint."""
    fitting: Rows
    """Products that meet every constraint, are in stock at the start and do not sell out; ascending, at least one."""
    wanted: int
    """The best of them."""


def intent_in(errand: Errand[DiscoveryGoal], world: World, streams: Streams) -> Intent[DiscoveryGoal]:
    """Draw an intent in a world, with a target of the world's split."""
    shop = world.shop
    constraints, acceptable, redraws = _draw_constraints(world, streams)
    kind = shop.catalog.category_of(int(acceptable[0]))
    stockout, fitting = shelf_stockout(world, kind.name, acceptable)
    dimensions = list(preferences.dimensions_of(constraints))
    priority = dimensions[int(streams.stream("priority").random() * len(dimensions))]
    wanted = preferences.gains(shop.catalog, fitting, constraints, priority).best_rows(1)[0]
    facts = (*facts_of(constraints), preferences.priority_fact(priority))
    world.full_cards = True
    return Intent(
        errand,
        goal=DiscoveryGoal(kind.name, constraints, priority, fitting, wanted),
        world=world,
        subjects=(Subject(kind.singular, kind.plural, kind.name),),
        slots=tuple(Slot(0, fact) for fact in facts),
        streams=streams,
        opening=opening,
        stockout=stockout,
        redraws=redraws,
    )


def highest_difficulty(shop: Shop) -> int:
    levels = [axes_of(d) for d in range(MAX_DIFFICULTY + 1)]
    served = (
        axes.d
        for axes in levels
        if usable_in_categories(shop, axes.m)[_are_roomy(shop, axes.m)].sum() >= _LEAST_TARGETS
    )
    return max(served, default=-1)


def _are_roomy(shop: Shop, m: int) -> NDArray[np.bool_]:
    """Tell for each category whether it is large enough for ``m`` constraints."""
    return shop.category_sizes >= _ROOM_PER_CONSTRAINT * m


def _targets(shop: Shop, m: int) -> RowSet:
    """Return the products from which ``m`` constraints can be drawn, in categories that are large enough."""
    return targets_in(shop, usable_counts(shop), m, _are_roomy(shop, m))


def _draw_constraints(world: World, streams: Streams) -> tuple[tuple[Constraint, ...], Rows, int]:
    """Return constraints that enough products meet, these products, and the number of redraws.

    One of the products does not sell out.
    """
    axes, fewest, most = world.axes, fewest_fitting(world.axes), most_fitting(world.axes)
    spare: tuple[tuple[Constraint, ...], Rows] | None = None
    too_many = 0
    for attempt in range(REDRAWS + 1):
        alternatives = MOST_ALTERNATIVES + (attempt >= _FIRST_DRAWS)
        constraints, fitting = _drawn(world, streams.stream("wishes", attempt), alternatives)
        if len(fitting) < fewest or not one_stays(world, fitting):
            continue
        if len(fitting) <= most:
            return constraints, fitting, attempt
        too_many += 1
        if spare is None or len(fitting) < len(spare[1]):
            spare = constraints, fitting
        if too_many == PATIENCE:
            return *spare, attempt
    if spare is not None:
        return *spare, REDRAWS
    raise GenerationError(
        f"no {axes.m} constraints that {fewest} products meet were found in split {world.split!r} after "
        f"{REDRAWS} redraws; use another seed or a larger catalog"
    )


def _drawn(world: World, rng: Generator, alternatives: int) -> tuple[tuple[Constraint, ...], Rows]:
    """Return the constraints of one draw and the products that meet them; none if no target was found."""
    catalog, axes = world.shop.catalog, world.axes
    targets = world.shop.derive(_targets, axes.m)
    slack, breadth = rng.random(2).tolist()
    target = target_among(world.shop, targets, rng, world.split)
    if target is None:
        return (), np.zeros(0, dtype=np.int32)
    bound = price_bound(int(catalog.column("price").values[target]), axes.d, slack)
    aisle = world.shop.aisle(catalog.category_of(target).name)
    among = all_met(aisle, [bound], buyable(world, aisle))
    names = islice(usable_names(catalog, target, rng), axes.m - 1)
    stated = [natural_constraint(catalog, target, name) for name in names]
    fewest = fewest_fitting(axes)
    enough = fewest + int(breadth * (_MOST_AIMED_AT - fewest + 1))
    wider, fitting = widened(aisle, stated, among, enough, alternatives)
    return (bound, *wider), aisle.rows[fitting]
