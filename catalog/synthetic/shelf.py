"""The procedural catalog: a shop that needs no download, and is the same everywhere for the same size and seed.

The facts of all products are drawn first, kind by kind, as small numbers: some 80 bytes for each product. A product's
texts are made from them when it is needed, in any order and any number of times. So many processes can make parts of
one shelf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import NUMERIC
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.derived import ship_days_and_stock
from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.shop_words.variant_values import variant_values
from ecom_rlve.catalog.synthetic.departments import Kind, departments
from ecom_rlve.catalog.synthetic.facts import BRAND, FIRST_ATTRIBUTE, MODEL, draw_facts
from ecom_rlve.catalog.synthetic.text import PICKS, phrases, write_text
from ecom_rlve.streams import Streams

MIN_SIZE = 40
MIN_CATEGORIES = 5
MIN_PRODUCTS = 6
"""Each category that is used has at least so many products."""

_ID_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ID_LENGTH = 10
_AT_ONCE = 4096
"""So many products are looked up at a time."""


class SyntheticShelf:
    """The products of a procedural catalog by their place on its shelf; each is made when it is needed.

    Each category that is used holds at least :data:`MIN_PRODUCTS` products; a fifth of them are lookalikes. No text of
    a product names its variant attribute. Its known values of brand, model, the other typed attributes and price
    together distinguish it from all others of its category. Safe to use from several threads.
    """

    def __init__(self, size: int = 10_000, seed: int = 0) -> None:
        """Draw all facts; raises :class:`CatalogError` for a size below 40."""
        if size < MIN_SIZE:
            raise CatalogError(f"a procedural catalog needs at least {MIN_SIZE} products, not {size}")
        streams = Streams("synthetic", seed)
        rng = streams.stream("layout")
        kinds = _used_kinds(size, rng)
        counts = _counts(len(kinds), size, rng)
        self._drawn = [_Drawn.of(kind, count, streams) for kind, count in zip(kinds, counts, strict=True)]
        self._starts = np.array([0, *accumulate(counts[:-1])], dtype=np.int64)
        self._id_numbers = _id_numbers(seed, size)
        self._order = rng.permutation(size).astype(np.int32)
        self.size = size
        self.categories: tuple[Category, ...] = tuple(kind.category for kind in kinds)
        """Its leaf categories, in no particular order."""

    def products(self, start: int = 0, stop: int | None = None) -> Iterator[Product]:
        """Yield the products from place ``start`` up to ``stop`` (None: the end)."""
        first, end, _ = slice(start, stop).indices(self.size)
        for begin in range(first, end, _AT_ONCE):
            numbers = self._order[begin : min(end, begin + _AT_ONCE)]
            kinds = np.searchsorted(self._starts, numbers, side="right") - 1
            rows = (numbers - self._starts[kinds]).tolist()
            ids = self._id_numbers[numbers].tolist()
            for kind, row, number in zip(kinds.tolist(), rows, ids, strict=True):
                yield self._drawn[kind].product(row, _base36(number))


def synthetic_catalog(size: int = 10_000, seed: int = 0) -> Catalog:
    """Return a catalog of ``size`` invented products, those of :class:`SyntheticShelf` in order."""
    shelf = SyntheticShelf(size, seed)
    return Catalog.from_products(shelf.products(), shelf.categories)


def _used_kinds(size: int, rng: Generator) -> list[Kind]:
    """Pick kinds from each department in turn, so that a small catalog has some of all of them."""
    shuffled = [[group[at] for at in rng.permutation(len(group))] for group in departments()]
    queues = [shuffled[at] for at in rng.permutation(len(shuffled))]
    rounds = max(map(len, queues))
    ordered = [queue[turn] for turn in range(rounds) for queue in queues if turn < len(queue)]
    return ordered[: max(MIN_CATEGORIES, size // 8)]


def _counts(kinds: int, size: int, rng: Generator) -> list[int]:
    shares = rng.lognormal(0.0, 0.4, kinds)
    counts: list[int] = (MIN_PRODUCTS + rng.multinomial(size - kinds * MIN_PRODUCTS, shares / shares.sum())).tolist()
    return counts


def _id_numbers(seed: int, size: int) -> NDArray[np.uint64]:
    """Return ``size`` different numbers below 36^10 in no sequence; a number that was drawn before is skipped."""
    numbers = _digests(seed, 0, size)
    tried = size
    while True:
        _, first = np.unique(numbers, return_index=True)
        if len(first) == size:
            return numbers
        kept = numbers[np.sort(first)]
        missing = size - len(kept)
        numbers = np.concatenate((kept, _digests(seed, tried, tried + missing)))
        tried += missing


def _digests(seed: int, start: int, stop: int) -> NDArray[np.uint64]:
    digests = b"".join([blake2b(f"{seed}:{at}".encode(), digest_size=8).digest() for at in range(start, stop)])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64) % np.uint64(len(_ID_LETTERS) ** _ID_LENGTH)


def _base36(number: int) -> str:
    letters = []
    for _ in range(_ID_LENGTH):
        number, digit = divmod(number, len(_ID_LETTERS))
        letters.append(_ID_LETTERS[digit])
    return "".join(letters)


@dataclass(frozen=True, eq=False, slots=True)
class _Drawn:
    """All products of one kind as small numbers. The texts of a lookalike are worded like its original's."""

    kind: Kind
    models: tuple[str, ...]
    words: tuple[tuple[str, tuple[str, ...]], ...]
    """Discrete attributes with their values by code."""
    offered: tuple[str | float, ...]
    """Values of the variant attribute."""
    told: frozenset[str]
    """Attributes that texts may state."""
    table: NDArray[np.int32]
    """As in :class:`Facts`."""
    gap: NDArray[np.int8]
    is_floor: NDArray[np.bool_]
    rating_tenths: NDArray[np.uint8]
    rating_count: NDArray[np.int32]
    own: NDArray[np.uint8]
    """Which of the values offered a product has."""
    picks: NDArray[np.uint16]
    """What :func:`write_text` takes."""
    orders: NDArray[np.uint8]
    """Attributes by position; a text names the first ones first."""

    @classmethod
    def of(cls, kind: Kind, count: int, streams: Streams) -> _Drawn:
        facts = draw_facts(kind, count, streams)
        rng = streams.stream("texts", kind.category.name)
        offered = variant_values(kind.category, kind.category.variant_attribute)
        own = rng.integers(len(offered), size=count)
        picks = rng.integers(2**16, size=(count, PICKS))
        orders = rng.random((count, len(kind.discrete) + len(kind.numeric))).argsort(axis=1, kind="stable")
        return cls(
            kind=kind,
            models=tuple(model for brand in kind.brands for model in brand.models),
            words=tuple((name, tuple(weights)) for name, weights in kind.discrete.items()),
            offered=offered,
            told=_told_attributes(kind),
            table=facts.table.astype(np.int32),
            gap=facts.gap.astype(np.int8),
            is_floor=facts.is_floor,
            rating_tenths=facts.rating_tenths.astype(np.uint8),
            rating_count=facts.rating_count.astype(np.int32),
            own=own.astype(np.uint8),
            picks=picks[facts.looks_like].astype(np.uint16),
            orders=orders[facts.looks_like].astype(np.uint8),
        )

    def product(self, row: int, product_id: str) -> Product:
        """Return the product of a row, under an id."""
        kind = self.kind
        codes: list[int] = self.table[row].tolist()
        gap, is_floor = self.gap.item(row), self.is_floor.item(row)
        values = self._decoded(codes)
        names = list(values)
        if FIRST_ATTRIBUTE <= gap < len(codes) - 1:
            del values[names[gap - FIRST_ATTRIBUTE]]
        ordered = (names[at] for at in self.orders[row].tolist())
        stated = [phrases(name, values[name]) for name in ordered if name in self.told and name in values]
        brand = None if gap == BRAND else kind.brands[codes[BRAND]].name
        model = self.models[codes[MODEL]]
        text = write_text(kind, brand, model, stated, self.picks[row].tolist())
        ship_days, stock = ship_days_and_stock(product_id)
        return Product(
            id=product_id,
            title=text.title,
            category=kind.category.name,
            description=text.description,
            features=text.features,
            brand=brand,
            store=brand,
            price_cents=None if gap == len(codes) - 1 and not is_floor else codes[-1],
            price_is_floor=is_floor,
            rating=self.rating_tenths.item(row) / 10,
            rating_count=self.rating_count.item(row),
            ship_days=ship_days,
            stock=stock,
            attributes={**values, "model": model, kind.category.variant_attribute: self.offered[self.own.item(row)]},
        )

    def _decoded(self, codes: list[int]) -> dict[str, str | float]:
        """Return the discrete and numeric attributes that a row of the table stands for, by name."""
        values: dict[str, str | float] = {}
        at = FIRST_ATTRIBUTE
        for name, words in self.words:
            values[name] = words[codes[at]]
            at += 1
        for name, spread in self.kind.numeric.items():
            values[name] = round(codes[at] * spread.step, 2)
            at += 1
        return values


def _told_attributes(kind: Kind) -> frozenset[str]:
    """Return what texts may state; if variants are numeric, no number, because it could be taken for the variant."""
    numbers = () if kind.category.variant_attribute in NUMERIC else kind.numeric
    return frozenset((*kind.discrete, *numbers))
