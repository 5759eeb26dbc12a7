"""Searching: exact filters, consistent pages, graded degradation, variants that give nothing away (SPEC §5.2, §5.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE, NUMERIC
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.constraints import Constraint, Op, satisfied
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.cards import CARD_BYTES
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode
from ecom_rlve.streams import Streams

WorldOf = Callable[..., World]

WORDS = ["lamp", "red", "soft", "gift", "charger", "organic", "zzz", ""]
LARGEST_PAGE = 10
NO_WORD = "!!"
"""A query that is about no kind of product."""


@pytest.fixture(scope="module")
def larger_shop() -> Shop:
    """Return a shop whose categories hold some forty products each, as the default catalog's hold a hundred."""
    return Shop.open("synthetic:2000:1")


def search(world: World, **args: Any) -> dict[str, Any]:
    """Call ``catalog_search`` as the episode does."""
    tool = TOOLS["catalog_search"]
    return tool.run(world, tool.args.model_validate({"query": "", **args}))


def ids_of(found: dict[str, Any]) -> list[str]:
    return [card["product_id"] for card in found["results"]]


def everything(world: World, **args: Any) -> list[str]:
    """Return all results of a search, page after page of the largest size."""
    ids: list[str] = []
    for offset in range(0, world.axes.top_k, LARGEST_PAGE):
        limit = min(LARGEST_PAGE, world.axes.top_k - offset)
        page = ids_of(search(world, **args, offset=offset, limit=limit))
        ids += page
        if len(page) < limit:
            break
    return ids


def bound_name(name: str) -> tuple[str, Op]:
    """Return the filter of a numeric attribute and what it means."""
    if ATTRIBUTES[name].better == "at_least":
        return f"{name}_min", Op.AT_LEAST
    return f"{name}_max", Op.AT_MOST


def passing(shop: Shop, filters: dict[str, Any]) -> set[str]:
    """Return the ids of the products that pass, one product and one filter at a time."""
    meanings: dict[str, tuple[str, Op, float]] = {
        "price_min": ("price", Op.AT_LEAST, 100),
        "price_max": ("price", Op.AT_MOST, 100),
        "rating_min": ("rating", Op.AT_LEAST, 1),
        "ship_days_max": ("ship_days", Op.AT_MOST, 1),
    }
    meanings |= {bound_name(name)[0]: (name, bound_name(name)[1], 1) for name in NUMERIC}
    rows = np.arange(shop.catalog.size, dtype=np.int32)
    kept = np.ones(shop.catalog.size, dtype=np.bool_)
    for name, value in filters.items():
        if name == "in_stock":
            constraint = Constraint("stock", Op.AT_LEAST, 1)
        elif name in meanings:
            attribute, op, scale = meanings[name]
            constraint = Constraint(attribute, op, round(value * scale, 6))
        else:
            constraint = Constraint(name, Op.EQ, value)
        free = [shop.catalog.category_of(row).variant_attribute == constraint.attribute for row in rows.tolist()]
        kept &= satisfied(shop.catalog, constraint, rows) | np.array(free)
    return {shop.catalog.ids[row] for row in np.flatnonzero(kept).tolist()}


@st.composite
def filter_sets(draw: st.DrawFn, shop: Shop) -> dict[str, Any]:
    """Draw one to three filters around one product, so that most of them let something pass."""
    row = draw(st.integers(0, shop.catalog.size - 1))
    product = shop.catalog.product(row)
    options: dict[str, Any] = {
        "category": product.category,
        "ship_days_max": product.ship_days,
        "in_stock": True,
        "price_max": (product.price_cents or 5000) / 100,
        "price_min": (product.price_cents or 5000) / 100,
        "rating_min": product.rating or 4,
    }
    if product.brand:
        options["brand"] = product.brand
    for name, value in product.attributes.items():
        options[name if name in DISCRETE else bound_name(name)[0]] = value
    return {name: options[name] for name in draw(st.sets(st.sampled_from(sorted(options)), min_size=1, max_size=3))}


def test_filters_are_exact(shop: Shop, world_of: WorldOf) -> None:
    @given(filter_sets(shop), st.sampled_from(WORDS))
    def check(filters: dict[str, Any], query: str) -> None:
        world = world_of(top_k=1000)
        found = everything(world, query=query, **filters)
        assert len(found) == len(set(found))
        assert set(found) == passing(shop, filters)
        assert search(world, query=query, **filters)["total"] == len(found)

    check()


