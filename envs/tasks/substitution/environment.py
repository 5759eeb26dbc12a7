"""SUB, substitution: a product is sold out; recommend compatible products that come closest (SPEC §6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ecom_rlve.catalog.constraints import Constraint
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
from ecom_rlve.envs.tasks.substitution.goal import (
    SubstitutionGoal,
    highest_difficulty,
    intent_in,
    pool_gains,
    similarity_weight,
)
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

_BRIEF = (
    "The product that the customer wants is sold out. Recommend up to {k} substitutes of its category that are in "
    "stock, best first. They may leave out details; ask for what you need to know. They have {m} wishes in all. What "
    "they want to keep, or to be the same, is required: a product without it, or the original itself, is worth "
    "nothing. The other wishes are preferences. A product is worth {similarity}·similarity + {wishes}·(share of "
    "preferences met). Similarity is the mean over the price and the attributes that the original's card shows: 1 for "
    "an equal word and 0 for another, 1 − |difference| / (greatest − least in the category) for a price or a number, "
    "0 for what the substitute lacks; brand, rating and delivery time are no attributes. It is scaled from 0 for the "
    "least similar to 1 for the most similar of the products that are worth something. Searches with a category show "
    "its attributes and ranges. An answer with done=false proposes: the customer says whether its first three products "
    "fit."
)


class SubstitutionEnvironment(RecommendingEnvironment[SubstitutionGoal]):
    """Substitution."""

    about = About(
        id="SUB",
        title="Substitution",
        version="4",
        called="the replacement",
        tool_names=TOOL_NAMES,
        answer=RecommendationAnswer,
        axes=("m", "p_missing", "eps_rank", "p_oos", "t_max", "p_noise", "top_k", "b_tool", "k_rec"),
        needs=(
            "five products of each split with a title of their own, two known properties and a word of what must stay "
            "the same, in leaf categories with 27 products or more, no more than a quarter of them in one that "
            "has fewer than 80"
        ),
        empties_shelves=True,
    )

    def brief(self, axes: Axes) -> str:
        share = similarity_weight(axes.d)
        return _BRIEF.format(k=axes.k_rec, m=axes.m, similarity=f"{float(share):g}", wishes=f"{float(1 - share):g}")

    def max_difficulty(self, shop: Shop) -> int:
        return shop.derive(highest_difficulty)

    def draw(self, world: World, streams: Streams) -> Scenario:
        return single(intent_in(self, world, streams))

    def gains(self, intent: Intent[SubstitutionGoal], rows: Rows) -> Gains:
        goal = intent.goal
        return pool_gains(intent.world.shop, goal.original, goal.wished, rows, intent.world.axes.d)

    def required(self, goal: SubstitutionGoal) -> Sequence[Constraint]:
        return goal.required

    def judge(self, intent: Intent[SubstitutionGoal], ranking: Ranking) -> tuple[Fraction, bool]:
        r_task = 2 * ranking.ndcg - 1 - Fraction(20, 100) * ranking.out_of_stock
        first = ranking.rows[0]
        is_first_fitting = first is not None and fits(intent, first)
        return r_task, is_first_fitting and ranking.ndcg >= Fraction(85, 100)

    def goal_json(self, intent: Intent[SubstitutionGoal]) -> dict[str, Any]:
        goal = intent.goal
        return {
            "original": intent.world.shop.catalog.ids[goal.original],
            "required": [[c.attribute, c.op.value, c.value] for c in goal.required],
            "wished": [[c.attribute, c.op.value, c.value] for c in goal.wished],
            "recommended_product_ids": self.best_ids(intent),
        }


ENVIRONMENT = SubstitutionEnvironment()
