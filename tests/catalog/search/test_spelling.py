"""Misspelt names of things."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.product import UNKNOWN_KIND, Category
from ecom_rlve.catalog.search.spelling import nearest_word, respelt, words_of_kinds
from ecom_rlve.envs.world.shop import Shop

KINDS = ("headphone", "jacket", "lamp", "pouch", "sunglass", "sweater")
NEAREST = partial(nearest_word, kinds=KINDS)
KNOWN = frozenset({"black", "blue", "jacket"})


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("headfones black", "headphone black"),
        ("Black HEADPONES, please", "Black headphone, please"),
        ("a jaket for under $45.50", "a jacket for under $45.50"),
        ("blue jackets", "blue jackets"),
        ("gray couch", "gray couch"),
        ("swaeter", "sweater"),
        ("lapm", "lapm"),
        ("headfones2 65inch usb-c", "headfones2 65inch usb-c"),
    ],
)
def test_words_that_no_product_has_are_read_as_the_nearest_name_of_a_kind(query: str, read: str) -> None:
    assert respelt(query, KNOWN.__contains__, NEAREST) == read


@given(st.text(max_size=80))
def test_a_query_of_known_words_stays_as_it_is(query: str) -> None:
    assert respelt(query, lambda _: True, NEAREST) == query


@given(st.text(max_size=80))
def test_any_text_is_respelt(query: str) -> None:
    read = respelt(query, KNOWN.__contains__, NEAREST)
    assert read == query or any(kind in read for kind in KINDS)


def test_only_kinds_have_words() -> None:
    kind = Category("desk lamps", ("Home", "Desk lamps"), "desk lamp", "desk lamps", "color")
    other = Category(UNKNOWN_KIND, ("Other",), "item", UNKNOWN_KIND, "color")
    assert words_of_kinds([kind, other]) == ("desk", "lamp")


@pytest.mark.parametrize(
    ("query", "kind"), [("headfones black", "headphones"), ("blue hodie", "hoodies"), ("red jakcet", "jackets")]
)
def test_misspelt_things_are_found(big_shop: Shop, query: str, kind: str) -> None:
    search = big_shop.search
    shown = [search.catalog.category_of(row).name for row in search.rank(query, None, 5).tolist()]
    assert [name.split()[-1] for name in shown] == [kind] * 5
