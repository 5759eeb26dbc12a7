"""Searching the catalog from the page, and why a product matched."""

from __future__ import annotations

from collections.abc import Sequence

from ecom_rlve.catalog.product import Product
from ecom_rlve.catalog.shop_words.asking import read_query
from ecom_rlve.catalog.shop_words.splitting import split_words
from ecom_rlve.constraint_words import in_words
from ecom_rlve.envs.tools.catalog import SearchArgs, filter_constraints, filtered_rows
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.web.views.found import Match
from ecom_rlve.server.web.views.naming import shown

_MOST = 12
"""Most products that are shown."""


def search(
    shop: Shop, query: str, category: str | None, brand: str, price_min: float | None, price_max: float | None
) -> tuple[list[Match], int, list[str]]:
    """Return the best matches as the tool of the agents finds them, without distractors and stock-outs.

    Beside them, how many products pass the filters, and the filters in words. Raises ``ValidationError`` for a filter
    that the tool would not take.
    """
    args = SearchArgs(
        query=query, category=category or None, brand=brand.strip() or None, price_min=price_min, price_max=price_max
    )
    constraints = filter_constraints(args)
    rows = filtered_rows(shop, constraints)
    ranked = shop.search.rank(" ".join(query.casefold().split()), rows, _MOST)
    groups = read_query(query).groups
    bags = shop.search.bags
    scores = bags.scores(bags.sought(groups), ranked)
    shares = scores / max(1, scores.max(initial=0))
    matches = [_match(shop, row, float(share), groups) for row, share in zip(ranked.tolist(), shares, strict=True)]
    currency = shop.catalog.currency
    told = [
        in_words((each.attribute, each.op.value, each.value), lambda name, value: shown(value, name, currency))
        for each in constraints
    ]
    return matches, shop.catalog.size if rows is None else len(rows), told


def _match(shop: Shop, row: int, overlap: float, groups: Sequence[Sequence[str]]) -> Match:
    """Say where a product has each word of a query; a group holds the readings of one word."""
    product = shop.catalog.product(row)
    where = {}
    for field, text in _texts(product).items():
        has = set(split_words(text))
        if shared := [group[-1] for group in groups if not has.isdisjoint(group)]:
            where[field] = shared
    known = {word for shared in where.values() for word in shared}
    return Match(shop.card(row), overlap, where, [group[-1] for group in groups if group[-1] not in known])


def _texts(product: Product) -> dict[str, str]:
    return {
        "title": product.title,
        "brand": product.brand or "",
        "category": product.category,
        "attributes": " ".join(str(value) for value in product.attributes.values()),
        "features": " ".join(product.features),
        "description": product.description,
    }
