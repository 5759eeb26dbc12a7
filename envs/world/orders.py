"""The customer's order history: drawn once per episode, read by goals, tools and verifiers alike (SPEC §5.1, §6).

Customers buy the same kinds of things repeatedly, often in several orders on one day. So a kind, a day or a title alone
seldom tells which order is meant. All lines are drawn by the same process.

One half of the orders have arrived. Of the other half one in five was cancelled, at any time; the others were placed in
the last days and are on their way. So "delivered" is no answer worth guessing, and every history has lines that can be
sent back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.shop_words.currencies import coin
from ecom_rlve.envs.difficulty import logistic
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.splits import SPLITS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Split
from ecom_rlve.streams import Streams, in_random_order

MIN_KINDS = 4
"""Kinds of things that a catalog must have for a history: an order has up to so many lines, each of another kind."""
MEAN_LINES = (1 + MIN_KINDS) / 2
"""Mean number of lines of an order; one to :data:`MIN_KINDS` are equally likely."""
_ORDERS_PER_KIND = 4
"""The customer buys one kind of thing for so many orders; each kind then occurs in about ten orders."""
_PRODUCTS_PER_KIND = 2
_ORDERS_PER_DAY = 4
_MOST_UNITS = 4
_TRIES = 200
_REDRAWS = 50

_CANCELLED = 0.2
"""Share of the orders that have not arrived."""
_DELAYED = 0.25
"""Share of the orders on their way."""
_OVER = 0.3
"""Share of the return windows ending about today that are over. With the lines that were sent back or bought as final
sale, between a quarter and two fifths of what was delivered cannot be returned, at every difficulty (SPEC §6)."""
_EDGE_DAYS = 2
"""Most days between today and the end of a return window that ends about today."""
_LONGEST_PAST = 75
"""Orders whose return window does not end about today are spread over so many days."""
_LONGEST_WAY = 10
"""Most days until delivery (SPEC §5.2)."""
_SENT_BACK = 0.1
_SENT_BACK_WITHIN = 10
"""Most days after delivery."""
_REDUCED = 0.65
_FINAL = 0.87
"""Of a draw in [0, 1): below ``_REDUCED`` a line has the regular price, from ``_FINAL`` on it is final sale, between
them it is on sale."""
_MANY_PRODUCTS = 5000
"""A shop with so many products has enough in every split if it has them at all."""
_MANY = 0.35

SaleClass = Literal["regular", "sale", "final_sale"]


class OrderStatus(StrEnum):
    """Where an order is."""

    PROCESSING = "processing"
    SHIPPED = "shipped"
    OUT_FOR_DELIVERY = "out_for_delivery"
    DELIVERED = "delivered"
    DELAYED = "delayed"
    CANCELLED = "cancelled"


class OrderLine(NamedTuple):
    """One product on an order."""

    line_id: str
    """Unique in the history; random, not a sequence."""
    row: int
    variant_share: float
    """Position of the bought variant in the product's list of variants, as a share in [0, 1)."""
    quantity: int
    """1 to 4 units."""
    price_cents: int
    """Price paid per unit."""
    sale_class: SaleClass
    returned: date | None
    """The day on which it was sent back before the episode; None if it was not."""


@dataclass(frozen=True, slots=True)
class Order:
    """One order."""

    order_id: str
    """Unique; random, not a sequence."""
    placed: date
    status: OrderStatus
    eta: date | None
    """Expected day of arrival of an order on its way; None if it has arrived or was cancelled."""
    delivered: date | None
    """Day of arrival; None if it has not arrived."""
    lines: tuple[OrderLine, ...]
    """1 to 4 lines, each of another kind of thing."""
    total_cents: int
    """What was paid for all lines."""

    @property
    def arrival(self) -> date | None:
        """The day on which it arrived or is expected; None if it was cancelled."""
        return self.delivered or self.eta


@dataclass(frozen=True, slots=True)
class Store:
    """What a history is drawn from."""

    shop: Shop
    split: Split
    """Split of the products on the lines."""
    streams: Streams
    """The world's random streams."""
    today: date
    window_days: Callable[[str], int]
    """Returns the return window, in days after delivery, for a department's regularly priced products."""


def has_histories(shop: Shop) -> bool:
    """Tell whether a shop has kinds enough for the order histories of every split."""
    return shop.derive(_has_histories)


