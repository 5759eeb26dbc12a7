"""The world of one episode: a thin overlay over the shared shop (SPEC §5.1).

Goal, tools and verifier read this one object. It is the only mutable thing of an episode besides the conversation.
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
    """How the customer is compensated; ``exchange`` for an exchange."""
    new_row: int | None = None
    """Product taken in exchange."""


@dataclass(frozen=True, slots=True)
class ErrandStart:
    """What there was when an errand began: it counts for no errand that begins later."""

    units: dict[tuple[int, str], int]
    """Units in the cart by row and variant id; fewer where some were taken out since."""
    returns: int
    """Returns and exchanges initiated."""


@dataclass(slots=True)
class CartLine:
    """One line of the cart."""

    line_id: str
    row: int
    variant: Variant
    quantity: int


class World:
    """Stock changes, variants, cart, what has been shown, the date."""

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
        """Of the products that the customer has ordered."""
        self.draw_history: Callable[[], tuple[int, ...]] = tuple
        """Draws the visit history when it is first asked for; empty unless an environment says otherwise."""
        self.cart: list[CartLine] = []
        self.changes = 0
        """Times that something the customer can see was changed: cart lines, returns, exchanges."""
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
        """Sold-out rows and variant ids that a result has shown to be sold out."""
        self.full_cards = False
        """Cards show attributes before the whole title (where products are compared by them)."""
        self.wants_facets = False
        """Searches within a category tell its attributes and the ranges of its numbers."""
        self.pages: dict[tuple[object, ...], tuple[tuple[int, ...], int]] = {}
        """Ranked and degraded result lists by search, so that paging is consistent and cheap."""
        self.returns: list[Return] = []
        """Returns and exchanges that the agent has initiated, in order."""
        self.errand_start = ErrandStart({}, 0)
        """Where the errand that is spoken of began."""
        self._errand_starts: list[ErrandStart] = []
        self.sections_read: set[str] = set()
        """Ids of sections of the policy book that the agent has read."""
        self.orders_read: set[str] = set()
        """Ids of orders that the agent has read."""
        self.eligibility_read: set[str] = set()
        """Ids of order lines of which a result has said whether they can be returned."""
        self._windows: dict[str, int] = {}
        self._terms: dict[tuple[str, bool], ReturnTerms] = {}
        self._variants: dict[int, tuple[Variant, ...]] = {}

    def begin_errand(self) -> ErrandStart:
        """Let what is done from now on count for a new errand; one that is come back to needs its own start again."""
        units = {(line.row, line.variant.id): line.quantity for line in self.cart}
        self.errand_start = ErrandStart(units, len(self.returns))
        self._errand_starts.append(self.errand_start)
        return self.errand_start

    def took_out(self, line: CartLine, left: int) -> None:
        """Forget of what was in the cart before an errand what is no longer there: put in again, it is new."""
        key = (line.row, line.variant.id)
        for start in self._errand_starts:
            if start.units.get(key, 0) > left:
                start.units[key] = left

    @property
    def errand_cart(self) -> list[CartLine]:
        """The cart's lines without what was in it before the errand."""
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
        """Returns and exchanges that were initiated since the errand began."""
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
        return draw_policy_book(self.streams, self.shop.departments, self.axes.b_branch)

    @cached_property
    def tier(self) -> str:
        """The customer's membership tier."""
        tiers = self.book.tiers
        return tiers[int(self.streams.stream("tier").integers(len(tiers)))]

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """The customer's orders, newest first; drawn when first asked for, as many as axis 9 says."""
        store = Store(self.shop, self.split, self.streams, self.today, self.window_days)
        return draw_orders(store, self.axes.h_orders, self.axes.d)

    def window_days(self, department: str) -> int:
        """Days after delivery in which this customer can return a department's things at a regular price."""
        if department not in self._windows:
            situation = {DEPARTMENT: department, TIER: self.tier}
            self._windows[department] = int(self.book.rule(ONLINE_RETURN).figure(situation))
        return self._windows[department]

    def return_terms(self, department: str, *, is_final_sale: bool) -> ReturnTerms:
        """Return the book's terms for this customer."""
        key = (department, is_final_sale)
        if key not in self._terms:
            self._terms[key] = self.book.return_terms(department, tier=self.tier, is_final_sale=is_final_sale)
        return self._terms[key]

    @property
    def seen(self) -> int:
        """How many products and variant lists results have shown so far."""
        return len(self.shown) + len(self.variants_read)

    def row_of(self, product_id: str) -> int:
        """Return a product's row; raises the domain error UNKNOWN_PRODUCT."""
        try:
            return self.shop.catalog.row_of(product_id)
        except UnknownProductError:
            raise DomainError(
                DomainCode.UNKNOWN_PRODUCT, "no product has this id; use ids that search results show"
            ) from None

    def variants(self, row: int) -> tuple[Variant, ...]:
        """Return a product's variants in listing order."""
        if row not in self._variants:
            self._variants[row] = variants_of(self.shop, self.streams, row)
        return self._variants[row]

    def stock(self, row: int) -> int:
        """Units of a product on the shelf now."""
        return 0 if row in self.sold_out else int(self.shop.catalog.column("stock").values.item(row))

    def in_stock(self, row: int, variant: Variant | None = None) -> bool:
        """Tell whether a product (in this variant) can be bought now; remembers a sold-out one as seen to be so."""
        if row in self.sold_out:
            self.stockouts_seen.add(row)
        if variant is not None and variant.id in self.sold_out_variants:
            self.stockouts_seen.add(variant.id)
            return False
        return self.stock(row) > 0

    def show(self, row: int) -> dict[str, object]:
        """Return a product's card and book the product as shown."""
        self.shown[row] = None
        return self.card(row)

    def card(self, row: int) -> dict[str, object]:
        """Return a product's card without booking it as shown."""
        return {**self._card(row), "in_stock": self.in_stock(row)}

    def title(self, row: int) -> str:
        """Return a product's title as its card shows it."""
        return str(self._card(row)["title"])

    def _card(self, row: int) -> Mapping[str, Any]:
        return self.shop.full_card(row) if self.full_cards else self.shop.card(row)

    def shown_ids(self) -> set[str]:
        """Product ids that some result has shown."""
        return {self.shop.catalog.ids[row] for row in self.shown}

    def cart_ids(self) -> tuple[str, ...]:
        """Product ids in the cart as it stands."""
        return tuple(self.shop.catalog.ids[line.row] for line in self.cart)