def test_a_filtered_search_fills_up_from_all_that_pass(shop: Shop, world_of: WorldOf) -> None:
    world = world_of()
    assert len(shop.kinds(1)) == 50
    for category in shop.kinds(1):
        for query in ("zzz", "red"):
            found = search(world, query=query, category=category, limit=10)
            assert len(found["results"]) == min(10, len(shop.catalog.rows_of_category(category)))


@pytest.mark.parametrize("name", ["category", "brand", *DISCRETE])
def test_words_are_matched_whatever_their_case_and_margins(name: str, shop: Shop, world_of: WorldOf) -> None:
    world = world_of(top_k=1000)
    vocabulary = shop.catalog.column(name).vocabulary
    assert vocabulary
    value = next(value for value in vocabulary if passing(shop, {name: value}))
    plain = set(everything(world, **{name: value}))
    assert plain == passing(shop, {name: value})
    assert set(everything(world, **{name: f" {value.upper()} "})) == plain


def test_prices_are_compared_to_the_cent() -> None:
    kind = Category("yoga mats", ("Sports", "yoga mats"), "yoga mat", "yoga mats", "color")
    cents = [1099, 1100, 1101, 1999, 2000, None]
    products = [
        Product(id=f"p{at}", title="Mat", category=kind.name, ship_days=1, stock=5, price_cents=price)
        for at, price in enumerate(cents)
    ]
    floor = replace(products[1], id="floor", price_is_floor=True)
    catalog = Catalog.from_products([*products, floor], [kind])
    world = World(Shop(catalog, Search.build(catalog)), axes_of(0), Streams("prices"))
    for bound in (10.98, 10.99, 10.995, 10.999, 11, 11.0, 11.001, 19.99, 19.999, 20, 1e300, 1e308, 0, 0.001):
        at_most = {f"p{at}" for at, price in enumerate(cents) if price is not None and price <= round(bound * 100, 6)}
        at_least = {f"p{at}" for at, price in enumerate(cents) if price is not None and price >= round(bound * 100, 6)}
        if bound * 100 <= 1100:
            at_least.add("floor")
        assert set(everything(world, price_max=bound)) == at_most, bound
        assert set(everything(world, price_min=bound)) == at_least, bound


def test_every_bound_takes_any_number(world_of: WorldOf) -> None:
    world = world_of()
    names = ["price_min", "price_max", *(bound_name(name)[0] for name in NUMERIC)]
    for name in names:
        for bound in (0, 1e-300, 1, 10**15, 1e300, 1.7976931348623157e308):
            assert search(world, **{name: bound})["total"] >= 0


def test_five_and_five_point_zero_are_one_search(world_of: WorldOf) -> None:
    world = world_of(difficulty=20)
    for name in ("rating_min", "price_max", "wattage_min", "ship_days_max", "limit"):
        assert search(world, query="lamp", **{name: 5}) == search(world, query="lamp", **{name: 5.0})
    assert len(world.pages) == 5


# --- Order and pages --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sort", "column", "sign"),
    [("price_asc", "price", 1), ("rating_desc", "rating", -1), ("ship_days_asc", "ship_days", 1)],
)
@pytest.mark.parametrize("filters", [{}, {"in_stock": True}, {"rating_min": 4, "price_max": 80}])
def test_sorting_orders_all_that_pass(
    sort: str, column: str, sign: int, filters: dict[str, Any], shop: Shop, world_of: WorldOf
) -> None:
    world = world_of(top_k=1000)
    found = everything(world, query=NO_WORD, sort=sort, **filters)
    products = [(row, shop.catalog.product(row)) for row in map(shop.catalog.row_of, found)]
    unknown = [row for row, product in products if column == "price" and product.price_is_floor]
    keys = [(sign * float(shop.catalog.column(column).values[row]), row) for row, _ in products]
    known = [(key, row) for key, row in keys if key == key and row not in unknown]
    assert keys[: len(known)] == sorted(known), "unknown comes last, ties by row"
    assert set(found) == (passing(shop, filters) if filters else {shop.catalog.ids[row] for row in range(400)})
    shallow = world_of(top_k=50)
    assert everything(shallow, query=NO_WORD, sort=sort, **filters) == found[:50]


