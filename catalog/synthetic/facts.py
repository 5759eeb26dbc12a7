"""Draws the products of one kind as a table of codes: one row for each product, one column for each visible fact.

A fifth of the rows are lookalikes: a copy of another row with exactly one fact changed. No two rows are equal. A fact
is unknown only if the other facts still tell the product from all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.synthetic.departments import Kind, Spread
from ecom_rlve.streams import Streams

LOOKALIKE_SHARE = 0.2
"""Share of products that are copies of another one with one fact changed."""
PRICE_UNKNOWN, PRICE_FLOOR, BRAND_UNKNOWN, ATTRIBUTE_UNKNOWN = 0.03, 0.02, 0.02, 0.03
"""Shares of products with each kind of unknown fact."""
BRANDS_PER_KIND = 9
BRAND, MODEL, FIRST_ATTRIBUTE = 0, 1, 2
"""Columns of the table."""

# Cents of prices as shops write them, and how often.
_ENDINGS = np.array([99, 49, 95, 0, 50])
_ENDING_WEIGHTS = np.array([0.5, 0.15, 0.1, 0.2, 0.05])
# A product with twice as much of what is better the more there is costs 15 % more.
_POWER_OF_PRICE = 0.2
_NO_GAP = -1
# Keys are signed numbers of 64 bits.
_LARGEST_KEY = 2**62

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Facts:
    """The products of one kind in codes."""

    table: Codes
    """Columns: brand, model, each discrete attribute, each numeric one, price. Brands, models (counted over all brands
    of the department) and words by position, numbers in steps, prices in cents."""
    gap: Codes
    """Column that is unknown, -1 where none is."""
    is_floor: NDArray[np.bool_]
    """True where the price is a lower bound."""
    rating_tenths: Codes
    rating_count: Codes
    looks_like: Codes
    """The row of which a row is a copy; an original's own position."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the facts of a kind lie in the table."""

    discrete: dict[str, int]
    numeric: dict[str, int]
    price: int


def draw_facts(kind: Kind, count: int, streams: Streams) -> Facts:
    """Return ``count`` (at least 6) products of ``kind``; they depend on the streams only."""
    rng = streams.stream("facts", kind.category.name)
    columns = _layout(kind)
    table = _originals(kind, columns, count, rng)
    rating = np.clip(np.round(rng.normal(43.0, 3.5, count)), 31, 49).astype(np.int64)
    looks_like = np.arange(count, dtype=np.int64)
    copies = round(count * LOOKALIKE_SHARE)
    sources = rng.permutation(count - copies)[:copies]
    looks_like[count - copies :] = sources
    _tell_apart(table, columns.price)
    table[count - copies :] = _changed_once(kind, columns, table[sources], rng)
    _tell_apart(table, columns.price)
    gap, is_floor = _gaps(table, columns, rng)
    return Facts(
        table=table,
        gap=gap,
        is_floor=is_floor,
        rating_tenths=rating[looks_like],
        rating_count=np.ceil(rng.lognormal(4.6, 1.7, count)).astype(np.int64),
        looks_like=looks_like,
    )


def _layout(kind: Kind) -> _Columns:
    first_number = FIRST_ATTRIBUTE + len(kind.discrete)
    return _Columns(
        discrete={name: FIRST_ATTRIBUTE + at for at, name in enumerate(kind.discrete)},
        numeric={name: first_number + at for at, name in enumerate(kind.numeric)},
        price=first_number + len(kind.numeric),
    )


def _originals(kind: Kind, columns: _Columns, count: int, rng: Generator) -> Codes:
    table = np.empty((count, columns.price + 1), dtype=np.int64)
    carried = rng.permutation(len(kind.brands))[:BRANDS_PER_KIND]
    popularity = rng.lognormal(0.0, 0.6, len(carried))
    table[:, BRAND] = carried[rng.choice(len(carried), count, p=popularity / popularity.sum())]
    first_model = np.cumsum([0] + [len(brand.models) for brand in kind.brands])
    lines = np.diff(first_model)[table[:, BRAND]]
    table[:, MODEL] = first_model[table[:, BRAND]] + rng.integers(lines)
    for name, at in columns.discrete.items():
        table[:, at] = _words(kind.discrete[name], count, rng)
    worth = np.array([brand.tier for brand in kind.brands])[table[:, BRAND]]
    for name, at in columns.numeric.items():
        spread = kind.numeric[name]
        table[:, at] = _steps(spread, spread.median * rng.lognormal(0.0, spread.spread, count))
        if ATTRIBUTES[name].better == "at_least":
            worth = worth * (table[:, at] * spread.step / spread.median) ** _POWER_OF_PRICE
    table[:, columns.price] = _prices(kind.price_median * worth * rng.lognormal(0.0, kind.price_spread, count), rng)
    return table


