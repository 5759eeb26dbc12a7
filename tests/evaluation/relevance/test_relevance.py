"""The judged queries are whole, and the search answers them as well as it did when they were judged."""

from __future__ import annotations

import csv
from pathlib import Path
from statistics import fmean

import pytest

from ecom_rlve.catalog.search.search import Search
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.relevance.__main__ import main
from ecom_rlve.evaluation.relevance.judged import (
    FIRST,
    SYNTHETIC,
    JudgedCatalog,
    JudgedQuery,
    judged_catalogs,
    precisions,
)
from ecom_rlve.evaluation.relevance.known_items import TARGETS, hits


def test_at_least_150_queries_are_judged_and_none_twice() -> None:
    queries = [(judged.catalog, each.query) for judged in judged_catalogs() for each in judged.queries]
    assert len(queries) >= 150
    assert len(set(queries)) == len(queries)
    assert all(each.relevant for judged in judged_catalogs() for each in judged.queries)
    assert {grade for judged in judged_catalogs() for each in judged.queries for grade in each.grades.values()} == {
        0,
        1,
        2,
        3,
    }


def test_every_judged_product_of_the_default_catalog_is_there(big_shop: Shop) -> None:
    judged = next(each for each in judged_catalogs() if each.catalog == SYNTHETIC)
    known = set(big_shop.catalog.ids)
    assert {product_id for each in judged.queries for product_id in each.grades} <= known


def test_the_first_five_are_relevant(big_shop: Shop) -> None:
    judged = next(each for each in judged_catalogs() if each.catalog == SYNTHETIC)
    found = list(precisions(big_shop.search, judged))
    assert len(found) == len(judged.queries)
    assert fmean(each.share for each in found) >= 0.9


def test_almost_all_that_is_shown_is_graded(big_shop: Shop) -> None:
    """An order that shows other products makes the judgement stale: grade what ``--ungraded`` lists, and 0 counts."""
    judged = next(each for each in judged_catalogs() if each.catalog == SYNTHETIC)
    found = list(precisions(big_shop.search, judged))
    assert sum(len(each.ungraded) for each in found) <= 0.03 * FIRST * len(found)


@pytest.mark.parametrize("name", [judged.catalog for judged in judged_catalogs()])
def test_as_many_products_are_graded_as_are_shown(name: str) -> None:
    judged = next(each for each in judged_catalogs() if each.catalog == name)
    assert min(len(each.grades) for each in judged.queries) >= FIRST


def test_precision_is_of_what_is_possible() -> None:
    catalog = synthetic_catalog(40)
    search = Search.build(catalog)
    first, second, *others = (catalog.ids[row] for row in search.rank("lamp", None, FIRST).tolist())
    last = catalog.ids[int(search.rank("lamp", None, 40)[-1])]
    query = JudgedQuery(query="lamp", grades={first: 3, second: 0, last: 2})
    (found,) = precisions(search, JudgedCatalog(catalog=SYNTHETIC, queries=(query,)))
    assert (found.found, found.possible, found.share) == (1, 2, 0.5)
    assert found.ungraded == tuple(others)


def test_openings_find_what_customers_want(big_shop: Shop) -> None:
    for env_id in TARGETS:
        seen = list(hits(big_shop, env_id, 20))
        assert len(seen) >= 20
        assert fmean(seen) >= 0.9, env_id


def test_an_export_that_states_no_currency_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = next(each for each in judged_catalogs() if each.catalog.startswith("shopify/"))
    file = tmp_path / judged.catalog
    file.parent.mkdir()
    with file.open("w", newline="") as out:
        csv.writer(out).writerows(
            [("Handle", "Title", "Variant Price"), *((f"mug-{at}", f"Clay Mug No. {at}", 5 + at) for at in range(40))]
        )
    main(data=tmp_path, catalog=judged.catalog, episodes=0, ungraded=True)
    printed = capsys.readouterr()
    assert f"| {judged.catalog} | {len(judged.queries)} | 0.000 |" in printed.out
    assert f"| {FIRST * len(judged.queries)} |" in printed.out
    assert f"{judged.queries[0].query}: mug-" in printed.err
