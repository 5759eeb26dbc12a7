"""PD, product discovery: recommend products that meet a customer's wishes, the preferred ones first (SPEC §6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ecom_rlve.catalog.constraints import Constraint, is_satisfied
from ecom_rlve.envs.about import About
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.parts.recommendation import (
    TOOL_NAMES,
    Ranking,
    RecommendationAnswer,
    RecommendingEnvironment,
    Rows,
    fits,
)
from ecom_rlve.envs.parts.scores import Gains
from ecom_rlve.envs.scenario import Scenario, single
from ecom_rlve.envs.tasks.product_discovery import preferences
from ecom_rlve.envs.tasks.product_discovery.draft import LEAST_NDCG
from ecom_rlve.envs.tasks.product_discovery.goal import DiscoveryGoal, highest_difficulty, intent_in
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

_BRIEF = (
    "The customer is looking for one kind of product. They have {m} wishes about it, and one thing that matters most "
    "to them: price, rating, delivery time or brand. They may leave out details; ask for what you need to know. They "
    "may change their mind about a wish: what they said last counts. "
    "Recommend up to {k} products that fulfil all wishes and are in stock, best first. Of the four things those that a "
    "wish is about count: what matters most weighs 0.7, the others share 0.3 equally. A price is worth 0 at the "
    "customer's limit and 1 at nothing, a rating 0 at the limit and 1 at five stars, a delivery time 0 at the limit "
    "and 1 at one day, and in between in proportion; brands that fit are equal. An answer with done=false proposes: "
    "the customer says whether its first three products fit."
)


class ProductDiscoveryEnvironment(RecommendingEnvironment[DiscoveryGoal]):
    """Product discovery."""

    about = About(
        id="PD",
        title="Product discovery",
        version="5",
        called="my search",
        tool_names=TOOL_NAMES,
        answer=RecommendationAnswer,
        axes=("m", "p_missing", "eps_rank", "p_oos", "t_max", "p_noise", "p_switch", "top_k", "b_tool", "k_rec"),
        needs=(
            "five products of each split of which two properties are known, in leaf categories with eight products or "
            "more, no more than half of a split's in one that has fewer than 80"
        ),
    )

    def brief(self, axes: Axes) -> str:
        return _BRIEF.format(m=axes.m, k=axes.k_rec)

    def max_difficulty(self, shop: Shop) -> int:
        return shop.derive(highest_difficulty)

    def draw(self, world: World, streams: Streams) -> Scenario:
        return single(intent_in(self, world, streams))

    def gains(self, intent: Intent[DiscoveryGoal], rows: Rows) -> Gains:
        goal = intent.goal
        return preferences.gains(intent.world.shop.catalog, rows, goal.constraints, goal.priority)

    def required(self, goal: DiscoveryGoal) -> Sequence[Constraint]:
        return goal.constraints

    def judge(self, intent: Intent[DiscoveryGoal], ranking: Ranking) -> tuple[Fraction, bool]:
        goal, first = intent.goal, ranking.rows[0]
        catalog = intent.world.shop.catalog
        met = 0
        if first is not None and catalog.category_of(first).name == goal.category:
            met = sum(is_satisfied(catalog, constraint, first) for constraint in goal.constraints)
        share = Fraction(met, len(goal.constraints)) ** (4 + intent.world.axes.d // 4)
        r_task = (
            Fraction(55, 100) * (2 * ranking.ndcg - 1)
            + Fraction(45, 100) * (2 * share - 1)
            - Fraction(10, 100) * ranking.out_of_stock
        )
        is_first_fitting = first is not None and fits(intent, first)
        return r_task, is_first_fitting and ranking.ndcg >= LEAST_NDCG

    def goal_json(self, intent: Intent[DiscoveryGoal]) -> dict[str, Any]:
        goal = intent.goal
        return {
            "category": goal.category,
            "constraints": [[c.attribute, c.op.value, c.value] for c in goal.constraints],
            "priority": goal.priority,
            "recommended_product_ids": self.best_ids(intent),
        }


ENVIRONMENT = ProductDiscoveryEnvironment()
