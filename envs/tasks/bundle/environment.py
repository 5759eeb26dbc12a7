"""BUNDLE, bundle planning: one product for each kind of thing that a project needs, within a budget (SPEC §6)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from pydantic import Field

from ecom_rlve.catalog.constraints import is_satisfied
from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errand import Errand, Intent, Subject
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.parts.scores import unit_f1
from ecom_rlve.envs.parts.solving import search_showing
from ecom_rlve.envs.parts.stockout import ShelfStockout
from ecom_rlve.envs.scenario import Scenario, single
from ecom_rlve.envs.tasks.bundle.facts import BUDGET, NEED, PROJECT, WISH, budget_fact, need_fact, wish_fact
from ecom_rlve.envs.tasks.bundle.goal import BundleGoal, budget_for, needs_at
from ecom_rlve.envs.tasks.bundle.needs import draw_needs, is_acceptable
from ecom_rlve.envs.tasks.bundle.opening import opening
from ecom_rlve.envs.tasks.bundle.projects import usable_kinds
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_REACTED_TO = 3
"""Number of proposed products that the customer reacts to (SPEC §2.2)."""

_BRIEF = (
    "The customer has a project that needs {count} different kinds of things. Find out which, what each of them must "
    "be like and what all of them together may cost; they may leave any of it out, so ask. Recommend exactly one "
    "product for each kind, in stock, with everything the customer requires of it, together within the budget: the "
    "cheapest products that meet the requirements always are. Things can sell out after you have seen them. Submit "
    '{{"done": true, "recommended_product_ids": [...]}} in any order; surplus and missing products cost reward. With '
    '"done": false the customer says what they think of the first three.'
)


class BundleAnswer(Answer):
    """The products for the project; never cut to a length, as what is too much costs precision."""

    recommended_product_ids: list[str] = Field(default_factory=list, description="One product for each kind of thing.")


class BundleEnvironment(Environment, Errand[BundleGoal]):
    """Bundle planning."""

    about = About(
        id="BUNDLE",
        title="Bundle planning",
        version="4",
        called="my project",
        tool_names=("catalog_search", "catalog_get_product", "ask_user"),
        answer=BundleAnswer,
        axes=("m", "p_missing", "eps_rank", "p_oos", "t_max", "p_noise", "top_k", "b_tool"),
        needs="two leaf categories with six products in stock at an exact price",
    )

    def brief(self, axes: Axes) -> str:
        return _BRIEF.format(count=needs_at(axes.d))

    def max_difficulty(self, shop: Shop) -> int:
        kinds = len(usable_kinds(shop))
        return max((d for d in range(MAX_DIFFICULTY + 1) if needs_at(d) <= kinds), default=-1)

    def draw(self, world: World, streams: Streams) -> Scenario:
        shop, axes = world.shop, world.axes
        project, needs, coins, redraws = draw_needs(world, needs_at(axes.d), streams)
        prices, currency = shop.catalog.column("price").values, shop.catalog.currency
        goal = BundleGoal(
            project, needs, budget_for(int(sum(prices[need.cheapest] for need in needs)), axes.d, currency)
        )
        kinds = [shop.catalog.categories[shop.catalog.category_index[need.category]] for need in needs]
        named = [Slot(PROJECT, need_fact(kind.singular)) for kind in kinds]
        intent = Intent(
            self,
            goal=goal,
            world=world,
            subjects=(
                Subject(project.name, f"{project.name}s", kinds[0].name, is_whole=True),
                *(Subject(kind.singular, kind.plural, kind.name) for kind in kinds),
            ),
            slots=(
                *named,
                Slot(PROJECT, budget_fact(goal.budget, currency)),
                *(
                    Slot(item, wish_fact(wish, currency), named_by=naming)
                    for item, (need, naming) in enumerate(zip(needs, named, strict=True), PROJECT + 1)
                    for wish in need.wishes
                ),
            ),
            streams=streams,
            opening=opening,
            stockout=ShelfStockout(coins),
            kinds=(NEED, BUDGET, WISH),
            redraws=redraws,
        )
        return single(intent)

    def review(self, intent: Intent[BundleGoal], proposal: Answer | None) -> Review:
        ids = _ids(proposal)
        if not ids:
            return Review()
        goal, world = intent.goal, intent.world
        rows = _rows(world, ids[:_REACTED_TO])
        known = [row for row in rows if row is not None]
        is_over = _cost(world, rows) > goal.budget
        wrong = tuple(
            slot for slot in intent.slots if (is_over and slot.name == BUDGET.name) or _is_missed(intent, slot, known)
        )
        is_fitting = _slots_met(world, goal, rows) == len(rows) and not is_over
        is_complete = is_fitting and len(ids) == len(rows) == len(goal.needs)
        return Review(wrong, stray=not is_fitting, complete=is_complete, hides_unsaid=True)

    def verify(self, intent: Intent[BundleGoal], answer: Answer | None) -> Verdict:
        ids, goal, world = _ids(answer), intent.goal, intent.world
        rows = _rows(world, ids)
        met = _slots_met(world, goal, rows)
        f1 = unit_f1({"met": len(goal.needs)}, {"met": met, "other": len(ids) - met})
        excess = Fraction(_cost(world, rows) - goal.budget, goal.budget)
        penalty = max(Fraction(0), min(Fraction(1), excess))
        return Verdict(max(Fraction(-1), 2 * f1 - 1 - penalty), f1 == 1 and penalty == 0, tuple(ids))

    def solve(self, intent: Intent[BundleGoal]) -> dict[str, Any]:
        world = intent.world
        rows = [need.cheapest for need in intent.goal.needs]
        searches = [search_showing(world, row) for row in rows if row not in world.shown]
        if searches:
            calls = [{"name": "catalog_search", "args": args} for args in searches]
            return {"tool_calls": calls[: world.axes.b_tool]}
        return {"answer": {"done": True, "recommended_product_ids": [world.shop.catalog.ids[row] for row in rows]}}

    def goal_json(self, intent: Intent[BundleGoal]) -> dict[str, Any]:
        goal, ids = intent.goal, intent.world.shop.catalog.ids
        return {
            "project": goal.project.name,
            "budget": goal.budget / 100,
            "needs": [
                {
                    "category": need.category,
                    "requirements": [[wish.attribute, wish.op.value, wish.value] for wish in need.wishes],
                    "cheapest_product_id": ids[need.cheapest],
                }
                for need in goal.needs
            ],
        }


def _ids(answer: Answer | None) -> list[str]:
    return answer.recommended_product_ids if isinstance(answer, BundleAnswer) else []


def _rows(world: World, ids: Sequence[str]) -> list[int | None]:
    """Return the row of each id; None for an id that was never shown."""
    return [world.shown_row(product_id) for product_id in ids]


def _cost(world: World, rows: Sequence[int | None]) -> int:
    """Return the total price in cents, each product counted as often as it is listed; unknown prices count as 0."""
    prices = world.shop.catalog.column("price").values[[row for row in rows if row is not None]]
    return int(np.nansum(prices))


def _slots_met(world: World, goal: BundleGoal, rows: Sequence[int | None]) -> int:
    """Return how many needs are met by one of the products. Needs differ in kind: a product meets at most one."""
    given = [row for row in rows if row is not None]
    return sum(any(is_acceptable(world, need, row) for row in given) for need in goal.needs)


def _is_missed(intent: Intent[BundleGoal], slot: Slot, rows: Sequence[int]) -> bool:
    """Tell whether one of the products is of the kind that a slot is about but does not meet it."""
    if slot.item == PROJECT:
        return False
    catalog, kind = intent.world.shop.catalog, intent.goal.needs[slot.item - 1].category
    return any(
        catalog.category_of(row).name == kind and not is_satisfied(catalog, slot.fact.constraint, row) for row in rows
    )


ENVIRONMENT = BundleEnvironment()