@pytest.mark.parametrize("sort", ["price_asc", "rating_desc"])
@pytest.mark.parametrize("filters", [{}, {"ship_days_max": 7}])
def test_sorting_puts_the_kind_that_the_query_is_about_first(
    sort: str, filters: dict[str, Any], larger_shop: Shop
) -> None:
    first_by_price = {}
    for kind in larger_shop.catalog.categories:
        world = World(larger_shop, axes_of(0), Streams("sorted"))
        found = search(world, query=kind.singular, sort=sort, limit=10, **filters)
        own = search(world, query=kind.singular, sort=sort, limit=10, category=kind.name, **filters)
        first_by_price[kind.name] = found["results"] == own["results"]
        assert found["total"] == world.axes.top_k, "what passes is counted, whatever its kind"
    strange = [name for name, is_first in first_by_price.items() if not is_first]
    assert len(strange) <= 0.05 * len(first_by_price), strange


def test_what_else_passes_comes_after_the_kind(shop: Shop, world_of: WorldOf) -> None:
    world = world_of(top_k=1000)
    kind = shop.catalog.categories[shop.catalog.category_index[shop.kinds(8)[0]]]
    found = [shop.catalog.row_of(id_) for id_ in everything(world, query=kind.singular, sort="price_asc")]
    is_first = [shop.catalog.category_of(row).name == kind.name for row in found]
    size = len(shop.catalog.rows_of_category(kind.name))
    assert is_first == [True] * size + [False] * (shop.catalog.size - size)
    price = shop.catalog.column("price")
    floors = price.is_floor if price.is_floor is not None else np.zeros(shop.catalog.size, dtype=np.bool_)
    for part in (found[:size], found[size:]):
        known = [float(price.values[row]) for row in part if price.values[row] >= 0 and not floors[row]]
        assert len(known) > 5
        assert known == sorted(known)


def test_without_a_known_word_everything_is_sorted(world_of: WorldOf) -> None:
    world = world_of(top_k=400)
    plain = everything(world, in_stock=True, sort="price_asc")
    assert everything(world, query=NO_WORD, in_stock=True, sort="price_asc") == plain
    assert len(plain) > 300


def test_a_card_never_leaves_out_what_was_filtered_by_and_says_how_much_it_leaves_out(big_shop: Shop) -> None:
    catalog, left_out = big_shop.catalog, 0
    for is_full in (False, True):
        world = World(big_shop, axes_of(0), Streams("cards"))
        world.full_cards = is_full
        for row in range(0, catalog.size, 41):
            product, variant = catalog.product(row), catalog.category_of(row).variant_attribute
            known = {name: value for name, value in product.attributes.items() if name != variant}
            filters = {name if name in DISCRETE else bound_name(name)[0]: value for name, value in known.items()}
            for chosen in (filters, dict(list(filters.items())[-2:]), {}):
                cards = search(world, query=product.title, category=product.category, limit=10, **chosen)["results"]
                card = next((card for card in cards if card["product_id"] == product.id), None)
                assert card is not None or not chosen
                for each in cards:
                    assert len(json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()) <= CARD_BYTES
                    for name in chosen:
                        assert name.removesuffix("_min").removesuffix("_max") in each, (name, each)
                    own = catalog.product(catalog.row_of(each["product_id"])).attributes
                    missing = own.keys() - {variant} - each.keys()
                    assert each.get("more", 0) == len(missing)
                    left_out += bool(missing)
    assert left_out > 1000


def test_a_product_shown_in_full_leaves_nothing_out(big_shop: Shop) -> None:
    world = World(big_shop, axes_of(0), Streams("whole"))
    tool = TOOLS["catalog_get_product"]
    rows = [row for row in range(0, big_shop.catalog.size, 97) if "more" in big_shop.card(row)]
    assert len(rows) > 50
    for row in rows:
        shown = tool.run(world, tool.args.model_validate({"product_id": big_shop.catalog.ids[row]}))["product"]
        assert "more" not in shown