def _words(weights: Mapping[str, int], count: int, rng: Generator) -> Codes:
    shares = np.array(list(weights.values()), dtype=np.float64)
    return rng.choice(len(shares), count, p=shares / shares.sum())


def _steps(spread: Spread, values: NDArray[np.float64]) -> Codes:
    return np.clip(np.round(values / spread.step), *_bounds(spread)).astype(np.int64)


def _bounds(spread: Spread) -> tuple[int, int]:
    return round(spread.low / spread.step), round(spread.high / spread.step)


def _prices(amounts: NDArray[np.float64], rng: Generator) -> Codes:
    endings: Codes = _ENDINGS[rng.choice(len(_ENDINGS), len(amounts), p=_ENDING_WEIGHTS)]
    whole = np.maximum(np.floor(amounts), 1).astype(np.int64)
    prices: Codes = whole * 100 + endings
    return prices


def _changed_once(kind: Kind, columns: _Columns, rows: Codes, rng: Generator) -> Codes:
    """Return the rows with one fact changed in each. The brand is not changed, because the model belongs to it."""
    rows = rows.copy()
    chosen = rng.integers(MODEL, columns.price + 1, len(rows))
    for at in range(MODEL, columns.price + 1):
        rows[chosen == at, at] = _others(kind, columns, rows[chosen == at], at, rng)
    return rows


def _others(kind: Kind, columns: _Columns, rows: Codes, at: int, rng: Generator) -> Codes:
    """Return for each row a value of column ``at`` that differs from its own."""
    values = rows[:, at]
    if at == columns.price:
        lower, higher = rng.uniform(0.75, 0.95, len(rows)), rng.uniform(1.05, 1.3, len(rows))
        prices = _prices(values / 100 * np.where(rng.random(len(rows)) < 0.5, lower, higher), rng)
        return np.where(prices == values, values + 100, prices)
    if at == MODEL:
        first_model = np.cumsum([0] + [len(brand.models) for brand in kind.brands])
        lines, start = np.diff(first_model)[rows[:, BRAND]], first_model[rows[:, BRAND]]
        place: Codes = (values - start + rng.integers(1, lines)) % lines
        return start + place
    for name, column in columns.discrete.items():
        if column == at:
            known = len(kind.discrete[name])
            return (values + rng.integers(1, known, len(rows))) % known
    name = next(name for name, column in columns.numeric.items() if column == at)
    low, high = _bounds(kind.numeric[name])
    moved = np.clip(np.round(values * rng.uniform(0.75, 1.3, len(rows))).astype(np.int64), low, high)
    return np.where(moved != values, moved, np.where(values < high, values + 1, values - 1))


def _tell_apart(table: Codes, price: int) -> None:
    """Raise the price of rows that equal an earlier one, by one unit of money at a time, until none does."""
    while True:
        _, first = _grouped(table)
        repeated = np.ones(len(table), dtype=np.bool_)
        repeated[first] = False
        if not repeated.any():
            return
        table[repeated, price] += 100


def _grouped(table: Codes) -> tuple[Codes, Codes]:
    """Return for each row the number of its group of equal rows, and the first row of each group."""
    keys = _packed(table)
    order = np.lexsort(keys)
    is_new = np.ones(len(table), dtype=np.bool_)
    is_new[1:] = np.logical_or.reduce([key[order[1:]] != key[order[:-1]] for key in keys])
    group = np.empty(len(table), dtype=np.int64)
    group[order] = np.cumsum(is_new) - 1
    return group, order[is_new]


def _packed(table: Codes) -> list[Codes]:
    """Return a few numbers for each row, which are equal if the rows are: each number packs several columns."""
    keys: list[Codes] = []
    room = 0
    for column in table.T:
        low, high = int(column.min()), int(column.max())
        span = high - low + 1
        if span > room:
            keys.append(np.zeros(len(table), dtype=np.int64))
            room = _LARGEST_KEY
        keys[-1] = keys[-1] * span + (column - low)
        room //= span
    return keys


def _gaps(table: Codes, columns: _Columns, rng: Generator) -> tuple[Codes, NDArray[np.bool_]]:
    count = len(table)
    limits = np.cumsum([PRICE_UNKNOWN, PRICE_FLOOR, BRAND_UNKNOWN, ATTRIBUTE_UNKNOWN])
    sort = np.searchsorted(limits, rng.random(count), side="right")
    attribute = rng.integers(FIRST_ATTRIBUTE, columns.price, count)
    nothing = np.full(count, _NO_GAP)
    gap = np.choose(sort, [np.full(count, columns.price)] * 2 + [np.full(count, BRAND), attribute, nothing])
    for at in np.unique(gap[gap != _NO_GAP]):
        group, _ = _grouped(np.delete(table, at, axis=1))
        gap[(gap == at) & (np.bincount(group)[group] > 1)] = _NO_GAP
    is_floor = (sort == 1) & (gap == columns.price)
    return gap, is_floor
