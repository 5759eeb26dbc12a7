"""Which of a feed's category fields counts."""

from __future__ import annotations

import pytest

from ecom_rlve.catalog.kinds.google_taxonomy import google_path
from ecom_rlve.catalog.sources.category_paths import category_fields


@pytest.mark.parametrize(
    ("paths", "labels", "fields", "field"),
    [
        ({"product_type": "Sale > New", "google": "328"}, {}, ["Electronics", "Computers", "Laptops"], "google"),
        ({"product_type": "Home > Kitchen > Mugs", "google": "212"}, {}, ["Kitchen", "Mugs"], "product_type"),
        ({"product_type": "Sale > New", "google": "9999999"}, {}, ["Sale", "New"], "product_type"),
        ({"google": "9999999"}, {}, None, None),
        ({"google": "9999999"}, {"Type": "Ring"}, "Ring", "Type"),
    ],
)
def test_the_path_that_names_a_thing_counts(
    paths: dict[str, str], labels: dict[str, str], fields: list[str] | str | None, field: str | None
) -> None:
    found, names = category_fields(paths, labels)
    assert list(found.values()) == ([] if fields is None else [fields])
    assert list(names.values()) == ([] if field is None else [field])


def test_google_s_numbers_have_paths() -> None:
    assert google_path("200") == ("Apparel & Accessories", "Jewelry", "Rings")
    assert google_path("404")[-1] == "Televisions"
    assert google_path("Rings") == google_path("") == ()
