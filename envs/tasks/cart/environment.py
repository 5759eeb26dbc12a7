"""CART, cart building: put exactly the wanted products, variants and quantities into the cart (SPEC §6)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.parts.scores import unit_f1
from ecom_rlve.envs.parts.solving import search_showing
from ecom_rlve.envs.scenario import Scenario, Subject
from ecom_rlve.envs.tasks.cart.goal import (
    CartGoal,
    WantedItem,
    draw_products,
    draw_stockout_plan,
    draw_wishes,
    first_of_kinds,
    history_of,
    item_facts,
    items_at,
    most_items,
    shown_of_kind,
    stockout_plan,
    unreserved,
    variant_fact,
)
from ecom_rlve.envs.tasks.cart.visit_history import candidates
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_BRIEF = (
    "The customer wants certain products in their cart: exactly these products, each in the variant and quantity "
    "they want, and nothing else. They may leave out details; ask for what you need to know. Where a variant "
    "matters to them, find it with catalog_get_variants. If something is sold out, tell them and do what they "
    'decide. The cart itself is your answer: submit {"done": true} when it is right.'
)


class CartEnvironment(Environment[CartGoal]):
    """Cart building."""

    about = About(
        id="CART",
        title="Cart building",
        version="1",
        called="my cart",
        tool_names=(
            "catalog_search",
            "catalog_get_variants",
            "cart_add",
            "cart_view",
            "cart_set_quantity",
            "cart_remove",
            "user_get_visit_history",
            "ask_user",
        ),
        answer=Answer,
        axes=("p_missing", "eps_rank", "p_oos", "t_max", "p_noise", "top_k", "b_tool"),
        candidates=lambda axes: candidates(items_at(axes.d)),
        needs="leaf categories with six products that what is known of them tells apart",
    )

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - the protocol's
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        most = shop.derive(most_items)
        return max((d for d in range(MAX_DIFFICULTY + 1) if items_at(d) <= most), default=-1)

    def draw_in(self, world: World, streams: Streams) -> Scenario[CartGoal]:
        shop, axes = world.shop, world.axes
        drawn, redraws = draw_products(shop, items_at(axes.d), streams.stream("products"), world.split)
        targets = [(row, shop.catalog.category_of(row).name) for row, _ in drawn]
        world.draw_history = lambda: history_of(shop, streams.stream("history"), targets)
        items = draw_wishes(world, [row for row, _ in drawn])
        slots = [
            Slot(item, fact)
            for item, (wanted, (_, description)) in enumerate(zip(items, drawn, strict=True))
            for fact in item_facts(wanted, description)
        ]
        kinds = [shop.catalog.category_of(row) for row, _ in drawn]
        return Scenario(
            goal=CartGoal(items),
            world=world,
            subjects=tuple(Subject(kind.singular, kind.plural, kind.name) for kind in kinds),
            slots=tuple(slots),
            stockout=draw_stockout_plan(items, axes, streams.stream("stockout plan")),
            redraws=redraws,
        )

    def review(self, scenario: Scenario[CartGoal], proposal: Answer | None) -> Review:  # noqa: ARG002 - the protocol's
        cart = scenario.world.errand_cart
        wanted = {item.row: at for at, item in enumerate(scenario.goal.items) if item is not None}
        wrong: set[tuple[int, str]] = set()
        for row, at in wanted.items():
            item, lines = scenario.goal.items[at], [line for line in cart if line.row == row]
            assert item is not None
            if item.variant is not None and any(line.variant != item.variant for line in lines):
                wrong.add((at, "variant"))
            if lines and sum(line.quantity for line in lines) != item.quantity:
                wrong.add((at, "quantity"))
        stray = any(line.row not in wanted for line in cart)
        is_complete = not wrong and not stray and wanted.keys() <= {line.row for line in cart}
        slots = tuple(slot for slot in scenario.slots if (slot.item, slot.name) in wrong)
        return Review(slots, stray, is_complete)

    def verify(self, scenario: Scenario[CartGoal], answer: Answer | None) -> Verdict:  # noqa: ARG002 - the protocol's
        f1 = unit_f1(*_units(scenario))
        return Verdict(2 * f1 - 1, f1 == Fraction(1), scenario.world.cart_ids())

    def after_results(self, scenario: Scenario[CartGoal]) -> None:
        plan, world = stockout_plan(scenario), scenario.world
        if plan.fired:
            return
        items = {item.row: item for item in scenario.goal.items if item is not None}
        hit = scenario.goal.items[plan.item] if plan.hits else None
        rows = unreserved(world) if hit is None else [hit.row]
        if plan.kind == "variant":
            for row in rows:
                # Of a wanted product of which any variant counts, the one that is taken unasked stays.
                wanted = (items[row].variant or world.variants(row)[0]) if row in items else None
                plan.sell_variants(world, row, wanted)
        else:
            for row in first_of_kinds(world, rows):
                plan.sell_products(world, *shown_of_kind(scenario, row))

    def sold_out_item(self, scenario: Scenario[CartGoal]) -> int | None:
        plan = stockout_plan(scenario)
        return plan.item if plan.fired and plan.hits and not plan.is_settled else None

    def knows_stockout(self, scenario: Scenario[CartGoal]) -> bool:
        missing = self.sold_out_item(scenario)
        item = None if missing is None else scenario.goal.items[missing]
        if item is None:
            return False
        seen = scenario.world.stockouts_seen
        return item.row in seen or (item.variant is not None and item.variant.id in seen)

    def fall_back(self, scenario: Scenario[CartGoal], item: int) -> Act:
        plan, wanted = stockout_plan(scenario), scenario.goal.items[item]
        assert wanted is not None
        subject = scenario.subjects[item]
        plan.is_settled = True
        if plan.leave_out:
            _replace_item(scenario, item, None, keep=())
            return Act(ActKind.STOCKOUT_FALLBACK, (Mention(subject.singular, subject.plural),))
        if plan.fallback_variant is not None:
            fact = variant_fact(plan.fallback_variant)
            _replace_item(scenario, item, replace(wanted, variant=plan.fallback_variant), keep=None, fact=fact)
            return Act(ActKind.STOCKOUT_FALLBACK, (Mention(subject.singular, subject.plural, (fact,)),))
        assert plan.fallback_row is not None
        _replace_item(scenario, item, WantedItem(plan.fallback_row, None, wanted.quantity), keep=("quantity",))
        title = scenario.world.title(plan.fallback_row)
        return Act(ActKind.STOCKOUT_FALLBACK, (Mention(subject.singular, subject.plural),), title=title)

    def solve(self, scenario: Scenario[CartGoal]) -> dict[str, Any]:
        world, most = scenario.world, scenario.world.axes.b_tool
        missing = self.sold_out_item(scenario)
        if missing is not None:
            noun = scenario.subjects[missing].singular
            return {"assistant_message": f"The {noun} is sold out. What should I take instead?"}
        items = [item for item in scenario.goal.items if item is not None]
        calls = [
            {"name": "catalog_search", "args": search_showing(world, item.row)}
            for item in items
            if item.row not in world.shown
        ]
        calls += [
            {"name": "catalog_get_variants", "args": {"product_id": world.shop.catalog.ids[item.row]}}
            for item in items
            if item.variant is not None and item.row in world.shown and item.row not in world.variants_read
        ]
        if calls:
            return {"tool_calls": calls[:most]}
        held = {line.row for line in world.cart}
        adds = [_add_call(world, item) for item in items if item.row not in held]
        if len(adds) > most:
            return {"tool_calls": adds[:most]}
        return {"tool_calls": adds, "answer": {"done": True}}

    def goal_json(self, scenario: Scenario[CartGoal]) -> dict[str, Any]:
        ids = scenario.world.shop.catalog.ids
        return {
            "items": [
                {
                    "product_id": ids[item.row],
                    "variant_id": item.variant.id if item.variant else None,
                    "quantity": item.quantity,
                }
                for item in scenario.goal.items
                if item is not None
            ]
        }


def _replace_item(
    scenario: Scenario[CartGoal],
    item: int,
    wanted: WantedItem | None,
    *,
    keep: tuple[str, ...] | None,
    fact: Fact | None = None,
) -> None:
    """Put another wish in an item's place; of its slots only those named in ``keep`` (None: all) stay valid."""
    items = list(scenario.goal.items)
    items[item] = wanted
    scenario.goal = CartGoal(tuple(items))
    slots = []
    for slot in scenario.slots:
        if slot.item != item or keep is None or slot.name in keep:
            replaced = slot.item == item and fact is not None and slot.name == fact.slot
            slots.append(Slot(item, fact) if replaced and fact is not None else slot)
    scenario.slots = tuple(slots)


def _units(scenario: Scenario[CartGoal]) -> tuple[dict[tuple[int, str], int], dict[tuple[int, str], int]]:
    """Return wanted and given units by (product, variant); the variant of an item that wants none counts as any."""
    items = [item for item in scenario.goal.items if item is not None]
    is_free = {item.row for item in items if item.variant is None}
    wanted = {(item.row, item.variant.id if item.variant else ""): item.quantity for item in items}
    given: Counter[tuple[int, str]] = Counter()
    for line in scenario.world.errand_cart:
        given[(line.row, "" if line.row in is_free else line.variant.id)] += line.quantity
    return wanted, dict(given)


def _add_call(world: World, item: WantedItem) -> dict[str, Any]:
    args: dict[str, Any] = {"product_id": world.shop.catalog.ids[item.row], "quantity": item.quantity}
    if item.variant is not None:
        args["variant_id"] = item.variant.id
    return {"name": "cart_add", "args": args}


ENVIRONMENT = CartEnvironment()
