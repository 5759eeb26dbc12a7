"""Constraints as a shopper would state them: drawn from a product and widened until others meet them too (SPEC §6).

Words become equalities, numbers become bounds in their natural direction. A bound is first rounded, away from the
product, to a number that is easily said. So the value that is said is exactly the constraint's value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import exp, floor
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Columns, Comparable, Constraint, Op, all_met, all_satisfied, ends, words
from ecom_rlve.catalog.shop_words.currencies import price_scale
from ecom_rlve.envs.world.shop import Shop

CONSTRAINABLE: tuple[str, ...] = ("brand", "rating", "ship_days", *ATTRIBUTES)
"""What a constraint can be about, besides category and price."""

MOST_ALTERNATIVES = 2
"""Most values of an equality, where nothing else is asked for: "A or B"."""
_PRICE_STEP, _CHEAP = 100, 1000
"""Prices are stated in whole dollars, those below ten dollars in halves; in cents."""
LEAST_RATING = 3.0
"""Nobody asks for "one star or more"; so a lower rating is never wished for, as if it were unknown."""
_DIGITS_SAID = 2
"""Significant digits of a rounded number."""
_LEAST_STEP = {"rating": Decimal("0.1"), "ship_days": Decimal(1)}
_AT_ONCE = 1 << 18
"""Number of products that are counted at once, so that counting takes little memory."""

_FEW = 256
"""With at most this many products, their distances are computed without a scan before."""

Places = NDArray[np.integer]
"""Positions within the products that constraints are compared with."""


def price_bound(price_cents: int, d: int, draw: float) -> int:
    """Return the price and a share U(0, ½e^{−d/5}) of it, in whole cents; ``draw`` in [0, 1) fixes the share."""
    return floor(price_cents * (1 + draw * 0.5 * exp(-d / 5)))


def stated_price_bound(price_cents: int, d: int, draw: float, currency: str | None = None) -> Constraint:
    """Return "at most" :func:`price_bound` as shoppers state it: less than a dollar higher, round or a cent below that.

    In a ``currency`` of which more units make a price, it is a round number of these.

    >>> stated_price_bound(2000, 0, 0.45).value, stated_price_bound(2000, 0, 0.451).value
    (2500, 2499)
    """
    exact = price_bound(price_cents, d, draw)
    scale = 1 if currency is None else price_scale(currency)
    step = (_PRICE_STEP if exact >= _CHEAP * scale else _PRICE_STEP // 2) * scale
    round_price = -(-exact // step) * step
    # What is left of the exact bound is as good as a coin.
    return Constraint("price", Op.AT_MOST, max(exact, round_price - exact % 2) if scale == 1 else round_price)


def tells_apart(catalog: Catalog, name: str) -> bool:
    """Tell whether a column can be wished for at all: the brand of a shop that sells one brand says nothing."""
    return name != "brand" or len(catalog.column(name).vocabulary or ()) > 1


def usable_names(catalog: Catalog, row: int, rng: Generator) -> Iterator[str]:
    """Yield, in random order, what a constraint drawn from this product can be about besides its price.

    Left out are unknown attributes and the one in which the product comes in variants.
    """
    variant = catalog.category_of(row).variant_attribute
    for at in rng.permutation(len(CONSTRAINABLE)).tolist():
        name = CONSTRAINABLE[at]
        value = catalog.value(row, name)
        is_low = name == "rating" and isinstance(value, int | float) and value < LEAST_RATING
        if name != variant and value is not None and not is_low and tells_apart(catalog, name):
            yield name


def usable_counts(shop: Shop) -> NDArray[np.int8]:
    """Return for each product how many constraints could be drawn from it, including one on its price; made once.

    0 if the price is unknown or only a lower bound, if the product is out of stock, or if nobody can say what it is: it
    cannot be a target.
    """
    return shop.derive(_usable_counts)


def _usable_counts(shop: Shop) -> NDArray[np.int8]:
    catalog = shop.catalog
    price, stock = catalog.column("price"), catalog.column("stock").values
    counts = np.zeros(catalog.size, dtype=np.int8)
    names = [name for name in CONSTRAINABLE if tells_apart(catalog, name)]
    for start in range(0, catalog.size, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        found = 1 + known_count(shop, names, some)
        found[(stock[some] < 1) | ~(price.values[some] >= 0) | ~shop.are_kinds[catalog.category_codes[some]]] = 0
        if price.is_floor is not None:
            found[price.is_floor[some]] = 0
        counts[some] = found
    return counts


def known_count(shop: Shop, names: Sequence[str], rows: slice) -> NDArray[np.int8]:
    """Return for each of ``rows`` how many of the columns ``names`` are known, without its variant attribute."""
    catalog = shop.catalog
    codes = catalog.category_codes[rows]
    counts = np.zeros(len(codes), dtype=np.int8)
    for name in names:
        values = catalog.column(name).values[rows]
        is_known = values >= LEAST_RATING if name == "rating" else _are_known(values)
        is_variant = shop.variant_attributes == name
        counts += is_known & ~is_variant[codes] if is_variant.any() else is_known
    return counts


def _are_known(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(values) if values.dtype.kind == "f" else values >= 0)


def usable_in_categories(shop: Shop, m: int) -> NDArray[np.int64]:
    """Return for each category from how many products ``m`` constraints, including the price's, could be drawn."""
    table = shop.derive(_usable_table)
    return np.asarray(table[:, min(m, table.shape[1] - 1)])