def _has_histories(shop: Shop) -> bool:
    if shop.catalog.size >= _MANY_PRODUCTS:
        return len(shop.kinds(1)) >= MIN_KINDS
    kinds: dict[Split, set[int]] = {split: set() for split in SPLITS}
    codes = shop.catalog.category_codes
    for row in np.flatnonzero(shop.are_kinds[codes]).tolist():
        if _is_priced(shop.catalog, row):
            kinds[shop.split(row)].add(int(codes[row]))
    return all(len(each) >= MIN_KINDS for each in kinds.values())


def delivered_count(count: int) -> int:
    """Return how many of ``count`` orders have arrived: one half of them, rounded down (SPEC §6)."""
    return count // 2


def edge_probability(d: int) -> float:
    """Return the probability that a delivered order's return window ends about today: 0.7·σ((d - 4)/1.5) (SPEC §3)."""
    return 0.7 * logistic((d - 4) / 1.5)


def draw_orders(store: Store, count: int, d: int) -> tuple[Order, ...]:
    """Return ``count`` orders, newest first; no two have the same day and the same total.

    Raises ``GenerationError`` if the split has too few products, or if 50 draws give no such history.
    """
    for attempt in range(_REDRAWS):
        orders = _draw(store, store.streams.stream("orders", attempt), count, edge_probability(d))
        lines = [line.line_id for order in orders for line in order.lines]
        is_distinct = len({(order.placed, order.total_cents) for order in orders}) == count
        if is_distinct and len({order.order_id for order in orders}) == count and len(set(lines)) == len(lines):
            return orders
    raise GenerationError(f"no {count} orders differ in day or total after {_REDRAWS} draws; use a smaller h_orders")


class _Ware(NamedTuple):
    """A product that the customer buys."""

    row: int
    price_cents: int
    coin: int
    """Hundredths of the smallest amount of the currency: 1, or 100 where it has no decimals."""
    ship_days: int
    window_days: int


