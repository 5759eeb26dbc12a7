"""The visit history against the contract (SPEC §6): nothing in it tells which entry is wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, fisher_exact, mannwhitneyu

from ecom_rlve.catalog.rows.row import catalog_of
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.tasks.cart.goal import closeness, items_at
from ecom_rlve.envs.tasks.cart.lookalikes import with_lookalike
from ecom_rlve.envs.tasks.cart.visit_history import draw_history
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Split
from ecom_rlve.streams import stream

ALPHA = 0.001
"""Each of some twenty statistics below is tested at this level."""


def families(world: World) -> dict[str, list[int]]:
    """Return the rows of the history by category, in the order shown."""
    found: dict[str, list[int]] = {}
    for row in world.history:
        found.setdefault(world.shop.catalog.category_of(row).name, []).append(row)
    return found


def worlds(shop: Shop, d: int, count: int) -> Iterator[tuple[World, list[int]]]:
    """Yield worlds with the rows wanted in them."""
    for seed in range(count):
        intent = Episode(shop, EpisodeSpec("CART", d, seed), "history").intent
        yield intent.world, [item.row for item in intent.goal.items if item is not None]


@pytest.mark.parametrize("d", [0, 3, 6, 9, 12, 15, 20])
@pytest.mark.parametrize("is_big", [False, True])
def test_families_of_three_distinct_rows(shop: Shop, big_shop: Shop, d: int, is_big: bool) -> None:
    n = items_at(d)
    drawn = list(worlds(big_shop if is_big else shop, d, 60))
    assert len(drawn) == 60
    for world, targets in drawn:
        assert len(set(world.history)) == len(world.history)
        found = families(world)
        kinds = {world.shop.catalog.category_of(row).name for row in targets}
        assert kinds <= found.keys(), "every wanted kind has a family"
        assert len(found) == max(4, 2 * n + 2)
        assert {len(rows) for rows in found.values()} == {3}


@pytest.mark.slow
@pytest.mark.parametrize("d", [0, 6, 12])
def test_a_target_is_there_with_probability_one_half(big_shop: Shop, d: int) -> None:
    seen = [row in world.history for world, targets in worlds(big_shop, d, 600) for row in targets]
    assert binomtest(sum(seen), len(seen), 0.5).pvalue > ALPHA, sum(seen) / len(seen)


@pytest.mark.slow
def test_targets_of_one_episode_are_there_independently(big_shop: Shop) -> None:
    table = [[0, 0], [0, 0]]
    for world, targets in worlds(big_shop, 3, 900):
        table[targets[0] in world.history][targets[1] in world.history] += 1
    assert fisher_exact(np.array(table)).pvalue > ALPHA, table


@pytest.mark.slow
@pytest.mark.parametrize("d", [0, 6])
def test_positions_tell_nothing(big_shop: Shop, d: int) -> None:
    """Neither the place in the whole list nor the order within the family nor the family's order is the target's."""
    count = max(4, 2 * items_at(d) + 2)
    place, within, family = Counter[int](), Counter[int](), Counter[int]()
    for world, targets in worlds(big_shop, d, 900):
        found = families(world)
        for row in targets:
            kind = world.shop.catalog.category_of(row).name
            family[list(found).index(kind)] += 1
            if row in world.history:
                place[world.history.index(row)] += 1
                within[found[kind].index(row)] += 1
    for counts, size in ((place, 3 * count), (within, 3), (family, count)):
        assert chisquare([counts[at] for at in range(size)]).pvalue > ALPHA, counts


def _statistics(world: World, row: int) -> dict[str, float]:
    """Return numbers that an agent could compute of an entry without the customer's words."""
    catalog, card = world.shop.catalog, world.card(row)
    variants = world.variants(row)
    price = float(catalog.column("price").values[row])
    return {
        "id": float(int(catalog.ids[row], 36)),
        "row": float(row),
        "price": -1.0 if price != price else price,
        "rating": float(str(card.get("rating", -1))),
        "ship_days": float(str(card["ship_days"])),
        "stock": float(catalog.column("stock").values[row]),
        "fields of the card": float(len(card)),
        "title length": float(len(catalog.titles[row])),
        "brand": float(catalog.column("brand").values[row]),
        "variants": float(len(variants)),
        "place of the smallest variant id": float(min(range(len(variants)), key=lambda at: variants[at].id)),
    }


@pytest.mark.slow
def test_no_statistic_of_an_entry_tells_the_target(big_shop: Shop) -> None:
    """Within its family, and among all families' members, the target is one of many."""
    wanted: dict[str, list[float]] = {}
    relatives: dict[str, list[float]] = {}
    strangers: dict[str, list[float]] = {}
    for world, (target,) in worlds(big_shop, 0, 800):
        for kind, rows in families(world).items():
            is_wanted_kind = kind == world.shop.catalog.category_of(target).name
            for row in rows:
                group = wanted if row == target else relatives if is_wanted_kind else strangers
                for name, value in _statistics(world, row).items():
                    group.setdefault(name, []).append(value)
    assert len(wanted["id"]) > 300
    for name, values in wanted.items():
        for others in (relatives, strangers):
            assert mannwhitneyu(values, others[name]).pvalue > ALPHA, name


