"""Catalog tools for products with known ids: show one in full, and sort many by a query."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.tools.tool import Args, Tool
from ecom_rlve.envs.world.cards import shortened
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode

MOST_RERANKED = 50
"""Most products that one call sorts."""

_TITLE, _DESCRIPTION, _FEATURE, _FEATURES = 300, 600, 120, 6
"""Longest title, description and feature that is shown, in characters, and the number of features."""

ProductId = Annotated[str, Field(max_length=64)]


class ProductArgs(Args):
    """Arguments of ``catalog_get_product``."""

    product_id: ProductId


class RerankArgs(Args):
    """Arguments of ``catalog_rerank``."""

    query: str = Field(max_length=1000, description="What to look for, in words.")
    product_ids: list[ProductId] = Field(max_length=MOST_RERANKED, description="Products that results have shown.")


def _product(world: World, args: ProductArgs) -> dict[str, Any]:
    row = world.row_of(args.product_id)
    product, variant = world.shop.catalog.product(row), world.shop.catalog.category_of(row).variant_attribute
    known = {name: value for name, value in product.attributes.items() if name != variant}
    card = world.card(row)
    card.pop("more", None)
    details = {
        **card,
        "title": shortened(product.title, _TITLE),
        "rating_count": product.rating_count,
        **known,
        "description": shortened(product.description, _DESCRIPTION),
        "features": [shortened(feature, _FEATURE) for feature in product.features[:_FEATURES]],
    }
    return {"product": details}


def _rerank(world: World, args: RerankArgs) -> dict[str, Any]:
    if not args.query.strip():
        raise DomainError(DomainCode.EMPTY_QUERY, "say what to look for: a query in words")
    rows = [world.row_of(product_id) for product_id in dict.fromkeys(args.product_ids)]
    strange = next((row for row in rows if row not in world.shown), None)
    ids = world.shop.catalog.ids
    if strange is not None:
        raise DomainError(DomainCode.NOT_SHOWN, f"no result has shown product {ids[strange]}; search for it first")
    ordered = world.shop.search.rank(args.query, np.array(rows, dtype=np.int32), len(rows))
    return {"product_ids": [ids[row] for row in ordered.tolist()]}


CATALOG_GET_PRODUCT = Tool("catalog_get_product", "Show one product in full.", ProductArgs, _product)
CATALOG_RERANK = Tool(
    "catalog_rerank",
    "Put products that results have shown into the order in which they match a query.",
    RerankArgs,
    _rerank,
    is_heavy=True,
)