def _draw(store: Store, rng: Generator, count: int, p_edge: float) -> tuple[Order, ...]:
    kinds = _bought_kinds(store, rng, max(MIN_KINDS, count // _ORDERS_PER_KIND))
    sizes = rng.integers(1, MIN_KINDS + 1, size=count).tolist()
    picked = rng.random((count, len(kinds))).argsort(axis=1, kind="stable")[:, :MIN_KINDS].tolist()
    days = (_LONGEST_WAY + rng.integers(1, _LONGEST_PAST + 1, size=max(1, count // _ORDERS_PER_DAY))).tolist()
    order_draws = rng.random((count, 6)).tolist()
    line_draws = rng.random((count, MIN_KINDS, 7)).tolist()
    ids = rng.bytes(5 * (MIN_KINDS + 1) * count).hex().upper()
    arrived = set(rng.permutation(count)[: delivered_count(count)].tolist())
    orders = []
    for at, (size, draws) in enumerate(zip(sizes, line_draws, strict=True)):
        choices = [kinds[kind] for kind in picked[at][:size]]
        wares = [wares[int(draw[0] * len(wares))] for wares, draw in zip(choices, draws, strict=False)]
        if at in arrived:
            course = _delivered(store.today, wares, order_draws[at], days, p_edge)
        else:
            course = _undelivered(store.today, wares, order_draws[at], days)
        sent_back_by = 0 if course.delivered is None else (store.today - course.delivered).days
        names = [ids[start : start + 10] for start in range(50 * at, 50 * at + 50, 10)]
        lines = tuple(
            [
                _line(f"L{name}", ware, draw, course.delivered, sent_back_by)
                for name, ware, draw in zip(names[1:], wares, draws, strict=False)
            ]
        )
        total = sum([line.price_cents * line.quantity for line in lines])
        orders.append(Order(f"O{names[0]}", course.placed, course.status, course.eta, course.delivered, lines, total))
    return tuple(sorted(orders, key=lambda order: -order.placed.toordinal()))


def _bought_kinds(store: Store, rng: Generator, wanted: int) -> list[list[_Ware]]:
    """Return the products of each kind of thing that the customer buys."""
    names = store.shop.kinds(1)
    bought: list[list[_Ware]] = []
    for at in in_random_order(rng, len(names)):
        if wares := _wares(store, names[at], rng):
            bought.append(wares)
        if len(bought) == wanted:
            break
    if len(bought) < MIN_KINDS:
        raise GenerationError(
            f"only {len(bought)} kinds of products have one with a price in split {store.split!r}; use a larger catalog"
        )
    return bought


def _wares(store: Store, kind: str, rng: Generator) -> list[_Ware]:
    shop, split = store.shop, store.split
    catalog = shop.catalog
    rows = catalog.rows_of_category(kind)
    window = store.window_days(catalog.categories[catalog.category_index[kind]].department)
    prices, ship_days = catalog.column("price").values, catalog.column("ship_days").values
    least = coin(catalog.currency)
    found: dict[int, _Ware] = {}
    for at in rng.integers(len(rows), size=min(_TRIES, 8 * len(rows))).tolist():
        row = rows.item(at)
        if _is_priced(catalog, row) and shop.split(row) == split and row not in found:
            found[row] = _Ware(row, round(float(prices[row])), least, int(ship_days.item(row)), window)
            if len(found) == _PRODUCTS_PER_KIND:
                break
    return list(found.values())


def _is_priced(catalog: Catalog, row: int) -> bool:
    price = catalog.column("price")
    return bool(price.values[row] >= 1) and not (price.is_floor is not None and price.is_floor[row])


class _Course(NamedTuple):
    """The dates and the status of an order."""

    placed: date
    status: OrderStatus
    eta: date | None = None
    delivered: date | None = None


def _delivered(
    today: date, wares: Sequence[_Ware], draw: Sequence[float], days: Sequence[int], p_edge: float
) -> _Course:
    """Draw the dates of an order of these products that has arrived.

    ``days`` are possible ages of the order in days; several orders share one. An order whose return window ends about
    today has another age: either all its lines can be returned for a day or two, or one of them no longer can.
    """
    edge, side, which, gap, day, late, *_ = draw
    transit = _transit(wares)
    if edge >= p_edge:
        placed = today - timedelta(days=days[int(day * len(days))])
        # A day early, on time, or a day late.
        arrived = placed + timedelta(days=max(1, transit + int(late * 3) - 1))
        return _Course(placed, OrderStatus.DELIVERED, delivered=arrived)
    windows, apart = [ware.window_days for ware in wares], 1 + int(gap * _EDGE_DAYS)
    age = windows[int(which * len(windows))] + apart if side < _OVER else min(windows) - apart
    delivered = today - timedelta(days=max(0, age))
    return _Course(delivered - timedelta(days=transit), OrderStatus.DELIVERED, delivered=delivered)


def _undelivered(today: date, wares: Sequence[_Ware], draw: Sequence[float], days: Sequence[int]) -> _Course:
    """Draw the dates and the status of an order of these products that was cancelled or is on its way."""
    fate, state, delay, day, *_ = draw
    if fate < _CANCELLED:
        return _Course(today - timedelta(days=days[int(day * len(days))]), OrderStatus.CANCELLED)
    return _in_flight(today, _transit(wares), state, delay)


def _transit(wares: Sequence[_Ware]) -> int:
    return max([ware.ship_days for ware in wares])


def _in_flight(today: date, transit: int, state: float, delay: float) -> _Course:
    if delay < _DELAYED:
        placed = today - timedelta(days=transit + 1 + int(state * 4))
        return _Course(placed, OrderStatus.DELAYED, eta=today + timedelta(days=1 + int(delay / _DELAYED * 5)))
    age = int(state * (transit + 1))
    placed = today - timedelta(days=age)
    eta = placed + timedelta(days=transit)
    if age == transit:
        return _Course(placed, OrderStatus.OUT_FOR_DELIVERY, eta=eta)
    is_packed = age > 0 and 3 * age >= transit
    return _Course(placed, OrderStatus.SHIPPED if is_packed else OrderStatus.PROCESSING, eta=eta)


def _line(line_id: str, ware: _Ware, draw: Sequence[float], delivered: date | None, days_here: int) -> OrderLine:
    _, variant, many, units, sale, reduction, back = draw
    sale_class: SaleClass = "regular" if sale < _REDUCED else "sale" if sale < _FINAL else "final_sale"
    percent_off = 0 if sale_class == "regular" else 10 * (1 + int(reduction * 5))
    returned = None
    if back < _SENT_BACK and delivered is not None and days_here and sale_class != "final_sale":
        days = min(days_here, ware.window_days, _SENT_BACK_WITHIN)
        returned = delivered + timedelta(days=1 + int(back / _SENT_BACK * days)) if days else None
    return OrderLine(
        line_id=line_id,
        row=ware.row,
        variant_share=variant,
        quantity=2 + int(units * (_MOST_UNITS - 1)) if many < _MANY else 1,
        price_cents=max(1, ware.price_cents * (100 - percent_off) // 100 // ware.coin) * ware.coin,
        sale_class=sale_class,
        returned=returned,
    )
