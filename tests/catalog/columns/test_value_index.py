"""Which attribute words are a value of: the same whether a vocabulary is held in a table or asked."""

from __future__ import annotations

import pytest

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.catalog.columns import value_index
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.value_index import ValueIndex
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.envs.world.shop import Shop


@pytest.mark.parametrize("held", [0, 20, 10**6])
def test_every_value_is_found(shop: Shop, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected: dict[str, tuple[str, ...]] = {}
    for name in (*DISCRETE, "brand"):
        for value in shop.catalog.column(name).vocabulary or ():
            if name != "brand" or len(value) >= 5:
                owners = expected.get(value.casefold(), ())
                expected[value.casefold()] = tuple(dict.fromkeys((*owners, name)))
    monkeypatch.setattr(value_index, "_HELD", held)
    index = ValueIndex(shop.catalog)
    assert {words: index.get(words) for words in expected} == expected
    assert index.get("no such value") == ()


@pytest.mark.parametrize("held", [0, 10**6])
def test_a_value_of_several_attributes_names_them_all(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_index, "_HELD", held)
    attributes = {"color": "mint", "scent": "mint", "size": "s"}
    soap = Product(id="s1", title="Soap", category="soaps", attributes=attributes)
    kind = Category("soaps", ("Bath", "Soaps"), "soap", "soaps", "color")
    index = ValueIndex(Catalog.from_products([soap], [kind]))
    assert (index.get("mint"), index.get("s")) == (("color", "scent"), ("size",))
