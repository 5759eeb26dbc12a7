"""CART, cart building: put exactly the wanted products, variants and quantities into the cart (SPEC §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

from numpy.random import Generator

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.description import describe, facts_of
from ecom_rlve.envs.difficulty import Axes, logistic
from ecom_rlve.envs.environment import Environment, Scenario, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.random_order import in_random_order
from ecom_rlve.envs.scoring import unit_f1
from ecom_rlve.envs.shop import Shop
from ecom_rlve.envs.simulator.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.solving import search_showing
from ecom_rlve.envs.stockout import StockoutPlan
from ecom_rlve.envs.targets import eligible_row
from ecom_rlve.envs.variants import Variant
from ecom_rlve.envs.visit_history import draw_history
from ecom_rlve.envs.world import World
from ecom_rlve.models import MAX_DIFFICULTY, Split
from ecom_rlve.streams import Streams, stream

_TRIAL_DRAWS = 40
_LEAST_OF_A_KIND = 6
"""Products that a category needs to serve as a kind of item."""
_REDRAWS = 50
_MOST_UNITS = 4
_LEAVE_OUT = 0.25


_BRIEF = (
    "The customer wants certain products in their cart: exactly these products, each in the variant and quantity "
    "they want, and nothing else. They may leave out details; ask for what you need to know. Where a variant "
    "matters to them, find it with catalog_get_variants. If something is sold out, tell them and do what they "
    'decide. The cart itself is your answer: submit {"done": true} when it is right.'
)


@dataclass(frozen=True, slots=True)
class WantedItem:
    """One thing the cart must hold."""

    row: int
    variant: Variant | None
    """None: any variant counts."""
    quantity: int
    """1 to 4 units."""


@dataclass(frozen=True, slots=True)
class CartGoal:
    """What the cart must hold, item by item; None for one the customer has decided to leave out."""

    items: tuple[WantedItem | None, ...]


def _p_variant(d: int) -> float:
    return logistic((d - 2) / 1.5)


def items_at(d: int) -> int:
    """Number of wanted products: min(5, 1 + d // 3) (SPEC §3)."""
    return min(5, 1 + d // 3)


class CartEnvironment(Environment[CartGoal]):
    """Cart building."""

    id = "CART"
    title = "Cart building"
    version = "1"
    errand = "my cart"
    tool_names = (
        "catalog_search",
        "catalog_get_variants",
        "cart_add",
        "cart_view",
        "cart_set_quantity",
        "cart_remove",
        "user_get_visit_history",
        "ask_user",
    )
    answer = Answer

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - the protocol's
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        most = shop.derive(_most_items)
        return max((d for d in range(MAX_DIFFICULTY + 1) if items_at(d) <= most), default=-1)

    def draw_in(self, world: World, streams: Streams) -> Scenario[CartGoal]:
        shop, axes = world.shop, world.axes
        drawn, redraws = _draw_products(shop, items_at(axes.d), streams.stream("products"), world.split)
        targets = [(row, shop.catalog.category_of(row).name) for row, _ in drawn]
        world.draw_history = lambda: _history(shop, streams.stream("history"), targets)
        items = _draw_wishes(world, [row for row, _ in drawn])
        slots = [
            Slot(item, fact)
            for item, (wanted, (_, description)) in enumerate(zip(items, drawn, strict=True))
            for fact in _facts(wanted, description)
        ]
        kinds = [shop.catalog.category_of(row) for row, _ in drawn]
        return Scenario(
            goal=CartGoal(items),
            world=world,
            subjects=tuple(Subject(kind.singular, kind.plural, kind.name) for kind in kinds),
            slots=tuple(slots),
            stockout=_plan_stockout(items, axes, streams.stream("stockout plan")),
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
        plan, world = _plan(scenario), scenario.world
        if plan.fired:
            return
        items = {item.row: item for item in scenario.goal.items if item is not None}
        hit = scenario.goal.items[plan.item] if plan.hits else None
        rows = _unreserved(world) if hit is None else [hit.row]
        if plan.kind == "variant":
            for row in rows:
                # Of a wanted product of which any variant counts, the one that is taken unasked stays.
                wanted = (items[row].variant or world.variants(row)[0]) if row in items else None
                plan.sell_variants(world, row, wanted)
        else:
            for row in _first_of_kinds(world, rows):
                plan.sell_products(world, *_shown_of_kind(scenario, row))

    def sold_out_item(self, scenario: Scenario[CartGoal]) -> int | None:
        plan = _plan(scenario)
        return plan.item if plan.fired and plan.hits and not plan.is_settled else None

    def knows_stockout(self, scenario: Scenario[CartGoal]) -> bool:
        missing = self.sold_out_item(scenario)
        item = None if missing is None else scenario.goal.items[missing]
        if item is None:
            return False
        seen = scenario.world.stockouts_seen
        return item.row in seen or (item.variant is not None and item.variant.id in seen)

    def fall_back(self, scenario: Scenario[CartGoal], item: int) -> Act:
        plan, wanted = _plan(scenario), scenario.goal.items[item]
        assert wanted is not None
        subject = scenario.subjects[item]
        plan.is_settled = True
        if plan.leave_out:
            _replace_item(scenario, item, None, keep=())
            return Act(ActKind.STOCKOUT_FALLBACK, (Mention(subject.singular, subject.plural),))
        if plan.fallback_variant is not None:
            fact = _variant_fact(plan.fallback_variant)
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


def _plan(scenario: Scenario[CartGoal]) -> StockoutPlan:
    assert scenario.stockout is not None
    return scenario.stockout


def _most_items(shop: Shop) -> int:
    """Return how many products of different kinds can be wanted together: each of some trial draws finds so many."""
    most, kinds = 0, len(shop.kinds(_LEAST_OF_A_KIND))
    while most < min(items_at(MAX_DIFFICULTY), kinds):
        try:
            for trial in range(_TRIAL_DRAWS):
                _draw_products(shop, most + 1, stream(trial, "trial of items", most), "train")
        except GenerationError:
            break
        most += 1
    return most


def _draw_products(
    shop: Shop, count: int, rng: Generator, split: Split
) -> tuple[list[tuple[int, tuple[Constraint, ...]]], int]:
    """Return ``count`` products of different kinds with their descriptions, and the number of redraws."""
    kinds = shop.kinds(_LEAST_OF_A_KIND)
    drawn: list[tuple[int, tuple[Constraint, ...]]] = []
    redraws = 0
    order = list(islice(in_random_order(rng, len(kinds)), _REDRAWS + count))
    for at in range(_REDRAWS + count):
        if len(drawn) == count:
            return drawn, redraws
        kind = kinds[order[at % len(order)]]
        if any(shop.catalog.category_of(row).name == kind for row, _ in drawn):
            continue
        row = eligible_row(shop, kind, rng, split, _MOST_UNITS)
        description = None if row is None else describe(shop, row, rng)
        if row is None or description is None:
            redraws += 1
        else:
            drawn.append((row, description))
    raise GenerationError(
        f"no {count} products of different kinds that words single out were found in split {split!r} after {redraws} "
        "redraws; use another seed or a larger catalog"
    )


def _history(shop: Shop, rng: Generator, targets: list[tuple[int, str]]) -> tuple[int, ...]:
    kinds = shop.kinds(_LEAST_OF_A_KIND)
    return draw_history(rng, targets, kinds, lambda kind: eligible_row(shop, kind, rng, None, _MOST_UNITS))


def _draw_wishes(world: World, rows: list[int]) -> tuple[WantedItem, ...]:
    d = world.axes.d
    draws = world.streams.stream("wishes").random((len(rows), 4)).tolist()
    items = []
    for row, (has_variant, variant, is_many, units) in zip(rows, draws, strict=True):
        variants = world.variants(row)
        chosen = variants[int(variant * len(variants))] if has_variant < _p_variant(d) else None
        quantity = 2 + int(units * (_MOST_UNITS - 1)) if is_many < min(0.5, 0.1 * d) else 1
        items.append(WantedItem(row, chosen, quantity))
    return tuple(items)


def _facts(item: WantedItem, description: tuple[Constraint, ...]) -> tuple[Fact, ...]:
    quantity = Fact("quantity", Constraint("quantity", Op.EQ, item.quantity))
    variant = (_variant_fact(item.variant),) if item.variant else ()
    return (quantity, *facts_of(description), *variant)


def _variant_fact(variant: Variant) -> Fact:
    unit = ATTRIBUTES[variant.attribute].unit
    return Fact("variant", Constraint(variant.attribute, Op.EQ, variant.value), unit)


def _plan_stockout(items: tuple[WantedItem, ...], axes: Axes, rng: Generator) -> StockoutPlan:
    draws = rng.random(5).tolist()
    hits, item = draws[0] < axes.p_oos, int(draws[1] * len(items))
    has_variant = items[item].variant is not None if hits else draws[4] < _p_variant(axes.d)
    return StockoutPlan(
        hits=hits,
        item=item,
        kind="variant" if has_variant and draws[2] < 0.5 else "product",
        leave_out=len(items) > 2 and draws[3] < _LEAVE_OUT,
    )


def _unreserved(world: World) -> list[int]:
    """Return what was shown, without kinds that other errands are about."""
    category_of, reserved = world.shop.catalog.category_of, world.reserved_kinds
    return [row for row in world.shown if category_of(row).name not in reserved] if reserved else list(world.shown)


def _first_of_kinds(world: World, rows: Iterable[int]) -> list[int]:
    """Return the first row of each category among ``rows``, in their order."""
    firsts: dict[int, int] = {}
    for row in rows:
        firsts.setdefault(int(world.shop.catalog.category_codes[row]), row)
    return list(firsts.values())


def _shown_of_kind(scenario: Scenario[CartGoal], row: int) -> tuple[int | None, list[int]]:
    """Return the wanted row of a row's kind, and the shown products of that kind that could replace it.

    The latter are unwanted, in stock, in no cart, and told apart by their titles.
    """
    world = scenario.world
    catalog, codes = world.shop.catalog, world.shop.catalog.category_codes
    item = next((item for item in scenario.goal.items if item and codes[item.row] == codes[row]), None)
    wanted, units = (item.row, item.quantity) if item else (None, 1)
    held = {line.row for line in world.cart}
    shown = [other for other in world.shown if codes[other] == codes[row]]
    titles = Counter(world.title(other) for other in shown)
    return wanted, [
        other
        for other in shown
        if other != wanted
        and other not in held
        and catalog.column("stock").values[other] >= units
        and titles[world.title(other)] == 1
    ]


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
