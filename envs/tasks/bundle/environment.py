"""BUNDLE, bundle planning: one product for everything that a project needs, within a budget (SPEC §6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
from numpy.random import Generator
from pydantic import Field

from ecom_rlve.catalog.constraints import is_satisfied
from ecom_rlve.catalog.errors import UnknownProductError
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.templates import bank
from ecom_rlve.envs.parts.scores import unit_f1
from ecom_rlve.envs.parts.solving import search_showing
from ecom_rlve.envs.scenario import Scenario, Subject
from ecom_rlve.envs.tasks.bundle.customer import (
    BUDGET,
    PROJECT,
    ProjectCustomer,
    budget_fact,
    need_fact,
    wish_fact,
)
from ecom_rlve.envs.tasks.bundle.needs import Need, acceptable, draw_need, draw_things, is_acceptable
from ecom_rlve.envs.tasks.bundle.projects import Project, usable_kinds
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import TOGETHER, StockoutPlan
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_REACTED_TO = 3
"""Proposed products that the customer looks at (SPEC §2.2)."""
_SLACK_UNIT = 10**6

_BRIEF = (
    "The customer has a project that needs {count} different kinds of things. Find out which, what each of them must "
    "be like and what all of them together may cost; they may leave any of it out, so ask. Recommend exactly one "
    "product for each kind, in stock, with everything the customer requires of it, together within the budget: the "
    "cheapest products that meet the requirements always are. Things can sell out after you have seen them. Submit "
    '{{"done": true, "recommended_product_ids": [...]}} in any order; surplus and missing products cost reward. With '
    '"done": false the customer says what they think of the first three.'
)

_OPENING = bank(
    "I'm {plan} and could use some help with the {project}.",
    "I'm {plan}; please find everything for the {project}.",
    plain=("I'm {plan} and need things for the {project}.", "Help me with the {project}: I'm {plan}."),
    terse=("I'm {plan}, need the {project}.", "The {project}: I'm {plan}. Help me shop."),
    formal=(
        "I'm {plan} and would appreciate your advice on the {project}.",
        "I would like you to assemble the {project} for me, as I'm {plan}.",
    ),
    chatty=(
        "Guess what, I'm {plan}, so let's talk about the {project}!",
        "I'm {plan}, and I can't wait to have the {project} complete!",
    ),
)
"""The essential: what the customer is up to."""


class BundleAnswer(Answer):
    """The products for the project; never cut to a length, as what is too much costs precision."""

    recommended_product_ids: list[str] = Field(default_factory=list, description="One product for each kind of thing.")


@dataclass(frozen=True, slots=True)
class BundleGoal:
    """A project, what it needs, and what it may cost."""

    project: Project
    needs: tuple[Need, ...]
    budget: int
    """Integer cents."""


def needs_at(d: int) -> int:
    """Number of kinds that a project needs: min(6, 2 + d // 3) (SPEC §3)."""
    return min(6, 2 + d // 3)


def wishes_at(m: int) -> int:
    """Number of wishes for each kind, given the axis of constraints: m // 3, which is none below d = 2.

    >>> [wishes_at(m) for m in (2, 3, 5, 6, 8)]
    [0, 1, 1, 2, 2]
    """
    return m // 3


def budget_for(cover: int, d: int) -> int:
    """Return what may be spent where the cheapest acceptable products cost ``cover``: that and e^(-d/6) of it more.

    Integer cents. The exponential is rounded to a millionth first, so that no machine's last digit counts.

    >>> budget_for(10_000, 0), budget_for(10_000, 6), budget_for(10_000, 12)
    (20000, 13678, 11353)
    """
    return cover + cover * round(exp(-d / 6) * _SLACK_UNIT) // _SLACK_UNIT


class BundleEnvironment(Environment[BundleGoal]):
    """Bundle planning."""

    id = "BUNDLE"
    title = "Bundle planning"
    version = "1"
    errand = "my project"
    tool_names = ("catalog_search", "catalog_get_product", "ask_user")
    answer = BundleAnswer

    def brief(self, axes: Axes) -> str:
        return _BRIEF.format(count=needs_at(axes.d))

    def max_difficulty(self, shop: Shop) -> int:
        kinds = len(usable_kinds(shop))
        return max((d for d in range(MAX_DIFFICULTY + 1) if needs_at(d) <= kinds), default=-1)

    def draw_in(self, world: World, streams: Streams) -> Scenario[BundleGoal]:
        shop, axes = world.shop, world.axes
        project, anchors, redraws = draw_things(shop, needs_at(axes.d), streams.stream("things"), world.split)
        rng = streams.stream("wishes")
        needs = tuple(draw_need(shop, kind, row, wishes_at(axes.m), rng) for kind, row in anchors)
        prices = shop.catalog.column("price").values
        goal = BundleGoal(project, needs, budget_for(int(sum(prices[need.cheapest] for need in needs)), axes.d))
        kinds = [shop.catalog.categories[shop.catalog.category_index[need.category]] for need in needs]
        return Scenario(
            goal=goal,
            world=world,
            subjects=(
                Subject(project.name, f"{project.name}s", kinds[0].name),
                *(Subject(kind.singular, kind.plural, kind.name) for kind in kinds),
            ),
            slots=(
                *(Slot(PROJECT, need_fact(kind.singular)) for kind in kinds),
                Slot(PROJECT, budget_fact(goal.budget)),
                *(Slot(item, wish_fact(wish)) for item, need in enumerate(needs, PROJECT + 1) for wish in need.wishes),
            ),
            stockout=_plan_stockout(len(needs), axes, streams.stream("stockout plan")),
            redraws=redraws,
        )

    def opening(self, scenario: Scenario[BundleGoal], said: Collection[Slot]) -> Act:
        project = scenario.goal.project
        mentions = []
        for item, subject in enumerate(scenario.subjects):
            facts = tuple(slot.fact for slot in scenario.slots if slot.item == item and slot in said)
            # The project comes first in any case: with it, every sentence says what it is about.
            if facts or item == PROJECT:
                mentions.append(Mention(subject.singular, subject.plural, facts))
        places = (("plan", project.plan), ("project", project.name))
        return Act(ActKind.OPEN, tuple(mentions), bank=_OPENING, places=places, says=places)

    def customer(self, scenario: Scenario[BundleGoal], streams: Streams) -> Customer:
        return ProjectCustomer(self, scenario, streams)

    def review(self, scenario: Scenario[BundleGoal], proposal: Answer | None) -> Review:
        ids = _ids(proposal)
        if not ids:
            return Review()
        goal, world = scenario.goal, scenario.world
        rows = _rows(world, ids[:_REACTED_TO])
        known = [row for row in rows if row is not None]
        is_over = _cost(world, rows) > goal.budget
        wrong = tuple(
            slot
            for slot in scenario.slots
            if (is_over and slot.name == BUDGET.name) or _is_missed(scenario, slot, known)
        )
        is_fitting = _slots_met(world, goal, rows) == len(rows) and not is_over
        is_complete = is_fitting and len(ids) == len(rows) == len(goal.needs)
        return Review(wrong, stray=not is_fitting, complete=is_complete, hides_unsaid=True)

    def verify(self, scenario: Scenario[BundleGoal], answer: Answer | None) -> Verdict:
        ids, goal, world = _ids(answer), scenario.goal, scenario.world
        rows = _rows(world, ids)
        met = _slots_met(world, goal, rows)
        f1 = unit_f1({"met": len(goal.needs)}, {"met": met, "other": len(ids) - met})
        excess = Fraction(_cost(world, rows) - goal.budget, goal.budget)
        penalty = max(Fraction(0), min(Fraction(1), excess))
        return Verdict(max(Fraction(-1), 2 * f1 - 1 - penalty), f1 == 1 and penalty == 0, tuple(ids))

    def after_results(self, scenario: Scenario[BundleGoal]) -> None:
        plan, goal, world = _plan(scenario), scenario.goal, scenario.world
        need = goal.needs[plan.item - 1]
        if plan.fired:
            return
        if not plan.hits:
            plan.sell_unwanted(world, {each.cheapest for each in goal.needs})
            return
        if need.cheapest not in world.shown:
            return
        price, codes = world.shop.catalog.column("price").values, world.shop.catalog.category_codes
        kind = codes[need.cheapest]
        others = [row for row in world.shown if codes[row] == kind and row != need.cheapest and world.stock(row)]
        room = goal.budget - sum(int(price[other.cheapest]) for other in goal.needs if other is not need)
        fitting = [row for row in others if price[row] <= room and is_acceptable(world, need, row)]
        fitting.sort(key=lambda row: (price[row], row))
        if not fitting:
            return
        # What no right answer could hold sells out first, and the best alternative last.
        unwanted = [row for row in others if row not in fitting]
        gone = [*unwanted, fitting[0]] if len(unwanted) >= TOGETHER else others
        plan.sell_products(world, need.cheapest, gone, keep=fitting[0])

    def knows_stockout(self, scenario: Scenario[BundleGoal]) -> bool:
        plan = _plan(scenario)
        wanted = scenario.goal.needs[plan.item - 1].cheapest
        return plan.fired and plan.hits and wanted in scenario.world.stockouts_seen

    def solve(self, scenario: Scenario[BundleGoal]) -> dict[str, Any]:
        world = scenario.world
        rows = [int(acceptable(world, need)[0]) for need in scenario.goal.needs]
        searches = [search_showing(world, row) for row in rows if row not in world.shown]
        if searches:
            calls = [{"name": "catalog_search", "args": args} for args in searches]
            return {"tool_calls": calls[: world.axes.b_tool]}
        return {"answer": {"done": True, "recommended_product_ids": [world.shop.catalog.ids[row] for row in rows]}}

    def goal_json(self, scenario: Scenario[BundleGoal]) -> dict[str, Any]:
        goal, ids = scenario.goal, scenario.world.shop.catalog.ids
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


def _plan(scenario: Scenario[BundleGoal]) -> StockoutPlan:
    assert isinstance(scenario.stockout, StockoutPlan)
    return scenario.stockout


def _plan_stockout(count: int, axes: Axes, rng: Generator) -> StockoutPlan:
    hits, item = rng.random(2).tolist()
    return StockoutPlan(hits=hits < axes.p_oos, item=PROJECT + 1 + int(item * count), kind="product", leave_out=False)


def _ids(answer: Answer | None) -> list[str]:
    return answer.recommended_product_ids if isinstance(answer, BundleAnswer) else []


def _rows(world: World, ids: Sequence[str]) -> list[int | None]:
    """Return the row of each id, None for an id that no product has."""
    return [_row(world, product_id) for product_id in ids]


def _row(world: World, product_id: str) -> int | None:
    try:
        return world.shop.catalog.row_of(product_id)
    except UnknownProductError:
        return None


def _cost(world: World, rows: Sequence[int | None]) -> int:
    """Return what the products cost together, each as often as it is named; a price that nobody knows adds nothing."""
    prices = world.shop.catalog.column("price").values[[row for row in rows if row is not None]]
    return int(np.nansum(prices))


def _slots_met(world: World, goal: BundleGoal, rows: Sequence[int | None]) -> int:
    """Return how many needs one of the products meets; kinds differ, so that a product meets one need at most."""
    given = [row for row in rows if row is not None]
    return sum(any(is_acceptable(world, need, row) for row in given) for need in goal.needs)


def _is_missed(scenario: Scenario[BundleGoal], slot: Slot, rows: Sequence[int]) -> bool:
    """Tell whether one of the products is of the kind that a wish is about and does not meet it."""
    if slot.item == PROJECT:
        return False
    catalog, kind = scenario.world.shop.catalog, scenario.goal.needs[slot.item - 1].category
    return any(
        catalog.category_of(row).name == kind and not is_satisfied(catalog, slot.fact.constraint, row) for row in rows
    )


ENVIRONMENT = BundleEnvironment()
