"""PD, product discovery: recommend the products that fit a customer's wishes, the preferred ones first (SPEC §6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.constraints import Constraint, all_met, is_satisfied
from ecom_rlve.envs import preferences
from ecom_rlve.envs.constraint_drawing import (
    natural_constraint,
    price_bound,
    usable_counts,
    usable_in_categories,
    usable_names,
    widened,
)
from ecom_rlve.envs.description import facts_of
from ecom_rlve.envs.difficulty import Axes, axes_of
from ecom_rlve.envs.environment import Scenario, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.ranking import Gains
from ecom_rlve.envs.recommendation import (
    PATIENCE,
    REDRAWS,
    Ranking,
    RecommendingEnvironment,
    Rows,
    buyable,
    most_fitting,
    plan_stockout,
    target_among,
    targets_in,
)
from ecom_rlve.envs.row_set import RowSet
from ecom_rlve.envs.shop import Shop
from ecom_rlve.envs.simulator.acts import Act, ActKind, Mention
from ecom_rlve.envs.simulator.nouns import with_article
from ecom_rlve.envs.simulator.templates import bank
from ecom_rlve.envs.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_FEWEST_FITTING = 4
_MOST_AIMED_AT = 12
"""Up to so many products are let in where few fit, so that the length of the list matters; the number is drawn."""
_ROOM_PER_CONSTRAINT = 4
"""Products that a category needs for each constraint, for some to be alike in all of them."""
_LEAST_TARGETS = 200

_OPENING = bank(
    "I'm looking for {item}.",
    "Can you recommend {item}?",
    plain=("I need {item}, what would you suggest?", "I'd like some suggestions for {item}.", "Help me find {item}."),
    terse=("Need {item}.", "Recommend {item}.", "Looking for {item}, suggestions?", "Want {item}."),
    formal=(
        "I would appreciate your recommendations for {item}.",
        "I am looking for {item} and would value your advice.",
        "Could you kindly suggest {item}?",
    ),
    chatty=(
        "I've been meaning to get {item} for ages!",
        "I'd love some ideas for {item}!",
        "Could you help me pick {item}? There is so much choice!",
    ),
)

_BRIEF = (
    "The customer is looking for one kind of product. They have {m} wishes about it, and one thing that matters most "
    "to them: price, rating, delivery time or brand. They may leave out details; ask for what you need to know. "
    "Recommend up to {k} products that fulfil all wishes and are in stock, best first. Of the four things those that a "
    "wish is about count: what matters most weighs 0.7, the others share 0.3 equally. A price is worth 0 at the "
    "customer's limit and 1 at nothing, a rating 0 at the limit and 1 at five stars, a delivery time 0 at the limit "
    "and 1 at one day, and in between in proportion; brands that fit are equal. An answer with done=false proposes: "
    "the customer says whether its first three products fit."
)


@dataclass(frozen=True, eq=False, slots=True)
class DiscoveryGoal:
    """What the customer wants."""

    category: str
    constraints: tuple[Constraint, ...]
    """All of them, the price's first."""
    priority: str
    """The constrained dimension that matters most."""
    fitting: Rows
    """Products that meet every constraint and were in stock at the start, ascending; at least 4."""
    wanted: int
    """The best of them at the start."""