def _usable_table(shop: Shop) -> NDArray[np.int64]:
    """Return for each category from how many products at least 0, 1, 2 … constraints could be drawn.

    Shape (categories, most constraints + 2); the last column is 0.
    """
    width, counts = len(CONSTRAINABLE) + 3, usable_counts(shop)
    table = np.zeros(len(shop.catalog.categories) * width, dtype=np.int64)
    for start in range(0, shop.catalog.size, _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        table += np.bincount(shop.catalog.category_codes[some] * np.int64(width) + counts[some], minlength=len(table))
    return np.cumsum(table.reshape(-1, width)[:, ::-1], axis=1)[:, ::-1]


def usable_places(shop: Shop, aisle: Aisle, m: int) -> Places:
    """Return the places of an aisle's products from which ``m`` constraints could be drawn."""
    return np.flatnonzero(shop.part("usable", usable_counts(shop), aisle) >= m)


def natural_constraint(catalog: Catalog, row: int, name: str) -> Constraint:
    """Return the constraint that a shopper with this product in mind would state on ``name``.

    The product's value must be known.
    """
    value = catalog.value(row, name)
    if isinstance(value, str):
        return Constraint(name, Op.EQ, value)
    assert value is not None, f"{name} of row {row} is unknown"
    is_most = _is_at_most(name)
    return Constraint(name, Op.AT_MOST if is_most else Op.AT_LEAST, sayable(name, value, up=is_most))


def natural_bound(name: str, range_: tuple[float, float]) -> Constraint:
    """Return the side of a range that a shopper minds, and that searches filter by."""
    low, high = range_
    return Constraint(name, Op.AT_MOST, high) if _is_at_most(name) else Constraint(name, Op.AT_LEAST, low)


def sayable(name: str, value: float, *, up: bool) -> float:
    """Return the number rounded to one that is easily said: tenths of a star, whole days, else two significant digits.

    >>> sayable("weight", 347.0, up=True), sayable("capacity", 55400.0, up=False), sayable("weight", 1.8, up=True)
    (350.0, 55000.0, 1.8)
    """
    exact = Decimal(repr(float(value)))
    step = _LEAST_STEP.get(name) or Decimal(1).scaleb(exact.adjusted() - _DIGITS_SAID + 1)
    return float((exact / step).to_integral_value(ROUND_CEILING if up else ROUND_FLOOR) * step)


def widened(
    products: Columns,
    constraints: Sequence[Constraint],
    among: NDArray[np.bool_],
    enough: int,
    alternatives: int = MOST_ALTERNATIVES,
) -> tuple[tuple[Constraint, ...], Places]:
    """Widen constraints until ``enough`` products meet them or no further one can; return them and who meets them.

    Only products with ``among`` true count. The nearest product is let in, one after another: bounds move to it, ranges
    on the side on which it lies, equalities get up to so many ``alternatives`` ("A or B"), and exclusions lose words
    until one is left. The distance is 1 for each word that must be added or taken away, and for each bound the share of
    the products' range by which it must move. Ties go to the earlier product. A scan of the columns is cheap, so
    distances are computed only if too few products meet the constraints as they are.
    """
    stated, places = list(constraints), np.flatnonzero(among)
    if len(places) > _FEW:
        fitting = np.flatnonzero(all_met(products, constraints, among))
        if len(fitting) >= enough:
            return tuple(constraints), fitting
    sides = [_Side.of(products, constraint, places, alternatives) for constraint in stated]
    costs = np.empty((len(stated), len(places)))
    for at, (side, constraint) in enumerate(zip(sides, stated, strict=True)):
        costs[at] = side.costs(constraint)
    is_met = np.ones(len(places), dtype=np.bool_)
    while len(places):
        total = np.add.reduce(costs)
        is_met = total == 0
        total[is_met] = np.inf
        nearest = int(total.argmin())
        if np.count_nonzero(is_met) >= enough or total[nearest] == np.inf:
            break
        for at in [at for at, cost in enumerate(costs[:, nearest].tolist()) if cost]:
            stated[at] = sides[at].admitting(stated[at], nearest)
            costs[at] = sides[at].costs(stated[at])
    # A price that is only a lower bound is as near as another, and meets nothing.
    vague = [each for each, side in zip(stated, sides, strict=True) if side.column.is_floor is not None]
    return tuple(stated), all_satisfied(products, vague, places[is_met])


def can_be_met(
    products: Columns, constraint: Constraint, among: NDArray[np.bool_], enough: int, alternatives: int
) -> bool:
    """Tell whether ``enough`` of the products in ``among`` could meet a constraint, however far it is widened.

    That takes so many known values, and of words, so many products with one of the ``alternatives`` that are named. In
    a shop where hardly two products are of one brand, no wish for a brand leaves a choice.
    """
    column = products.column(constraint.attribute)
    values = column.values[np.flatnonzero(among)]
    if column.vocabulary is None:
        return int(np.count_nonzero(wishable(constraint.attribute, values.astype(np.float64)))) >= enough
    codes, counts = np.unique(values[values >= 0], return_counts=True)
    named = [code for word in words(constraint) if (code := column.encode(word)) is not None]
    is_named = np.isin(codes, named)
    others = np.sort(counts[~is_named])[::-1][: max(0, alternatives - len(named))]
    return int(counts[is_named].sum() + others.sum()) >= enough


def wishable(name: str, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which numbers a bound may move to."""
    return numbers >= LEAST_RATING if name == "rating" else ~np.isnan(numbers)


@dataclass(frozen=True, eq=False, slots=True)
class _Side:
    """One attribute of the products, prepared for repeated comparison with a constraint on it."""

    column: Comparable
    values: NDArray[Any]
    """Codes of words, or numbers; an unknown number is infinite, so that it meets no bound."""
    strangers: NDArray[np.float64]
    """The cost of letting in each product's word: 1, infinite if unknown. Empty for numbers."""
    spread: float
    alternatives: int
    """Most values of an equality."""

    @classmethod
    def of(cls, products: Columns, constraint: Constraint, places: Places, alternatives: int) -> _Side:
        column = products.column(constraint.attribute)
        values = column.values[places]
        if column.vocabulary is not None:
            return cls(column, values, np.where(values < 0, np.inf, 1.0), 1.0, alternatives)
        numbers = values.astype(np.float64)
        is_known = wishable(constraint.attribute, numbers)
        known = numbers[is_known]
        spread = float(known.max() - known.min()) if len(known) else 0.0
        worst = -np.inf if constraint.op is Op.AT_LEAST else np.inf
        return cls(column, np.where(is_known, numbers, worst), numbers[:0], spread or 1.0, alternatives)

    def costs(self, constraint: Constraint) -> NDArray[np.float64]:
        """Return the cost of letting each product in: 0 if it meets the constraint, infinite if it cannot be let in."""
        if self.column.vocabulary is None:
            low, high = _limits(constraint)
            return np.maximum(np.maximum(low - self.values, self.values - high), 0.0) / self.spread
        named = words(constraint)
        is_named = np.zeros(len(self.values), dtype=np.bool_)
        for word in named:
            is_named |= self.values == self.column.encode(word)
        if constraint.op is Op.NONE_OF:
            # An exclusion of nothing would be none.
            return np.where(is_named & (len(named) < 2), np.inf, np.where(is_named, 1.0, self.strangers - 1.0))
        return np.where(is_named, 0.0, self.strangers if len(named) < self.alternatives else np.inf)

    def admitting(self, constraint: Constraint, at: int) -> Constraint:
        """Return the constraint widened so that the product at position ``at`` meets it; its value must be known."""
        value, name = self.values.item(at), constraint.attribute
        if self.column.vocabulary is not None:
            word, named = self.column.vocabulary[value], words(constraint)
            if constraint.op is Op.NONE_OF:
                return replace(constraint, value=tuple(each for each in named if each != word))
            return Constraint(name, Op.ANY_OF, tuple(sorted((*named, word))))
        if constraint.op is Op.BETWEEN:
            low, high = ends(constraint)
            if value < low:
                return replace(constraint, value=(sayable(name, value, up=False), high))
            return replace(constraint, value=(low, sayable(name, value, up=True)))
        return replace(constraint, value=sayable(name, value, up=constraint.op is Op.AT_MOST))


def _limits(constraint: Constraint) -> tuple[float, float]:
    """Return the lowest and the highest number that a bound or a range allows."""
    if constraint.op is Op.BETWEEN:
        return ends(constraint)
    assert isinstance(constraint.value, int | float), f"{constraint.op} takes a number"
    return (-np.inf, constraint.value) if constraint.op is Op.AT_MOST else (constraint.value, np.inf)


def _is_at_most(name: str) -> bool:
    return name == "ship_days" or (name in NUMERIC and ATTRIBUTES[name].better == "at_most")
