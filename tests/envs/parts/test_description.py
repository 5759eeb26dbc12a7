"""Descriptions against the contract (SPEC §6, CART): the facts of a product single it out, and the tools show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.catalog.constraints import Constraint, Op, satisfied
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.language.phrases import LABELS, spellings
from ecom_rlve.envs.language.spelling import with_capitals
from ecom_rlve.envs.parts.description import describe, facts_of
from ecom_rlve.envs.tools.catalog import SearchArgs, ranked_page
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams, stream


def described(shop: Shop, every: int) -> list[tuple[int, tuple[Constraint, ...]]]:
    """Return every so many rows with their descriptions, where they have one."""
    found = []
    for row in range(0, shop.catalog.size, every):
        facts = describe(shop, row, stream(row, "description"))
        if facts is not None:
            found.append((row, facts))
    return found


def test_the_facts_single_out_one_product_of_its_kind(big_shop: Shop) -> None:
    catalog = big_shop.catalog
    known = described(big_shop, 7)
    assert len(known) >= 1300
    for row, facts in known:
        rows = catalog.rows_of_category(catalog.category_of(row).name)
        for constraint in facts:
            rows = rows[satisfied(catalog, constraint, rows)]
        assert rows.tolist() == [row]


def test_facts_are_equalities_of_different_attributes_never_the_variants(big_shop: Shop) -> None:
    known = described(big_shop, 7)
    assert len(known) >= 1300
    for row, facts in known:
        names = [constraint.attribute for constraint in facts]
        assert len(names) >= 3
        assert len(set(names)) == len(names)
        assert big_shop.catalog.category_of(row).variant_attribute not in names
        assert {constraint.op for constraint in facts} == {Op.EQ}


def test_a_search_that_filters_by_a_fact_shows_it_of_the_product_and_of_its_lookalikes(big_shop: Shop) -> None:
    """CART cannot look at a product in full: what tells two apart must stand on their cards."""
    world = World(big_shop, axes_of(0), Streams("description"))
    tool = TOOLS["catalog_search"]
    shown = hidden_before = 0
    for row, facts in described(big_shop, 31):
        card = big_shop.card(row)
        for constraint in facts:
            name, value = constraint.attribute, constraint.value
            if name == "price":
                assert round(float(card["price"]) * 100) == value
                continue
            ends = ("_min" if ATTRIBUTES[name].better == "at_least" else "_max") if name in NUMERIC else ""
            args = {"query": card["title"], "category": card["category"], f"{name}{ends}": value, "limit": 10}
            results = tool.run(world, tool.args.model_validate(args))["results"]
            own = next((each for each in results if each["product_id"] == card["product_id"]), None)
            shown += own is not None
            hidden_before += own is not None and name not in card
            assert own is None or own[name] == value
            assert all(name in each for each in results)
    assert shown > 500
    assert hidden_before > 50


@pytest.mark.parametrize("closeness", [0.5, 1.0])
def test_the_closer_the_lookalikes_the_more_facts_it_takes_and_the_less_each_tells(
    big_shop: Shop, closeness: float
) -> None:
    catalog = big_shop.catalog

    def measured(closeness: float) -> tuple[float, float]:
        """Return the mean number of facts, and the mean share of a category that meets one."""
        counts, shares = [], []
        for row in range(0, catalog.size, 23):
            facts = describe(big_shop, row, stream(row, "close"), closeness)
            rows = catalog.rows_of_category(catalog.category_of(row).name)
            if facts is not None:
                counts.append(len(facts))
                shares += [satisfied(catalog, each, rows).mean() for each in facts]
        return float(np.mean(counts)), float(np.mean(shares))

    plain, close = measured(0.0), measured(closeness)
    assert close[0] > plain[0] + 0.5
    assert close[1] > plain[1] + 0.02


def test_a_search_with_all_facts_finds_it_alone(big_shop: Shop) -> None:
    world = World(big_shop, axes_of(0), Streams("description"))
    known = described(big_shop, 97)
    assert len(known) >= 100
    for row, facts in known:
        args: dict[str, Any] = {"query": "", "category": big_shop.catalog.category_of(row).name}
        numbers = {}
        for constraint in facts:
            if constraint.attribute == "price":
                args["price_min"] = args["price_max"] = float(big_shop.card(row)["price"])
            elif constraint.attribute in NUMERIC:
                numbers[constraint.attribute] = constraint.value
            else:
                args[constraint.attribute] = constraint.value
        ranked, _ = ranked_page(world, SearchArgs.model_validate(args))
        cards = {other: big_shop.card(other, tuple(numbers)) for other in ranked}
        assert [
            other for other, card in cards.items() if all(card.get(name) == value for name, value in numbers.items())
        ] == [row]


def test_every_fact_can_be_said_exactly(big_shop: Shop) -> None:
    """Spelled without rounding, under a label, with the unit of the catalog."""
    known = described(big_shop, 13)
    assert len(known) >= 700
    for row, facts in known:
        for fact in facts_of(facts):
            assert fact.slot == fact.constraint.attribute
            assert fact.slot in LABELS
            value = big_shop.catalog.value(row, fact.slot)
            spelled = spellings(fact)[0]
            if fact.slot == "price":
                assert value is not None
                assert round(float(spelled.removeprefix("$")) * 100) == value
            elif isinstance(value, str):
                assert spelled == with_capitals(value)
                assert spelled.casefold() == value.casefold()
            else:
                assert float(spelled.split()[0]) == value


def test_a_floor_price_and_unknown_values_are_never_facts(big_shop: Shop) -> None:
    floors = big_shop.catalog.column("price").is_floor
    known = described(big_shop, 5)
    assert len(known) >= 1800
    for row, facts in known:
        for constraint in facts:
            assert big_shop.catalog.value(row, constraint.attribute) is not None
            if constraint.attribute == "price" and floors is not None:
                assert not floors[row]


def test_a_description_is_a_function_of_its_draws(shop: Shop) -> None:
    assert shop.catalog.size == 400
    for row in range(0, shop.catalog.size, 11):
        assert describe(shop, row, stream(row, "same")) == describe(shop, row, stream(row, "same"))


def test_nearly_every_product_can_be_described(shop: Shop, big_shop: Shop) -> None:
    """Otherwise being describable would be an oddity of targets."""
    for each in (shop, big_shop):
        rows = range(0, each.catalog.size, max(1, each.catalog.size // 400))
        share = len(described(each, rows.step)) / len(rows)
        print(f"{each.catalog.size} products: {share:.3f} can be described")
        assert share > 0.98


def test_brands_come_first_so_that_a_search_in_words_has_something_to_go_by(big_shop: Shop) -> None:
    first = {facts[0].attribute for row, facts in described(big_shop, 11) if big_shop.catalog.value(row, "brand")}
    assert first == {"brand"}
