"""PD, product discovery: recommend the products that fit a customer's wishes, the preferred ones first (SPEC §6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

from ecom_rlve.catalog.constraints import Constraint, is_satisfied
from ecom_rlve.envs.about import About
from ecom_rlve.envs.customer.hearing.nouns import with_article
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank
from ecom_rlve.envs.parts.recommendation import (
    TOOL_NAMES,
    Ranking,
    RecommendationAnswer,
    RecommendingEnvironment,
    Rows,
)
from ecom_rlve.envs.parts.scores import Gains
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.tasks.product_discovery import preferences
from ecom_rlve.envs.tasks.product_discovery.goal import DiscoveryGoal, highest_difficulty, scenario_in
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

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


class ProductDiscoveryEnvironment(RecommendingEnvironment[DiscoveryGoal]):
    """Product discovery."""

    about = About(
        id="PD",
        title="Product discovery",
        version="1",
        called="my search",
        tool_names=TOOL_NAMES,
        answer=RecommendationAnswer,
        axes=("m", "p_missing", "eps_rank", "p_oos", "t_max", "p_noise", "top_k", "b_tool", "k_rec"),
        needs="200 products of which two properties are known, in leaf categories with eight products or more",
    )

    def brief(self, axes: Axes) -> str:
        return _BRIEF.format(m=axes.m, k=axes.k_rec)

    def max_difficulty(self, shop: Shop) -> int:
        return shop.derive(highest_difficulty)

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


ENVIRONMENT = ProductDiscoveryEnvironment()