def test_the_query_ranks(shop: Shop, world_of: WorldOf) -> None:
    world = world_of()
    hits = 0
    for row in range(0, shop.catalog.size, 10):
        hits += shop.catalog.ids[row] in ids_of(search(world, query=shop.catalog.titles[row]))
    assert hits >= 38, "a title finds its product"


@pytest.mark.parametrize("difficulty", [0, 3, 9, 20])
def test_pages_of_any_size_are_cut_from_one_list(difficulty: int, world_of: WorldOf) -> None:
    world = world_of(difficulty=difficulty)
    whole = everything(world, query="gift")
    assert len(whole) == world.axes.top_k

    @given(st.integers(1, 10), st.integers(0, world.axes.top_k - 1), st.booleans())
    def check(limit: int, offset: int, afresh: bool) -> None:
        limit = min(limit, world.axes.top_k - offset)
        asked = world_of(difficulty=difficulty) if afresh else world
        found = search(asked, query="gift", limit=limit, offset=offset)
        assert ids_of(found) == whole[offset : offset + limit]
        assert found["total"] == world.axes.top_k

    check()


def test_a_page_beyond_the_depth_is_refused(world_of: WorldOf) -> None:
    for difficulty in (0, 9, 20):
        world = world_of(difficulty=difficulty)
        top_k = world.axes.top_k
        assert search(world, query="lamp", offset=top_k - 10, limit=10)["results"]
        assert search(world, query="lamp", offset=top_k - 1, limit=1)["results"]
        for offset, limit in ((top_k - 9, 10), (top_k, 1), (10_000, 10)):
            with pytest.raises(DomainError) as refused:
                search(world, query="lamp", offset=offset, limit=limit)
            assert refused.value.code is DomainCode.PAGE_TOO_DEEP
            assert str(top_k) in str(refused.value)


def test_a_page_beyond_the_last_result_is_empty(world_of: WorldOf) -> None:
    found = search(world_of(), query="lamp", price_max=0)
    assert found == {"results": [], "total": 0}
    assert search(world_of(), query="lamp", category="office chairs", offset=100)["results"] == []


def test_a_deeper_search_has_the_shallower_one_as_its_beginning(world_of: WorldOf) -> None:
    deep = everything(world_of(top_k=200), query="soft gift")
    assert everything(world_of(top_k=30), query="soft gift") == deep[:30]


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_query_needs_a_filter(query: str, world_of: WorldOf) -> None:
    with pytest.raises(DomainError) as refused:
        search(world_of(), query=query)
    assert refused.value.code is DomainCode.EMPTY_QUERY
    assert search(world_of(), query=query, category="office chairs")["results"]


def test_unknown_filter_values_are_refused_with_suggestions(world_of: WorldOf) -> None:
    for name, value, meant in (("category", "office chair", "office chairs"), ("color", "blak", "black")):
        with pytest.raises(DomainError, match=f"did you mean.*{meant}") as refused:
            search(world_of(), query="lamp", **{name: value})
        assert refused.value.code is DomainCode.UNKNOWN_FILTER_VALUE


# --- Degradation ------------------------------------------------------------------------------------------------------


def world_in(shop: Shop, seed: int, difficulty: int) -> World:
    return World(shop, axes_of(difficulty), Streams("degraded world", seed))


def undegraded(shop: Shop, difficulty: int, **args: Any) -> list[str]:
    """Return what the same search gives where nothing is replaced."""
    axes = axes_of(difficulty)
    plain = World(shop, axes_of(0), Streams("plain"))
    return everything(plain, **args)[: axes.top_k]


def searches(shop: Shop) -> list[dict[str, Any]]:
    """Return searches as agents make them: a noun, a noun in its category, a bound, a sorted list."""
    made: list[dict[str, Any]] = []
    for category in shop.catalog.categories[::5]:
        made += [
            {"query": category.singular},
            {"query": category.singular, "category": category.name},
            {"query": category.singular, "price_max": 80},
            {"query": "", "sort": "price_asc", "rating_min": 3, "ship_days_max": len(made) + 3},
        ]
    return made


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", [3, 6, 9, 12])
def test_the_share_of_replaced_results_is_the_axis(difficulty: int, larger_shop: Shop) -> None:
    eps = axes_of(difficulty).eps_rank
    by_kind = np.zeros((4, 2))
    first_page = np.zeros(2)
    for number, args in enumerate(searches(larger_shop)):
        plain = undegraded(larger_shop, difficulty, **args)
        for seed in range(4):
            found = everything(world_in(larger_shop, seed, difficulty), **args)
            replaced = [one != other for one, other in zip(found, plain, strict=True)]
            by_kind[number % 4] += sum(replaced), len(replaced)
            first_page += sum(replaced[:10]), len(replaced[:10])
    for count, total in [*by_kind, first_page]:
        assert total > 400
        assert abs(count / total - eps) < 3 * sqrt(eps * (1 - eps) / total) + 0.002, (count, total)


