"""The world of one episode: a thin overlay over the shared shop (SPEC §5.1).

Goal, tools and verifier all read this object. Besides it only the conversation of an episode is mutable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any

from ecom_rlve.catalog.errors import UnknownProductError
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.policy.book import PolicyBook, ReturnTerms, draw_policy_book
from ecom_rlve.envs.policy.conditions import DEPARTMENT, TIER
from ecom_rlve.envs.policy.money import StoreMoney
from ecom_rlve.envs.policy.topics import ONLINE_RETURN
from ecom_rlve.envs.world.orders import Order, Store, draw_orders
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.variants import Variant, variants_of
from ecom_rlve.models import DomainCode, Split
from ecom_rlve.streams import Streams

_FIRST_DAY = date(2025, 1, 1)


@dataclass(frozen=True, slots=True)
class Return:
    """One return or exchange that was initiated."""

    order_id: str
    line_id: str
    reason: str
    method: str
    """How the customer is compensated: a kind of refund, or ``exchange``."""
    new_row: int | None = None
    """Row of the product taken in exchange; None for a refund."""


@dataclass(frozen=True, slots=True)
class ErrandStart:
    """What cart and returns held when an intent began: it does not count as work for this intent."""

    units: dict[tuple[int, str], int]
    """Units in the cart by row and variant id, reduced if some were taken out since."""
    returns: int
    """Number of returns and exchanges that had been initiated."""


@dataclass(slots=True)
class CartLine:
    """One line of the cart."""

    line_id: str
    row: int
    variant: Variant
    quantity: int


class World:
    """The state of an episode: stock, variants, cart, orders, returns, policy book, date, and what was shown."""

    def __init__(
        self,
        shop: Shop,
        axes: Axes,
        streams: Streams,
        split: Split = "train",
    ) -> None:
        self.shop = shop
        self.axes = axes
        self.streams = streams
        self.split = split
        """Split of the target products and of the products in the order history."""
        self.draw_history: Callable[[], tuple[int, ...]] = tuple
        """Draws the visit history when it is first asked for; empty unless an environment replaces it."""
        self.cart: list[CartLine] = []
        self.changes = 0
        """Number of changes that the customer can see: of cart lines, returns and exchanges."""
        self.lines_made = 0
        self.shown: dict[int, None] = {}
        """Rows that some result has shown, in order (SPEC §4: what r_hall accepts)."""
        self.variants_read: set[int] = set()
        """Rows whose variants the agent has read."""
        self.sold_out: set[int] = set()
        """Rows that sold out during the episode."""
        self.sold_out_variants: set[str] = set()
        """Ids of variants that sold out during the episode."""
        self.stockouts_seen: set[int | str] = set()
        """Rows and variant ids that sold out during the episode and that a result has shown to be sold out."""
        self.refused: set[int] = set()
        """Rows of which a result has said that there are fewer than were asked for."""
        self.full_cards = False
        """Cards show attributes before the whole title, for environments that compare products by attributes."""
        self.wants_facets = False
        """Results of a search in one category also list its attributes and the ranges of numbers."""
        self.pages: dict[tuple[object, ...], tuple[tuple[int, ...], int]] = {}
        """Result lists by search, with distractors in place, so that paging is consistent and cheap."""
        self.returns: list[Return] = []
        """Returns and exchanges that the agent has initiated, in order."""
        self.errand_start = ErrandStart({}, 0)
        """The start of the current intent."""
        self._errand_starts: list[ErrandStart] = []
        self.sections_read: set[str] = set()
        """Ids of sections of the policy book that the agent has read."""
        self.orders_read: set[str] = set()
        """Ids of orders that the agent has read."""
        self.eligibility_read: set[str] = set()
        """Ids of order lines for which a check has told whether they can be returned."""
        self.returns_refused: set[str] = set()
        """Ids of order lines of which a return or an exchange was attempted and refused as not eligible."""
        self._windows: dict[str, int] = {}
        self._terms: dict[tuple[str, bool], ReturnTerms] = {}
        self._variants: dict[int, tuple[Variant, ...]] = {}

    def begin_errand(self) -> ErrandStart:
        """Begin an intent: what is done from now on counts for it. Returns its start.

        When the customer comes back to an interrupted intent, :attr:`errand_start` must be set to its start again.
        """
        units = {(line.row, line.variant.id): line.quantity for line in self.cart}
        self.errand_start = ErrandStart(units, len(self.returns))
        self._errand_starts.append(self.errand_start)
        return self.errand_start

    def took_out(self, line: CartLine, left: int) -> None:
        """Note that only ``left`` units of a line remain in the cart; units put in again later count as new work."""
        key = (line.row, line.variant.id)
        for start in self._errand_starts:
            if start.units.get(key, 0) > left:
                start.units[key] = left

    @property
    def errand_cart(self) -> list[CartLine]:
        """The cart's lines, without the units that were in it before the current intent."""
        before = self.errand_start.units
        if not before:
            return self.cart
        lines = []
        for line in self.cart:
            more = line.quantity - before.get((line.row, line.variant.id), 0)
            if more > 0:
                lines.append(replace(line, quantity=more))
        return lines

    @property
    def errand_returns(self) -> list[Return]:
        """Returns and exchanges that were initiated since the current intent began."""
        return self.returns[self.errand_start.returns :]

    @cached_property
    def history(self) -> tuple[int, ...]:
        """Rows of the visit history in the order shown; drawn when first asked for."""
        return self.draw_history()

    @cached_property
    def today(self) -> date:
        """The store's date, from the seed, never from the clock."""
        return _FIRST_DAY + timedelta(days=int(self.streams.stream("today").integers(365)))

    @cached_property
    def book(self) -> PolicyBook:
        """The store's policy book; drawn when first asked for."""
        return draw_policy_book(
            self.streams, self.shop.departments, self.axes.b_branch, StoreMoney(self.shop.catalog.currency)
        )

    @cached_property
    def tier(self) -> str:
        """The customer's membership tier."""
        tiers = self.book.tiers
        return tiers[int(self.streams.stream("tier").integers(len(tiers)))]

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """The customer's orders, newest first; axis 9 gives their number. Drawn when first asked for."""
        store = Store(self.shop, self.split, self.streams, self.today, self.window_days)
        return draw_orders(store, self.axes.h_orders, self.axes.d)

    def window_days(self, department: str) -> int:
        """Return this customer's return window, in days after delivery, for a department's goods at regular prices."""
        if department not in self._windows:
            situation = {DEPARTMENT: department, TIER: self.tier}
            self._windows[department] = int(self.book.rule(ONLINE_RETURN).figure(situation))
        return self._windows[department]

    def return_terms(self, department: str, *, is_final_sale: bool) -> ReturnTerms:
        """Return the book's terms for this customer and a line of a department."""
        key = (department, is_final_sale)
        if key not in self._terms:
            self._terms[key] = self.book.return_terms(department, tier=self.tier, is_final_sale=is_final_sale)
        return self._terms[key]

    @property
    def seen(self) -> int:
        """Number of products and lists of variants that results have shown so far."""
        return len(self.shown) + len(self.variants_read)

    def row_of(self, product_id: str) -> int:
        """Return a product's row; raises the domain error UNKNOWN_PRODUCT."""
        try:
            return self.shop.catalog.row_of(product_id)
        except UnknownProductError:
            raise DomainError(
                DomainCode.UNKNOWN_PRODUCT, "no product has this id; use ids that search results show"
            ) from None

    def shown_row(self, product_id: str) -> int | None:
        """Return the row of a product that some result has shown; None for every other id, which earns nothing."""
        try:
            row = self.shop.catalog.row_of(product_id)
        except UnknownProductError:
            return None
        return row if row in self.shown else None

    def variants(self, row: int) -> tuple[Variant, ...]:
        """Return a product's variants in listing order."""
        if row not in self._variants:
            self._variants[row] = variants_of(self.shop, self.streams, row)
        return self._variants[row]

    def stock(self, row: int) -> int:
        """Units of a product on the shelf now."""
        return 0 if row in self.sold_out else int(self.shop.catalog.column("stock").values.item(row))

    def in_stock(self, row: int, variant: Variant | None = None) -> bool:
        """Tell whether a product, in this variant, can be bought now; records a stock-out of the episode as seen."""
        if row in self.sold_out:
            self.stockouts_seen.add(row)
        if variant is not None and variant.id in self.sold_out_variants:
            self.stockouts_seen.add(variant.id)
            return False
        return self.units(row, variant) > 0

    def units(self, row: int, variant: Variant | None = None) -> int:
        """Units of a product on the shelf now, in this variant."""
        stock = self.stock(row)
        return stock if variant is None or variant.stock is None else min(stock, variant.stock)

    def show(self, row: int, names: tuple[str, ...] = ()) -> dict[str, object]:
        """Return a product's card, and record the product as shown."""
        self.shown[row] = None
        return self.card(row, names)

    def card(self, row: int, names: tuple[str, ...] = ()) -> dict[str, object]:
        """Return a product's card without recording it as shown; the attributes ``names`` are not left out."""
        return {**self._card(row, names), "in_stock": self.in_stock(row)}

    def title(self, row: int) -> str:
        """Return a product's title as its card shows it."""
        return str(self._card(row)["title"])

    def _card(self, row: int, names: tuple[str, ...] = ()) -> Mapping[str, Any]:
        made = self.shop.full_card if self.full_cards else self.shop.card
        card = made(row)
        return made(row, names) if "more" in card and any(name not in card for name in names) else card

    def shown_ids(self) -> set[str]:
        """Product ids that some result has shown."""
        return {self.shop.catalog.ids[row] for row in self.shown}

    def cart_ids(self) -> tuple[str, ...]:
        """Product ids in the cart as it stands."""
        return tuple(self.shop.catalog.ids[line.row] for line in self.cart)
