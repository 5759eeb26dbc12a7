"""The procedural catalog: a shop that needs no download, the same for the same size and seed everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from numpy.random import Generator

from ecom_rlve.catalog.attributes import NUMERIC
from ecom_rlve.catalog.departments import Kind, departments
from ecom_rlve.catalog.derived import ship_days_and_stock
from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.synthetic_facts import BRAND, FIRST_ATTRIBUTE, MODEL, Codes, Facts, draw_facts
from ecom_rlve.catalog.synthetic_text import PICKS, phrases, write_text
from ecom_rlve.catalog.table import Catalog
from ecom_rlve.catalog.variant_values import variant_values
from ecom_rlve.streams import Streams

MIN_SIZE = 40
MIN_CATEGORIES = 5
MIN_PRODUCTS = 6
"""Every category that is used has at least so many products."""

_ID_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ID_LENGTH = 10


def synthetic_catalog(size: int = 10_000, seed: int = 0) -> Catalog:
    """Return a catalog of ``size`` invented products.

    Every used category holds at least :data:`MIN_PRODUCTS` products, a fifth of them lookalikes of another one. No
    text of a product names its variant attribute, and within its category the known ones of brand, model, the other
    typed attributes and price together single it out. Raises :class:`CatalogError` for a size below 40.
    """
    if size < MIN_SIZE:
        raise CatalogError(f"a procedural catalog needs at least {MIN_SIZE} products, not {size}")
    streams = Streams("synthetic", seed)
    rng = streams.stream("layout")
    kinds = _used_kinds(size, rng)
    products: list[Product] = []
    ids = _product_ids(seed)
    for kind, count in zip(kinds, _counts(len(kinds), size, rng), strict=True):
        products.extend(_products(kind, draw_facts(kind, count, streams), ids, streams))
    shelf_order = rng.permutation(size).tolist()
    return Catalog.from_products([products[at] for at in shelf_order], [kind.category for kind in kinds])


def _used_kinds(size: int, rng: Generator) -> list[Kind]:
    """Pick kinds one department after the other, so that a small catalog is a cross-section too."""
    shuffled = [[group[at] for at in rng.permutation(len(group))] for group in departments()]
    queues = [shuffled[at] for at in rng.permutation(len(shuffled))]
    rounds = max(map(len, queues))
    ordered = [queue[turn] for turn in range(rounds) for queue in queues if turn < len(queue)]
    return ordered[: max(MIN_CATEGORIES, size // 8)]


def _counts(kinds: int, size: int, rng: Generator) -> list[int]:
    shares = rng.lognormal(0.0, 0.4, kinds)
    counts: list[int] = (MIN_PRODUCTS + rng.multinomial(size - kinds * MIN_PRODUCTS, shares / shares.sum())).tolist()
    return counts


def _product_ids(seed: int) -> Iterator[str]:
    """Yield ids without end, none twice."""
    seen: set[str] = set()
    number = 0
    while True:
        digest = blake2b(f"{seed}:{number}".encode(), digest_size=8).digest()
        product_id = _base36(int.from_bytes(digest, "little"))
        number += 1
        if product_id not in seen:
            seen.add(product_id)
            yield product_id


def _base36(number: int) -> str:
    letters = []
    for _ in range(_ID_LENGTH):
        number, digit = divmod(number, len(_ID_LETTERS))
        letters.append(_ID_LETTERS[digit])
    return "".join(letters)


def _products(kind: Kind, facts: Facts, ids: Iterator[str], streams: Streams) -> Iterator[Product]:
    """Yield the products of one kind; a lookalike is worded like its original."""
    rng = streams.stream("texts", kind.category.name)
    count = len(facts.table)
    variant = kind.category.variant_attribute
    offered = variant_values(kind.category, variant)
    own = rng.integers(len(offered), size=count).tolist()
    picks = rng.integers(2**16, size=(count, PICKS))[facts.looks_like].tolist()
    values = _spread_out(kind, facts.table)
    names, told = list(values), _told_attributes(kind)
    orders = rng.random((count, len(names))).argsort(axis=1, kind="stable")[facts.looks_like].tolist()
    models = [model for brand in kind.brands for model in brand.models]
    for row, (codes, gap) in enumerate(zip(facts.table.tolist(), facts.gap.tolist(), strict=True)):
        unknown = names[gap - FIRST_ATTRIBUTE] if FIRST_ATTRIBUTE <= gap < len(codes) - 1 else None
        known = {name: column[row] for name, column in values.items() if name != unknown}
        stated = [phrases(names[at], known[names[at]]) for at in orders[row] if names[at] in told & known.keys()]
        brand = None if gap == BRAND else kind.brands[codes[BRAND]].name
        model = models[codes[MODEL]]
        text = write_text(kind, brand, model, stated, picks[row])
        product_id = next(ids)
        ship_days, stock = ship_days_and_stock(product_id)
        is_floor = bool(facts.is_floor[row])
        yield Product(
            id=product_id,
            title=text.title,
            category=kind.category.name,
            description=text.description,
            features=text.features,
            brand=brand,
            store=brand,
            price_cents=None if gap == len(codes) - 1 and not is_floor else codes[-1],
            price_is_floor=is_floor,
            rating=int(facts.rating_tenths[row]) / 10,
            rating_count=int(facts.rating_count[row]),
            ship_days=ship_days,
            stock=stock,
            attributes={**known, "model": model, variant: offered[own[row]]},
        )


def _spread_out(kind: Kind, table: Codes) -> dict[str, list[str | float]]:
    """Return the discrete and numeric attributes of a table of facts, decoded column by column."""
    values: dict[str, list[str | float]] = {}
    for at, (name, weights) in enumerate(kind.discrete.items(), FIRST_ATTRIBUTE):
        words = tuple(weights)
        values[name] = [words[code] for code in table[:, at].tolist()]
    for at, (name, spread) in enumerate(kind.numeric.items(), FIRST_ATTRIBUTE + len(kind.discrete)):
        values[name] = [round(steps * spread.step, 2) for steps in table[:, at].tolist()]
    return values


def _told_attributes(kind: Kind) -> frozenset[str]:
    """Return what texts may state: beside a numeric variant no number, which could be taken for it."""
    numbers = () if kind.category.variant_attribute in NUMERIC else kind.numeric
    return frozenset((*kind.discrete, *numbers))