@pytest.mark.parametrize("d", [8, 14, 20])
def test_wanted_products_have_lookalikes_as_often_as_the_others_in_the_history(big_shop: Shop, d: int) -> None:
    alike = {kind: set(with_lookalike(big_shop, kind).tolist()) for kind in big_shop.kinds(1)}
    counts = [[0, 0], [0, 0]]
    for world, targets in worlds(big_shop, d, 60):
        for row in world.history:
            has_lookalike = row in alike[world.shop.catalog.category_of(row).name]
            counts[row in targets][has_lookalike] += 1
    assert sum(counts[True]) > 50
    assert fisher_exact(np.array(counts)).pvalue > ALPHA, counts
    share = counts[False][True] / sum(counts[False])
    assert abs(share - (closeness(d) + (1 - closeness(d)) * 0.35)) < 0.06, share


@pytest.mark.slow
def test_a_family_with_the_target_looks_like_one_without(big_shop: Shop) -> None:
    """Whether the target is there, or only lookalikes of it, leaves no trace in the family."""
    spreads: dict[bool, list[float]] = {False: [], True: []}
    brands: dict[bool, list[int]] = {False: [], True: []}
    prices, brand = (big_shop.catalog.column(name).values for name in ("price", "brand"))
    for world, (target,) in worlds(big_shop, 0, 1200):
        rows = families(world)[big_shop.catalog.category_of(target).name]
        known = [price for row in rows if (price := float(prices[row])) == price]
        spreads[target in rows].append((max(known) - min(known)) / max(known))
        brands[target in rows].append(len({int(brand[row]) for row in rows}))
    assert mannwhitneyu(spreads[False], spreads[True]).pvalue > ALPHA
    assert mannwhitneyu(brands[False], brands[True]).pvalue > ALPHA


def test_the_history_is_no_function_of_how_it_is_read(big_shop: Shop) -> None:
    """Reading it late, after others, or twice gives the same list."""
    spec = EpisodeSpec("CART", 6, 11)
    early, late = (Episode(big_shop, spec, "history") for _ in range(2))
    look = {"tool_calls": [{"name": "user_get_visit_history", "args": {}}]}
    search = {"tool_calls": [{"name": "catalog_search", "args": {"query": "lamp"}}]}
    first = early.step(look).tool_results[0].result
    late.step(search)
    assert late.step(look).tool_results[0].result == first
    assert late.intent.world.history == early.intent.world.history


@pytest.mark.parametrize("targets", [0, 1, 2, 5])
def test_a_kind_with_too_few_rows_makes_a_smaller_family(targets: int) -> None:
    kinds = [f"kind {number}" for number in range(6)]
    rows = {kind: [10 * number, 10 * number + 1] for number, kind in enumerate(kinds)}
    rng = stream(3, "small")
    for _ in range(50):
        wanted = [(rows[kind][0], kind) for kind in kinds[:targets]]
        drawn = draw_history(rng, wanted, kinds, lambda kind, _: rows[kind][int(rng.integers(2))])
        assert len(set(drawn)) == len(drawn)
        assert len(drawn) <= 2 * len(kinds)


@pytest.mark.parametrize(("source", "split"), [("synthetic:100:0", "train"), ("synthetic:2000:0", "eval")])
def test_who_has_learned_what_is_ever_wanted_does_not_find_it_in_the_history(source: str, split: Split) -> None:
    """Products of other splits are never wanted. So a pick among those of the split is as blind as any other."""
    shop, share, drawn = Shop.open(source), 0.0, 120
    for seed in range(drawn):
        intent = Episode(shop, EpisodeSpec("CART", 0, seed, split), "history").intent
        own = [row for row in intent.world.history if shop.split(row) == split]
        share += sum(item is not None and item.row in own for item in intent.goal.items) / len(own)
    # A pick among all is right in 1/24. Small kinds have a product or two of the split; with others it was 1/7 and 1/3.
    assert share / drawn < 0.1


def test_what_words_cannot_single_out_is_never_wanted_and_never_visited() -> None:
    rows = [
        {
            "parent_asin": f"{kind}{at}",
            "title": f"{kind} {at}",
            "price": f"from {at + 5}.00" if at % 2 else f"{at + 5}.00",
            "rating": 4.0,
            "store": f"Alder {at % 3}",
            "details": {"Material": "Cotton", "Color": "Blue"},
            "categories": ["Home", f"{kind}s"],
        }
        for kind in ("Mug", "Lamp", "Chair", "Bowl", "Towel", "Pillow")
        for at in range(20)
    ]
    catalog, _ = catalog_of(rows)
    shop = Shop(catalog, Search.build(catalog))
    is_vague = shop.catalog.column("price").is_floor
    assert is_vague is not None
    visited = 0
    for world, targets in worlds(shop, 0, 40):
        assert not is_vague[targets].any()
        assert not is_vague[list(world.history)].any(), "a price 'from' would say that an entry is not wanted"
        visited += len(world.history)
    assert visited == 40 * 3 * 4


def test_a_kind_without_eligible_rows_is_no_endless_search() -> None:
    assert draw_history(stream(3, "none"), [], ["kind"], lambda *_: None) == ()