def test_nothing_is_replaced_at_difficulty_zero(larger_shop: Shop) -> None:
    asked = searches(larger_shop)
    assert len(asked) >= 40
    for args in asked:
        for seed in range(2):
            assert everything(world_in(larger_shop, seed, 0), **args) == undegraded(larger_shop, 0, **args)


@pytest.mark.parametrize("difficulty", [6, 20])
def test_a_stand_in_is_of_the_same_category_and_no_page_repeats_itself(difficulty: int, shop: Shop) -> None:
    category_of = {shop.catalog.ids[row]: shop.catalog.category_of(row).name for row in range(shop.catalog.size)}
    asked = searches(shop)
    assert len(asked) >= 40
    for args in asked:
        plain = undegraded(shop, difficulty, **args)
        for seed in range(3):
            found = everything(world_in(shop, seed, difficulty), **args)
            assert [category_of[id_] for id_ in found] == [category_of[id_] for id_ in plain]
            for start in range(len(found)):
                page = found[start : start + LARGEST_PAGE]
                assert len(page) == len(set(page))


def test_stand_ins_are_drawn_from_the_whole_category(larger_shop: Shop) -> None:
    category = larger_shop.kinds(30)[0]
    family = {larger_shop.catalog.ids[row] for row in larger_shop.catalog.rows_of_category(category).tolist()}
    drawn: set[str] = set()
    for seed in range(200):
        args = {"query": "gift", "category": category}
        found = everything(world_in(larger_shop, seed, 20), **args)
        drawn |= {id_ for id_, old in zip(found, undegraded(larger_shop, 20, **args), strict=True) if id_ != old}
    assert drawn == family


@pytest.mark.parametrize("same", ["Gift  lamp", " gift LAMP\n", "gift\tlamp"])
def test_the_same_query_gives_the_same_page(same: str, shop: Shop) -> None:
    for seed in range(3):
        first = everything(world_in(shop, seed, 20), query="gift lamp")
        assert everything(world_in(shop, seed, 20), query=same) == first


def replaced_places(shop: Shop, seed: int, **args: Any) -> list[int]:
    found, plain = everything(world_in(shop, seed, 20), **args), undegraded(shop, 20, **args)
    return [at for at, (one, other) in enumerate(zip(found, plain, strict=True)) if one != other]


def test_another_query_filter_sort_or_seed_is_another_draw(shop: Shop) -> None:
    draws: Sequence[list[int]] = [
        replaced_places(shop, 0, query="gift"),
        replaced_places(shop, 0, query="gifts"),
        replaced_places(shop, 0, query="gift", price_max=1000),
        replaced_places(shop, 0, query="gift", price_max=1001),
        replaced_places(shop, 0, query="gift", sort="price_asc"),
        replaced_places(shop, 1, query="gift"),
    ]
    assert all(draws)
    assert len({tuple(places) for places in draws}) == len(draws)


# --- Variants ---------------------------------------------------------------------------------------------------------


def kinds_with_variants_in(shop: Shop, attribute: str) -> list[Category]:
    return [kind for kind in shop.catalog.categories if kind.variant_attribute == attribute]


def variant_attributes(shop: Shop) -> list[str]:
    return sorted({kind.variant_attribute for kind in shop.catalog.categories})


def test_a_filter_on_the_variant_attribute_passes_every_product_of_the_category(shop: Shop, world_of: WorldOf) -> None:
    world = world_of()
    assert len(variant_attributes(shop)) >= 5
    for kind in shop.catalog.categories:
        name = kind.variant_attribute
        for value in shop.variant_pool(kind):
            filters = {name if name in DISCRETE else bound_name(name)[0]: value}
            found = search(world, category=kind.name, **filters)
            assert found["total"] == len(shop.catalog.rows_of_category(kind.name)), (kind.name, filters)


