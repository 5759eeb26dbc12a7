"""Projects: every catalog has some, their kinds exist, and their names give no kind away."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.tasks.bundle.projects import LEAST_OF_A_KIND, offered, projects, usable_kinds
from ecom_rlve.envs.world.shop import Shop

FASHION = Path(__file__).parents[4] / "shared" / "data" / "amazon2023_meta_fashion_500.jsonl"
MADE_UP = Path(__file__).parents[2] / "catalog/made_up/amazon_fashion.jsonl"


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def shop_of(departments: dict[str, list[str]], each: int = LEAST_OF_A_KIND, **product: Any) -> Shop:
    """Return a shop with ``each`` products of every kind, kinds by department."""
    categories = [
        Category(f"{kind}s", (department, f"{kind}s".title()), kind, f"{kind}s", "size")
        for department, kinds in departments.items()
        for kind in kinds
    ]
    fields = {"price_cents": 1000, "stock": 5, "ship_days": 2, **product}
    products = [
        Product(f"{category.name}-{at}", f"{category.singular} number {at}", category.name, **fields)
        for category in categories
        for at in range(each)
    ]
    catalog = Catalog.from_products(products, categories)
    return Shop(catalog, Search.build(catalog))


def test_every_theme_is_well_formed() -> None:
    text = resources.files("ecom_rlve.envs.tasks.bundle.data").joinpath("projects.json").read_text("utf-8")
    themes = json.loads(text)["projects"]
    assert len({theme["name"] for theme in themes}) == len(themes) >= 20
    for theme in themes:
        assert len(set(theme["kinds"])) == len(theme["kinds"]) >= 10
        assert not {"{", "}", "%", "."} & set(theme["name"] + theme["plan"])
        assert theme["plan"].split()[0].endswith("ing")


@pytest.mark.parametrize("least", [2, 4, 6])
def test_the_procedural_catalog_has_many_projects_of_every_size(store: Shop, least: int) -> None:
    found = projects(store, least)
    assert len(found) >= 25
    for project in found:
        assert len(set(project.kinds)) == len(project.kinds) >= least
        assert set(project.kinds) <= set(usable_kinds(store))
        categories = (store.catalog.categories[store.catalog.category_index[kind]] for kind in project.kinds)
        words = f"{project.name} {project.plan}"
        assert not [kind for kind in categories if kind.singular in words or kind.plural in words]


def test_offers_are_what_can_be_bought_at_a_known_price_cheapest_first(store: Shop) -> None:
    price, stock = store.catalog.column("price"), store.catalog.column("stock").values
    assert len(usable_kinds(store)) >= 60
    for kind in usable_kinds(store):
        rows = store.aisle(kind).rows[offered(store, kind)]
        assert len(rows) >= LEAST_OF_A_KIND
        assert (stock[rows] > 0).all()
        assert (price.values[rows] > 0).all()
        assert price.is_floor is not None
        assert not price.is_floor[rows].any()
        assert (np.diff(price.values[rows]) >= 0).all()


def test_a_theme_finds_its_kinds_by_the_end_of_their_names() -> None:
    shop = shop_of({"Things": ["red desk lamp", "lampshade", "office chair", "wall charger"]})
    found = {project.name: project.kinds for project in projects(shop, 2)}
    assert found["home office"] == ("office chairs", "red desk lamps", "wall chargers")


def test_departments_are_projects_where_no_theme_fits() -> None:
    shop = shop_of({"Machines": ["gizmo", "widget"], "Parts": ["cog", "sprocket", "part"]})
    assert [(project.name, project.kinds) for project in projects(shop, 2)] == [
        ("machines shopping list", ("gizmos", "widgets")),
        ("parts shopping list", ("cogs", "sprockets")),
    ]


def test_everything_is_one_project_where_nothing_else_has_enough_kinds() -> None:
    shop = shop_of({"Machines": ["gizmo", "widget"], "Parts": ["cog"]})
    (project,) = projects(shop, 3)
    assert project.kinds == ("cogs", "gizmos", "widgets")
    assert projects(shop, 4) == ()


@pytest.mark.parametrize("flaw", [{"price_cents": None}, {"price_is_floor": True}, {"stock": 0}, {"price_cents": 0}])
def test_what_cannot_be_bought_at_a_known_price_makes_no_kind(flaw: dict[str, Any]) -> None:
    assert usable_kinds(shop_of({"Machines": ["gizmo", "widget"]}, **flaw)) == ()


@pytest.mark.parametrize("path", [MADE_UP, FASHION], ids=["made up", "real"])
def test_real_products_make_projects(path: Path) -> None:
    if not path.exists():
        pytest.skip(f"NOT TESTED on real products: {path} is absent")
    found = projects(Shop.open(str(path)), 4)
    assert any(not project.name.endswith("shopping list") for project in found)
    assert any(project.name.endswith("shopping list") for project in found)