class ProductDiscoveryEnvironment(RecommendingEnvironment[DiscoveryGoal]):
    """Product discovery."""

    id = "PD"
    title = "Product discovery"
    version = "1"
    errand = "my search"

    def brief(self, axes: Axes) -> str:
        return _BRIEF.format(m=axes.m, k=axes.k_rec)

    def max_difficulty(self, shop: Shop) -> int:
        return shop.derive(_max_difficulty)

    def draw_in(self, world: World, streams: Streams) -> Scenario[DiscoveryGoal]:
        return scenario_in(world, streams)

    def opening(self, scenario: Scenario[DiscoveryGoal], said: Collection[Slot]) -> Act:
        subject = scenario.subjects[0]
        facts = tuple(slot.fact for slot in scenario.slots if slot in said)
        mention = Mention(subject.singular, subject.plural, facts)
        return Act(ActKind.OPEN, (mention,), bank=_OPENING, places=(("item", with_article(subject.singular)),))

    def gains(self, scenario: Scenario[DiscoveryGoal], rows: Rows) -> Gains:
        goal = scenario.goal
        return preferences.gains(scenario.world.shop.catalog, rows, goal.constraints, goal.priority)

    def required(self, goal: DiscoveryGoal) -> Sequence[Constraint]:
        return goal.constraints

    def judge(self, scenario: Scenario[DiscoveryGoal], ranking: Ranking) -> tuple[Fraction, bool]:
        goal, first = scenario.goal, ranking.rows[0]
        catalog = scenario.world.shop.catalog
        met = 0
        if first is not None and catalog.category_of(first).name == goal.category:
            met = sum(is_satisfied(catalog, constraint, first) for constraint in goal.constraints)
        share = Fraction(met, len(goal.constraints)) ** (4 + scenario.world.axes.d // 4)
        r_task = (
            Fraction(55, 100) * (2 * ranking.ndcg - 1)
            + Fraction(45, 100) * (2 * share - 1)
            - Fraction(10, 100) * ranking.out_of_stock
        )
        fits = met == len(goal.constraints) and first is not None and scenario.world.stock(first) > 0
        return r_task, fits and ranking.ndcg >= Fraction(90, 100)

    def goal_json(self, scenario: Scenario[DiscoveryGoal]) -> dict[str, Any]:
        goal = scenario.goal
        return {
            "category": goal.category,
            "constraints": [[c.attribute, c.op.value, c.value] for c in goal.constraints],
            "priority": goal.priority,
            "recommended_product_ids": self.best_ids(scenario),
        }


def scenario_in(world: World, streams: Streams) -> Scenario[DiscoveryGoal]:
    """Draw a scenario in a world, with a target of the world's split."""
    shop, axes = world.shop, world.axes
    constraints, fitting, redraws = _draw_constraints(world, streams)
    kind = shop.catalog.category_of(int(fitting[0]))
    dimensions = list(preferences.dimensions_of(constraints))
    priority = dimensions[int(streams.stream("priority").random() * len(dimensions))]
    wanted = preferences.gains(shop.catalog, fitting, constraints, priority).best_rows(1)[0]
    facts = (*facts_of(constraints), preferences.priority_fact(priority))
    world.full_cards = True
    return Scenario(
        goal=DiscoveryGoal(kind.name, constraints, priority, fitting, wanted),
        world=world,
        subjects=(Subject(kind.singular, kind.plural, kind.name),),
        slots=tuple(Slot(0, fact) for fact in facts),
        stockout=plan_stockout(axes, streams.stream("stockout plan")),
        redraws=redraws,
    )


def _max_difficulty(shop: Shop) -> int:
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
    """Return the products from which ``m`` constraints can be drawn, in categories that are large enough for them."""
    return targets_in(shop, usable_counts(shop), m, _are_roomy(shop, m))


def _draw_constraints(world: World, streams: Streams) -> tuple[tuple[Constraint, ...], Rows, int]:
    """Return constraints that at least 4 products meet, these products, and the number of redraws."""
    axes, most = world.axes, most_fitting(world.axes)
    spare: tuple[tuple[Constraint, ...], Rows] | None = None
    too_many = 0
    for attempt in range(REDRAWS + 1):
        constraints, fitting = _drawn(world, streams.stream("wishes", attempt))
        if _FEWEST_FITTING <= len(fitting) <= most:
            return constraints, fitting, attempt
        if len(fitting) > most:
            too_many += 1
            if spare is None or len(fitting) < len(spare[1]):
                spare = constraints, fitting
        if spare is not None and (too_many == PATIENCE or attempt == REDRAWS):
            return *spare, attempt
    raise GenerationError(
        f"no {axes.m} constraints that {_FEWEST_FITTING} products meet were found in split {world.split!r} after "
        f"{REDRAWS} redraws; use another seed or a larger catalog"
    )


def _drawn(world: World, rng: Generator) -> tuple[tuple[Constraint, ...], Rows]:
    """Return the constraints of one draw and who meets them; nobody where no target of the split was found."""
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
    enough = _FEWEST_FITTING + int(breadth * (_MOST_AIMED_AT - _FEWEST_FITTING + 1))
    wider, fitting = widened(aisle, stated, among, enough)
    return (bound, *wider), aisle.rows[fitting]


ENVIRONMENT = ProductDiscoveryEnvironment()