def test_it_filters_the_other_categories_as_ever(shop: Shop, world_of: WorldOf) -> None:
    world = world_of(top_k=1000)
    products = 0
    for name in variant_attributes(shop):
        if name not in DISCRETE:
            continue
        for value in (shop.catalog.column(name).vocabulary or ())[:3]:
            found = everything(world, **{name: value})
            assert set(found) == passing(shop, {name: value})
            free = {kind.name for kind in kinds_with_variants_in(shop, name)}
            for product in (shop.catalog.product(shop.catalog.row_of(id_)) for id_ in found):
                assert product.category in free or product.attributes[name] == value
                products += product.category not in free
    assert products >= 60


def test_no_card_shows_the_attribute_in_which_its_product_has_variants(shop: Shop, world_of: WorldOf) -> None:
    world = world_of(top_k=1000)
    cards = [
        card
        for offset in range(0, shop.catalog.size, 10)
        for card in search(world, query="gift", offset=offset, limit=10)["results"]
    ]
    assert len(cards) == shop.catalog.size
    for card in cards:
        assert shop.catalog.categories[shop.catalog.category_index[card["category"]]].variant_attribute not in card


def variants(world: World, row: int) -> list[dict[str, Any]]:
    tool = TOOLS["catalog_get_variants"]
    found = tool.run(world, tool.args.model_validate({"product_id": world.shop.catalog.ids[row]}))
    assert found["product_id"] == world.shop.catalog.ids[row]
    return found["variants"]  # type: ignore[no-any-return]  # JSON has no types


def test_every_product_has_variants_its_own_among_them(shop: Shop, world_of: WorldOf) -> None:
    world = world_of(7)
    assert shop.catalog.size == 400
    for row in range(shop.catalog.size):
        listed = variants(world, row)
        name = shop.catalog.category_of(row).variant_attribute
        assert len(listed) >= 6
        assert all(each.keys() == {"variant_id", name, "in_stock"} for each in listed)
        assert len({each["variant_id"] for each in listed}) == len({each[name] for each in listed}) == len(listed)
        own = shop.catalog.value(row, name)
        if own is not None:
            shown = own if isinstance(own, str) else f"{own:g} {ATTRIBUTES[name].unit}"
            assert shown in [each[name] for each in listed]
        assert all(each["in_stock"] == (world.stock(row) > 0) for each in listed)


def test_variants_are_fixed_by_seed_and_product_and_shuffled(shop: Shop, world_of: WorldOf) -> None:
    rows = [row for row in range(shop.catalog.size) if shop.catalog.value(row, variant_name(shop, row)) is not None]
    places: list[float] = []
    for seed in range(4):
        world, again = world_of(seed), world_of(seed, difficulty=12)
        for row in reversed(rows):
            variants(again, row)
        for row in rows:
            listed = variants(world, row)
            assert variants(again, row) == listed == variants(world, row)
            own = shop.catalog.value(row, variant_name(shop, row))
            shown = [variant.value for variant in world.variants(row)]
            places.append((shown.index(own) + 0.5) / len(shown))  # type: ignore[arg-type]  # a product with variants has a value of their attribute
    assert variants(world_of(0), rows[0]) != variants(world_of(1), rows[0])
    # The own variant stands anywhere: the mean of a uniform place is a half, its deviation about 0.28.
    assert abs(float(np.mean(places)) - 0.5) < 3 * 0.28 / sqrt(len(places))
    assert min(places) < 0.1 < 0.9 < max(places)


def variant_name(shop: Shop, row: int) -> str:
    return shop.catalog.category_of(row).variant_attribute


def test_ids_tell_nothing_of_the_value_or_place(world_of: WorldOf) -> None:
    one, other = world_of(0), world_of(1)
    ids = {each["variant_id"] for row in range(50) for each in variants(one, row)}
    assert not ids & {each["variant_id"] for row in range(50) for each in variants(other, row)}
    assert len(ids) == sum(len(variants(one, row)) for row in range(50))
