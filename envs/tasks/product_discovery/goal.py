"""The goal of PD: constraints drawn from a target product."""

from __future__ import annotations

from dataclasses import dataclass

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
    """All constraints, the one on the price first; another one is on rating, delivery or brand."""
    priority: str
    """The dimension that matters most to the customer; one of those with a constraint."""
    fitting: Rows
    """Products that meet every constraint, are in stock at the start and do not sell out; ascending, at least one."""
    wanted: int
    """The best of them."""


def intent_in(errand: Errand[DiscoveryGoal], world: World, streams: Streams) -> Intent[DiscoveryGoal]:
    """Draw an intent in a world, with a target of the world's split."""
    shop = world.shop
    constraints, acceptable, priority, redraws = _draw_constraints(world, streams)
    kind = shop.catalog.category_of(int(acceptable[0]))
    stockout, fitting = shelf_stockout(world, kind.name, acceptable)
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


@dataclass(frozen=True, eq=False, slots=True)
class _Draft:
    constraints: tuple[Constraint, ...]
    fitting: Rows
    priority: str


def _draw_constraints(world: World, streams: Streams) -> tuple[tuple[Constraint, ...], Rows, str, int]:
    """Return constraints that enough products meet, these products, the top priority, and the number of redraws.

    One of the products does not sell out.
    """
    axes, fewest, most = world.axes, fewest_fitting(world.axes), most_fitting(world.axes)
    spare: _Draft | None = None
    too_many = 0
    # Drawn once: draws that are given up sooner would make some priorities rarer than others.
    valued = float(streams.stream("priority").random())
    for attempt in range(REDRAWS + 1):
        alternatives = MOST_ALTERNATIVES + (attempt >= _FIRST_DRAWS)
        draft = _drawn(world, streams.stream("wishes", attempt), valued, alternatives)
        if draft is None or len(draft.fitting) < fewest or not one_stays(world, draft.fitting):
            continue
        if len(draft.fitting) <= most:
            return draft.constraints, draft.fitting, draft.priority, attempt
        too_many += 1
        spare = draft if spare is None or len(draft.fitting) < len(spare.fitting) else spare
        if too_many == PATIENCE:
            return spare.constraints, spare.fitting, spare.priority, attempt
    if spare is not None:
        return spare.constraints, spare.fitting, spare.priority, REDRAWS
    raise GenerationError(
        f"no {axes.m} constraints that {fewest} products meet were found in split {world.split!r} after "
        f"{REDRAWS} redraws; use another seed or a larger catalog"
    )


def _drawn(world: World, rng: Generator, valued: float, alternatives: int) -> _Draft | None:
    """Return the constraints of one draw and the products that meet them; None if no target was found.

    ``valued`` in [0, 1) chooses the top priority.
    """
    catalog, axes = world.shop.catalog, world.axes
    targets = world.shop.derive(_targets, axes.m)
    slack, breadth = rng.random(2).tolist()
    target = target_among(world.shop, targets, rng, world.split)
    if target is None:
        return None
    bound = price_bound(int(catalog.column("price").values[target]), axes.d, slack)
    aisle = world.shop.aisle(catalog.category_of(target).name)
    among = all_met(aisle, [bound], buyable(world, aisle))
    names, priority = _names_and_priority(list(usable_names(catalog, target, rng)), axes.m - 1, valued)
    stated = [natural_constraint(catalog, target, name) for name in names]
    fewest = fewest_fitting(axes)
    enough = fewest + int(breadth * (_MOST_AIMED_AT - fewest + 1))
    wider, fitting = widened(aisle, stated, among, enough, alternatives)
    return _Draft((bound, *wider), aisle.rows[fitting], priority)


def _names_and_priority(usable: list[str], count: int, draw: float) -> tuple[list[str], str]:
    """Return ``count`` of the usable names, which are in random order, and the top priority.

    ``draw`` in [0, 1) chooses the priority among price and the dimensions that can be constrained, each as likely. It
    is constrained, and so is at least one other dimension: the price always is.
    """
    others = [name for name in usable if name in preferences.DIMENSIONS]
    dimensions = [name for name in preferences.DIMENSIONS if name == "price" or name in others]
    priority = dimensions[int(draw * len(dimensions))]
    constrained = others[0] if priority == "price" and others else priority
    return sorted(usable, key=lambda name: name != constrained)[:count], priority
