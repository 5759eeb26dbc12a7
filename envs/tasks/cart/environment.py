"""CART, cart building: put exactly the wanted products, variants and quantities into the cart (SPEC §6)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

from ecom_rlve.catalog.constraints import Constraint
from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errand import Errand, Intent, Revision, Stockout, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.parts.change_of_mind import turn_of_change
from ecom_rlve.envs.parts.scores import unit_f1
from ecom_rlve.envs.parts.solving import search_showing
from ecom_rlve.envs.scenario import Scenario, single
from ecom_rlve.envs.tasks.cart.change_of_mind import draw_revision
from ecom_rlve.envs.tasks.cart.filling import calls_to_fill
from ecom_rlve.envs.tasks.cart.goal import (
    REDRAWS,
    CartGoal,
    WantedItem,
    draw_products,
    draw_wishes,
    history_of,
    item_facts,
    items_at,
    most_items,
)
from ecom_rlve.envs.tasks.cart.opening import opening
from ecom_rlve.envs.tasks.cart.stockout import draw_stockout
from ecom_rlve.envs.tasks.cart.visit_history import candidates
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_Described = list[tuple[int, tuple[Constraint, ...]]]

_BRIEF = (
    "The customer wants certain products in their cart: exactly these products, each in the variant and quantity "
    "they want, and nothing else. They may leave out details; ask for what you need to know. Where a variant "
    "matters to them, find it with catalog_get_variants. If something is sold out, tell them and do what they "
    'decide. The cart itself is your answer: submit {"done": true} when it is right.'
)


_UNSEEN = -1
"""Stands for every product that was never shown."""


class CartEnvironment(Environment, Errand[CartGoal]):
    """Cart building."""

    about = About(
        id="CART",
        title="Cart building",
        version="5",
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
        axes=("p_missing", "eps_rank", "p_oos", "t_max", "p_noise", "p_switch", "top_k", "b_tool"),
        candidates=lambda axes: candidates(items_at(axes.d)),
        needs="leaf categories with six products that what is known of them tells apart, some in each split",
    )

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - every implementation gets it, this one decides without
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        most = shop.derive(most_items)
        return max((d for d in range(MAX_DIFFICULTY + 1) if items_at(d) <= most), default=-1)

    def draw(self, world: World, streams: Streams) -> Scenario:
        shop = world.shop
        drawn, items, slots, stockout, revision, redraws = _drawn(world, streams)
        targets = [(row, shop.catalog.category_of(row).name) for row, _ in drawn]
        world.draw_history = lambda: history_of(shop, streams.stream("history"), targets, world.split, world.axes.d)
        kinds = [shop.catalog.category_of(row) for row, _ in drawn]
        intent = Intent(
            self,
            goal=CartGoal(items),
            world=world,
            subjects=tuple(Subject(kind.singular, kind.plural, kind.name) for kind in kinds),
            slots=slots,
            streams=streams,
            opening=opening,
            stockout=stockout,
            revision=revision,
            redraws=redraws,
        )
        return single(intent)

    def review(self, intent: Intent[CartGoal], proposal: Answer | None) -> Review:  # noqa: ARG002 - every implementation gets it, this one decides without
        cart, shown = intent.world.errand_cart, intent.world.shown
        wanted = {item.row: at for at, item in enumerate(intent.goal.items) if item is not None and item.row in shown}
        wrong: set[tuple[int, str]] = set()
        for row, at in wanted.items():
            item, lines = intent.goal.items[at], [line for line in cart if line.row == row]
            assert item is not None
            if item.variant is not None and any(line.variant != item.variant for line in lines):
                wrong.add((at, "variant"))
            if lines and sum(line.quantity for line in lines) != item.quantity:
                wrong.add((at, "quantity"))
        stray = any(line.row not in wanted for line in cart)
        all_wanted = {item.row for item in intent.goal.items if item is not None}
        is_complete = not wrong and not stray and all_wanted <= {line.row for line in cart}
        slots = tuple(slot for slot in intent.slots if (slot.item, slot.name) in wrong)
        return Review(slots, stray, is_complete)

    def verify(self, intent: Intent[CartGoal], answer: Answer | None) -> Verdict:  # noqa: ARG002 - every implementation gets it, this one decides without
        f1 = unit_f1(*_units(intent))
        return Verdict(2 * f1 - 1, f1 == Fraction(1), intent.world.cart_ids())

    def solve(self, intent: Intent[CartGoal]) -> dict[str, Any]:
        world, most = intent.world, intent.world.axes.b_tool
        missing = None if intent.stockout is None else intent.stockout.missing(intent)
        if missing is not None:
            wanted = intent.goal.items[missing]
            assert wanted is not None
            named = f"{world.title(wanted.row)} ({world.shop.catalog.ids[wanted.row]})"
            which = "" if wanted.variant is None else f" in {wanted.variant.value}"
            return {"assistant_message": f"{named}{which} is sold out. What should I take instead?"}
        items = [item for item in intent.goal.items if item is not None]
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
        calls = list(calls_to_fill(world, items))
        if len(calls) > most:
            return {"tool_calls": calls[:most]}
        return {"tool_calls": calls, "answer": {"done": True}}

    def goal_json(self, intent: Intent[CartGoal]) -> dict[str, Any]:
        ids = intent.world.shop.catalog.ids
        return {
            "items": [
                {
                    "product_id": ids[item.row],
                    "variant_id": item.variant.id if item.variant else None,
                    "quantity": item.quantity,
                }
                for item in intent.goal.items
                if item is not None
            ]
        }


class _Drawn(NamedTuple):
    described: _Described
    items: tuple[WantedItem, ...]
    slots: tuple[Slot, ...]
    stockout: Stockout[CartGoal]
    revision: Revision[CartGoal] | None
    redraws: int


def _drawn(world: World, streams: Streams) -> _Drawn:
    """Return products with their descriptions, what is wanted of them, what of it changes, and what sells out."""
    rng, count, redraws = streams.stream("products"), items_at(world.axes.d), 0
    turn = turn_of_change(world, ENVIRONMENT.about.id)
    while True:
        drawn, failed = draw_products(world.shop, count, rng, world.split, world.axes.d)
        items = draw_wishes(world, [row for row, _ in drawn])
        stockout = draw_stockout(world, items, streams.stream("stockout plan"))
        redraws += failed
        slots = tuple(
            Slot(item, fact)
            for item, (wanted, (_, description)) in enumerate(zip(items, drawn, strict=True))
            for fact in item_facts(wanted, description, world.shop.catalog.currency)
        )
        revision = None
        if stockout is not None and turn is not None:
            revision = draw_revision(world, items, slots, stockout, turn, streams.stream("revision"))
        if stockout is not None and (revision is not None or turn is None):
            return _Drawn(drawn, items, slots, stockout, revision, redraws)
        redraws += 1
        if redraws > REDRAWS:
            raise GenerationError(
                f"no {count} products of which a variant stays in stock were found in split {world.split!r} after "
                f"{REDRAWS} redraws; use another seed or a larger catalog"
            )


def _units(intent: Intent[CartGoal]) -> tuple[dict[tuple[int, str], int], dict[tuple[int, str], int]]:
    """Return wanted and given units by (product, variant); the variant of an item that wants none counts as any.

    A product that was never shown is none of those wanted (SPEC §4).
    """
    items = [item for item in intent.goal.items if item is not None]
    is_free = {item.row for item in items if item.variant is None}
    wanted = {(item.row, item.variant.id if item.variant else ""): item.quantity for item in items}
    given: Counter[tuple[int, str]] = Counter()
    for line in intent.world.errand_cart:
        if line.row not in intent.world.shown:
            given[(_UNSEEN, "")] += line.quantity
        else:
            given[(line.row, "" if line.row in is_free else line.variant.id)] += line.quantity
    return wanted, dict(given)


ENVIRONMENT = CartEnvironment()
