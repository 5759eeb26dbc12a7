"""SUB, substitution: a product is sold out; recommend the closest ones that are compatible with it (SPEC §6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

from ecom_rlve.catalog.constraints import Constraint
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank
from ecom_rlve.envs.parts.recommendation import (
    Ranking,
    RecommendingEnvironment,
    Rows,
    fits,
)
from ecom_rlve.envs.parts.scores import Gains
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.tasks.substitution.goal import (
    SubstitutionGoal,
    highest_difficulty,
    pool_gains,
    scenario_in,
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

_OPENING = bank(
    'I wanted the "{title}", but it is sold out. What comes closest?',
    'The "{title}" is sold out. Can you find something like it?',
    plain=('My choice was the "{title}", which is sold out now. What could I take in its place?',),
    terse=('"{title}" is sold out. Need a substitute.', 'Substitute for "{title}", please. Sold out.'),
    formal=(
        'Regrettably the "{title}" is sold out. I would appreciate a comparable product.',
        'I intended to order the "{title}", which is sold out. Kindly suggest alternatives.',
    ),
    chatty=(
        'Oh no, the "{title}" I had my eye on is sold out! What is most like it?',
        'I was so looking forward to the "{title}", and now it is sold out! Any ideas?',
    ),
)


class SubstitutionEnvironment(RecommendingEnvironment[SubstitutionGoal]):
    """Substitution."""

    id = "SUB"
    title = "Substitution"
    version = "1"
    errand = "the replacement"
    empties_shelves = True

    def brief(self, axes: Axes) -> str:
        share = similarity_weight(axes.d)
        return _BRIEF.format(k=axes.k_rec, m=axes.m, similarity=f"{float(share):g}", wishes=f"{float(1 - share):g}")

    def max_difficulty(self, shop: Shop) -> int:
        return shop.derive(highest_difficulty)

    def draw_in(self, world: World, streams: Streams) -> Scenario[SubstitutionGoal]:
        return scenario_in(world, streams)

    def opening(self, scenario: Scenario[SubstitutionGoal], said: Collection[Slot]) -> Act:
        subject = scenario.subjects[0]
        facts = tuple(slot.fact for slot in scenario.slots if slot in said)
        mention = Mention(subject.singular, subject.plural, facts)
        title = str(scenario.world.shop.full_card(scenario.goal.original)["title"])
        places = (("title", title),)
        return Act(ActKind.OPEN, (mention,), bank=_OPENING, places=places, says=places)

    def gains(self, scenario: Scenario[SubstitutionGoal], rows: Rows) -> Gains:
        goal = scenario.goal
        return pool_gains(scenario.world.shop, goal.original, goal.wished, rows, scenario.world.axes.d)

    def required(self, goal: SubstitutionGoal) -> Sequence[Constraint]:
        return goal.required

    def judge(self, scenario: Scenario[SubstitutionGoal], ranking: Ranking) -> tuple[Fraction, bool]:
        r_task = 2 * ranking.ndcg - 1 - Fraction(20, 100) * ranking.out_of_stock
        first = ranking.rows[0]
        is_first_fitting = first is not None and fits(scenario, first)
        return r_task, is_first_fitting and ranking.ndcg >= Fraction(85, 100)

    def goal_json(self, scenario: Scenario[SubstitutionGoal]) -> dict[str, Any]:
        goal = scenario.goal
        return {
            "original": scenario.world.shop.catalog.ids[goal.original],
            "required": [[c.attribute, c.op.value, c.value] for c in goal.required],
            "wished": [[c.attribute, c.op.value, c.value] for c in goal.wished],
            "recommended_product_ids": self.best_ids(scenario),
        }


ENVIRONMENT = SubstitutionEnvironment()
