"""Catalog tools: search with exact filters, whose results may be replaced by distractors, and variants."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, create_model
from rapidfuzz import fuzz, process

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE, NUMERIC
from ecom_rlve.catalog.constraints import Constraint, Op, satisfied
from ecom_rlve.catalog.search.search import passing_rows
from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.tools.tool import WHOLE, Args, Tool
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.similarity import measures_of
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode

_SUGGESTIONS = 5
_SUGGEST_AMONG = 20_000
_REPLACEMENT_TRIES = 8
MAX_LIMIT = 10
"""Most results on one page."""

Word = Annotated[str, Field(max_length=100)]


class _SearchBase(Args):
    query: str = Field(max_length=1000, description="What to look for, in words.")
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Results on the page."), WHOLE] = 5
    offset: Annotated[int, Field(ge=0, le=10_000, description="Results to skip."), WHOLE] = 0
    category: Word | None = Field(default=None, description="As results show it.")
    brand: Word | None = None
    price_min: float | None = Field(default=None, ge=0)
    price_max: float | None = Field(default=None, ge=0)
    rating_min: float | None = Field(default=None, ge=0, le=5)
    ship_days_max: Annotated[int, Field(ge=0, le=1000, description="Days until delivery."), WHOLE] | None = None
    in_stock: bool | None = Field(default=None, description="True: only what can be bought now.")
    sort: Literal["relevance", "price_asc", "rating_desc", "ship_days_asc"] = "relevance"


def _numeric_filter(name: str) -> str:
    return f"{name}_{'min' if ATTRIBUTES[name].better == 'at_least' else 'max'}"


_FILTERS: dict[str, Any] = {
    **dict.fromkeys(DISCRETE, (Word | None, None)),
    **{
        _numeric_filter(name): (float | None, Field(default=None, ge=0, description=f"In {ATTRIBUTES[name].unit}."))
        for name in NUMERIC
    },
}

SearchArgs: type[_SearchBase] = create_model(
    "SearchArgs", __base__=_SearchBase, __doc__="Arguments of ``catalog_search``.", **_FILTERS
)


class VariantsArgs(Args):
    """Arguments of ``catalog_get_variants``."""

    product_id: str = Field(max_length=64, description="As results show it.")


def filter_constraints(args: _SearchBase) -> tuple[Constraint, ...]:
    """Return the filters of a search as constraints, in a fixed order; prices are converted to cents."""
    given = {name: value for name, value in vars(args).items() if value is not None}
    stated = [
        Constraint(name, Op.EQ, given[name].strip()) for name in ("category", "brand", *DISCRETE) if name in given
    ]
    for name, attribute, op, scale in _BOUNDS:
        if name in given:
            # Rounding to six places removes only the float's error: 19.99 becomes 1999 cents, 10.999 stays 1099.9.
            stated.append(Constraint(attribute, op, round(given[name] * scale, 6) if scale > 1 else given[name]))
    if given.get("in_stock"):
        stated.append(Constraint("stock", Op.AT_LEAST, 1))
    return tuple(stated)


_BOUNDS: tuple[tuple[str, str, Op, int], ...] = (
    ("price_min", "price", Op.AT_LEAST, 100),
    ("price_max", "price", Op.AT_MOST, 100),
    ("rating_min", "rating", Op.AT_LEAST, 1),
    ("ship_days_max", "ship_days", Op.AT_MOST, 1),
    *(
        (_numeric_filter(name), name, Op.AT_LEAST if ATTRIBUTES[name].better == "at_least" else Op.AT_MOST, 1)
        for name in NUMERIC
    ),
)


def _check_vocabulary(shop: Shop, constraints: tuple[Constraint, ...]) -> None:
    for constraint in constraints:
        column = shop.catalog.column(constraint.attribute)
        if column.vocabulary is None or column.encode(str(constraint.value)) is not None:
            continue
        if _is_variant_value(shop, constraint):
            continue
        near: list[str] = []
        if len(column.vocabulary) <= _SUGGEST_AMONG:
            scored = process.extract(
                str(constraint.value), column.vocabulary, scorer=fuzz.WRatio, limit=_SUGGESTIONS, score_cutoff=50
            )
            near = [match for match, _, _ in scored]
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise DomainError(
            DomainCode.UNKNOWN_FILTER_VALUE, f"no product has the {constraint.attribute} {constraint.value!r}{hint}"
        )


def _is_variant_value(shop: Shop, constraint: Constraint) -> bool:
    """Tell whether products of some category come in variants of this value, although no product itself has it."""
    return str(constraint.value).casefold() in shop.variant_words.get(constraint.attribute, ())


def filtered_rows(shop: Shop, constraints: tuple[Constraint, ...]) -> NDArray[np.int32] | None:
    """Return the rows that pass the filters, ignoring stock-outs of the episode; ascending; None if all pass.

    A filter on an attribute passes every product whose category comes in variants of that attribute.
    """
    return shop.broad_filters.get(constraints, lambda: _evaluated(shop, constraints))


def _gone(world: World, constraints: tuple[Constraint, ...], rows: NDArray[np.int32] | None) -> tuple[int, ...]:
    """Return which of the passing rows sold out during the episode, if a filter asks for stock; else nothing."""
    if rows is None or not world.sold_out or all(constraint.attribute != "stock" for constraint in constraints):
        return ()
    sold = np.array(sorted(world.sold_out), dtype=np.int32)
    places = np.minimum(np.searchsorted(rows, sold), max(0, len(rows) - 1))
    return tuple(sold[rows[places] == sold].tolist()) if len(rows) else ()


def _evaluated(shop: Shop, constraints: tuple[Constraint, ...]) -> NDArray[np.int32] | None:
    catalog = shop.catalog
    free = {c.attribute: is_free for c in constraints if (is_free := _comes_in(shop, c.attribute)).any()}
    rows = passing_rows(catalog, [constraint for constraint in constraints if constraint.attribute not in free])
    for constraint in (constraint for constraint in constraints if constraint.attribute in free):
        among = slice(None) if rows is None else rows
        passes = free[constraint.attribute][catalog.category_codes[among]] | satisfied(catalog, constraint, among)
        rows = np.flatnonzero(passes).astype(np.int32) if rows is None else rows[passes]
    return rows


def _comes_in(shop: Shop, attribute: str) -> NDArray[np.bool_]:
    """Tell for each category whether its products come in variants of the attribute."""
    return np.asarray(shop.variant_attributes == attribute)


def ranked_page(world: World, args: _SearchBase) -> tuple[tuple[int, ...], int]:
    """Return the whole result list of a search and how many rows pass its filters.

    The list has at most ``top_k`` rows, best first, some replaced by distractors. Nothing is recorded as shown.
    """
    query = " ".join(args.query.casefold().split())
    constraints = filter_constraints(args)
    if not query and not constraints:
        raise DomainError(DomainCode.EMPTY_QUERY, "say what to look for: a query in words, or at least one filter")
    key = (query, constraints, args.sort, len(world.sold_out) if args.in_stock else 0)
    if key not in world.pages:
        _check_vocabulary(world.shop, constraints)
        rows = filtered_rows(world.shop, constraints)
        gone = _gone(world, constraints, rows)
        search, top_k = world.shop.search, world.axes.top_k
        if args.sort == "relevance":
            ranked = search.rank(query, rows, top_k, gone)
        else:
            # Without a category, the query says which kind of product is to be sorted.
            kinds = () if args.category is not None else search.kinds(query)
            ranked = search.order(args.sort, rows, top_k, gone, kinds)
        passing = world.shop.catalog.size if rows is None else len(rows) - len(gone)
        world.pages[key] = (degraded(world, ranked.tolist(), f"{query}|{constraints}|{args.sort}"), passing)
    return world.pages[key]


def degraded(world: World, rows: list[int], search: str) -> tuple[int, ...]:
    """Return ``rows``, each replaced with probability ``eps_rank`` by a random product of the same category.

    The draws depend on episode seed and search, so the same search gives the same list (SPEC §5.2). No page holds a row
    twice, but a row that replaces another may appear again at its own place on a later page. If every product of the
    category is on the page already, the row stays.
    """
    eps = world.axes.eps_rank
    if not eps or not rows:
        return tuple(rows)
    rng = world.streams.stream("degrade", search)
    hit = (rng.random(len(rows)) < eps).tolist()
    picks = rng.random((len(rows), _REPLACEMENT_TRIES))
    result = list(rows)
    for at, row in enumerate(rows):
        if not hit[at]:
            continue
        family = world.shop.catalog.rows_of_category(world.shop.catalog.category_of(row).name)
        for pick in picks[at].tolist():
            other = int(family[int(pick * len(family))])
            if other not in result[max(0, at - MAX_LIMIT + 1) : at + MAX_LIMIT]:
                result[at] = other
                break
    return tuple(result)


def _search(world: World, args: _SearchBase) -> dict[str, Any]:
    if args.offset + args.limit > world.axes.top_k:
        raise DomainError(
            DomainCode.PAGE_TOO_DEEP, f"offset + limit may not exceed {world.axes.top_k}; refine the search instead"
        )
    ranked, passing = ranked_page(world, args)
    page = ranked[args.offset : args.offset + args.limit]
    filtered = tuple(
        constraint.attribute for constraint in filter_constraints(args) if constraint.attribute in ATTRIBUTES
    )
    result: dict[str, Any] = {
        "results": [world.show(row, filtered) for row in page],
        "total": min(passing, world.axes.top_k),
    }
    if world.wants_facets and args.category is not None:
        result["facets"] = _facets(world.shop, args.category)
    return result


def _facets(shop: Shop, category: str) -> dict[str, Any]:
    """Return the attributes by which products of a category are compared, and the ranges of numbers."""
    code = shop.catalog.column("category").encode(category.strip())
    assert code is not None, "the search has checked the category"
    return measures_of(shop, shop.catalog.categories[int(code)].name).shown()


def _variants(world: World, args: VariantsArgs) -> dict[str, Any]:
    row = world.row_of(args.product_id)
    world.variants_read.add(row)
    return {
        "product_id": args.product_id,
        "variants": [{**variant.priced(), "in_stock": world.in_stock(row, variant)} for variant in world.variants(row)],
    }


CATALOG_SEARCH = Tool(
    "catalog_search",
    "Search the catalog. total counts the products that pass the filters; sort puts those of the query's kind first. "
    "Now and then a shelf is mixed up: another product, which need not pass, stands in a result's place, and other "
    "words show another page. more counts what a card has no room for.",
    SearchArgs,
    _search,
    is_heavy=True,
)
CATALOG_GET_VARIANTS = Tool("catalog_get_variants", "List a product's variants.", VariantsArgs, _variants)
