"""What a CART episode is about: the wanted items, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from numpy.random import Generator

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.difficulty import logistic
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.parts.description import describe, facts_of
from ecom_rlve.envs.splits import SPLITS
from ecom_rlve.envs.tasks.cart.targets import eligible_row
from ecom_rlve.envs.tasks.cart.visit_history import draw_history
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.variants import Variant
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY, Split
from ecom_rlve.streams import in_random_order, stream

_TRIAL_DRAWS = 40
_LEAST_DIFFERENT = 5
"""Products that the trial draws of a split must find. In a shop where words single out one alone, every customer would
want that."""
_TRIED_IN_ALL_SPLITS = 5000
"""Products of a shop from which on a tenth of them are enough."""
_LEAST_OF_A_KIND = 6
"""Products that a category must have to be a kind of item."""
REDRAWS = 50
"""How often products are drawn again before a generator gives up (SPEC §6)."""
MOST_UNITS = 4
"""Most units of one product that are wanted; a product of which there are fewer is never wanted."""
_CLOSER_FROM = 8
"""Difficulty up to which products are wanted and described whatever others there are."""


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
    """What the cart must hold, item by item; None for an item that the customer has decided to leave out."""

    items: tuple[WantedItem | None, ...]


def variant_probability(d: int) -> float:
    """Return the probability that an item is wanted in a certain variant: σ((d - 2) / 1.5) (SPEC §3)."""
    return logistic((d - 2) / 1.5)


def many_probability(d: int) -> float:
    """Return the probability that more than one unit is wanted: min(0.5, 0.1·d) (SPEC §3)."""
    return min(0.5, 0.1 * d)


def items_at(d: int) -> int:
    """Return the number of wanted products: min(5, 1 + d // 3) (SPEC §3)."""
    return min(5, 1 + d // 3)


def most_items(shop: Shop) -> int:
    """Return how many products of different kinds can be wanted together: the most that all of 40 trial draws find.

    In a large shop only the products of one split are tried: the others have enough of every kind as well.
    """
    wanted = min(items_at(MAX_DIFFICULTY), len(shop.kinds(_LEAST_OF_A_KIND)))
    splits = SPLITS if shop.catalog.size < _TRIED_IN_ALL_SPLITS else SPLITS[:1]
    most = 0
    while most < wanted and all(_are_found(shop, most + 1, split) for split in splits):
        most += 1
    return most


def _are_found(shop: Shop, count: int, split: Split) -> bool:
    """Tell whether all trial draws find so many products, and not always the same ones."""
    found: set[int] = set()
    for trial in range(_TRIAL_DRAWS):
        try:
            drawn, _ = draw_products(shop, count, stream(trial, "trial of items", count - 1), split)
        except GenerationError:
            return False
        found.update(row for row, _ in drawn)
    return len(found) >= _LEAST_DIFFERENT


def closeness(d: int) -> float:
    """Return how close lookalikes come, 0 to 1: max(0, (d − 8) / 12).

    It is the share of wanted and visited products that are drawn among those with a lookalike, and of descriptions that
    begin with what most products have. So CART grows harder where the number of items stands still.
    """
    return max(0.0, (d - _CLOSER_FROM) / (MAX_DIFFICULTY - _CLOSER_FROM))


def draw_products(
    shop: Shop, count: int, rng: Generator, split: Split, d: int = 0
) -> tuple[list[tuple[int, tuple[Constraint, ...]]], int]:
    """Return ``count`` products of different kinds with their descriptions, and the number of redraws."""
    kinds = shop.kinds(_LEAST_OF_A_KIND)
    drawn: list[tuple[int, tuple[Constraint, ...]]] = []
    redraws = 0
    order = list(islice(in_random_order(rng, len(kinds)), REDRAWS + count))
    for at in range(REDRAWS + count):
        if len(drawn) == count:
            return drawn, redraws
        kind = kinds[order[at % len(order)]]
        if any(shop.catalog.category_of(row).name == kind for row, _ in drawn):
            continue
        row = eligible_row(shop, kind, rng, split, MOST_UNITS, closeness(d))
        description = None if row is None else describe(shop, row, rng, closeness(d))
        if row is None or description is None:
            redraws += 1
        else:
            drawn.append((row, description))
    raise GenerationError(
        f"no {count} products of different kinds that words single out were found in split {split!r} after {redraws} "
        "redraws; use another seed or a larger catalog"
    )


def history_of(shop: Shop, rng: Generator, targets: list[tuple[int, str]], split: Split, d: int) -> tuple[int, ...]:
    """Return the rows of a visit history; they are drawn as the wanted products are, if possible of the same split."""
    # Whether words single a product out does not depend on their order.
    any_order = stream(0, "words for a visited product")

    def pick(kind: str, is_of_split: bool) -> int | None:
        row = eligible_row(shop, kind, rng, split if is_of_split else None, MOST_UNITS, closeness(d))
        return row if row is not None and describe(shop, row, any_order) is not None else None

    return draw_history(rng, targets, shop.kinds(_LEAST_OF_A_KIND), pick)


def draw_wishes(world: World, rows: list[int]) -> tuple[WantedItem, ...]:
    d = world.axes.d
    draws = world.streams.stream("wishes").random((len(rows), 4)).tolist()
    items = []
    for row, (has_variant, variant, is_many, units) in zip(rows, draws, strict=True):
        variants = [each for each in world.variants(row) if each.is_plentiful]
        chosen = variants[int(variant * len(variants))] if variants and has_variant < variant_probability(d) else None
        quantity = 2 + int(units * (MOST_UNITS - 1)) if is_many < many_probability(d) else 1
        items.append(WantedItem(row, chosen, quantity))
    return tuple(items)


def item_facts(item: WantedItem, description: tuple[Constraint, ...], currency: str | None = None) -> tuple[Fact, ...]:
    quantity = Fact("quantity", Constraint("quantity", Op.EQ, item.quantity))
    variant = (variant_fact(item.variant),) if item.variant else ()
    return (quantity, *facts_of(description, currency), *variant)


def variant_fact(variant: Variant) -> Fact:
    unit = ATTRIBUTES[variant.attribute].unit
    return Fact("variant", Constraint(variant.attribute, Op.EQ, variant.value), unit)
