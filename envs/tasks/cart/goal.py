"""What a CART episode is about: the wanted items, and how they are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from numpy.random import Generator

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.difficulty import Axes, logistic
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.parts.description import describe, facts_of
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.tasks.cart.targets import eligible_row
from ecom_rlve.envs.tasks.cart.visit_history import draw_history
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import StockoutPlan
from ecom_rlve.envs.world.variants import Variant
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY, Split
from ecom_rlve.streams import in_random_order, stream

_TRIAL_DRAWS = 40
_LEAST_OF_A_KIND = 6
"""Products that a category needs to serve as a kind of item."""
_REDRAWS = 50
_MOST_UNITS = 4
_LEAVE_OUT = 0.25


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


def variant_probability(d: int) -> float:
    """Probability that an item is wanted in one variant: σ((d - 2) / 1.5) (SPEC §3)."""
    return logistic((d - 2) / 1.5)


def many_probability(d: int) -> float:
    """Probability that an item is wanted more than once: min(0.5, 0.1·d) (SPEC §3)."""
    return min(0.5, 0.1 * d)


def items_at(d: int) -> int:
    """Number of wanted products: min(5, 1 + d // 3) (SPEC §3)."""
    return min(5, 1 + d // 3)


def stockout_plan(scenario: Scenario[CartGoal]) -> StockoutPlan:
    assert scenario.stockout is not None
    return scenario.stockout


def most_items(shop: Shop) -> int:
    """Return how many products of different kinds can be wanted together: each of some trial draws finds so many."""
    most, kinds = 0, len(shop.kinds(_LEAST_OF_A_KIND))
    while most < min(items_at(MAX_DIFFICULTY), kinds):
        try:
            for trial in range(_TRIAL_DRAWS):
                draw_products(shop, most + 1, stream(trial, "trial of items", most), "train")
        except GenerationError:
            break
        most += 1
    return most


def draw_products(
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


def history_of(shop: Shop, rng: Generator, targets: list[tuple[int, str]]) -> tuple[int, ...]:
    kinds = shop.kinds(_LEAST_OF_A_KIND)
    return draw_history(rng, targets, kinds, lambda kind: eligible_row(shop, kind, rng, None, _MOST_UNITS))


def draw_wishes(world: World, rows: list[int]) -> tuple[WantedItem, ...]:
    d = world.axes.d
    draws = world.streams.stream("wishes").random((len(rows), 4)).tolist()
    items = []
    for row, (has_variant, variant, is_many, units) in zip(rows, draws, strict=True):
        variants = world.variants(row)
        chosen = variants[int(variant * len(variants))] if has_variant < variant_probability(d) else None
        quantity = 2 + int(units * (_MOST_UNITS - 1)) if is_many < many_probability(d) else 1
        items.append(WantedItem(row, chosen, quantity))
    return tuple(items)


def item_facts(item: WantedItem, description: tuple[Constraint, ...]) -> tuple[Fact, ...]:
    quantity = Fact("quantity", Constraint("quantity", Op.EQ, item.quantity))
    variant = (variant_fact(item.variant),) if item.variant else ()
    return (quantity, *facts_of(description), *variant)


def variant_fact(variant: Variant) -> Fact:
    unit = ATTRIBUTES[variant.attribute].unit
    return Fact("variant", Constraint(variant.attribute, Op.EQ, variant.value), unit)


def draw_stockout_plan(items: tuple[WantedItem, ...], axes: Axes, rng: Generator) -> StockoutPlan:
    draws = rng.random(5).tolist()
    hits, item = draws[0] < axes.p_oos, int(draws[1] * len(items))
    has_variant = items[item].variant is not None if hits else draws[4] < variant_probability(axes.d)
    return StockoutPlan(
        hits=hits,
        item=item,
        kind="variant" if has_variant and draws[2] < 0.5 else "product",
        leave_out=len(items) > 2 and draws[3] < _LEAVE_OUT,
    )


def unreserved(world: World) -> list[int]:
    """Return what was shown, without kinds that other errands are about."""
    category_of, reserved = world.shop.catalog.category_of, world.reserved_kinds
    return [row for row in world.shown if category_of(row).name not in reserved] if reserved else list(world.shown)


def first_of_kinds(world: World, rows: Iterable[int]) -> list[int]:
    """Return the first row of each category among ``rows``, in their order."""
    firsts: dict[int, int] = {}
    for row in rows:
        firsts.setdefault(int(world.shop.catalog.category_codes[row]), row)
    return list(firsts.values())


def shown_of_kind(scenario: Scenario[CartGoal], row: int) -> tuple[int | None, list[int]]:
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
