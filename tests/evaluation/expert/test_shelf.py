"""What searches have shown: pages that are worth a look, replaced results, category names, and what may be gone."""

from typing import Any

import pytest

from ecom_rlve.evaluation.expert.shelf import Shelf
from ecom_rlve.models import DomainCode, ToolResult


def card(number: int, *, price: float = 5.0, category: str = "lamps", in_stock: bool = True) -> dict[str, Any]:
    return {"product_id": f"P{number}", "category": category, "price": price, "in_stock": in_stock}


def page(total: int, *cards: dict[str, Any]) -> ToolResult:
    return ToolResult(name="catalog_search", result={"total": total, "results": list(cards)})


def looked(shelf: Shelf, filters: dict[str, Any], answer: ToolResult) -> dict[str, Any]:
    """Take the next look and return its call."""
    search = shelf.search(filters)
    call, take = shelf.call(search, next(shelf.looks(search, "price_asc")))
    take(answer)
    return call


def test_all_that_pass_are_looked_for_in_other_words_where_others_took_their_places() -> None:
    shelf, filters = Shelf("lamp", "lamps"), {"price_max": 9.0}
    call = looked(shelf, filters, page(3, card(1), card(2), card(9, price=20.0)))
    assert call["args"] == {
        "query": "lamp", "category": "lamps", "limit": 10, "sort": "price_asc", "price_max": 9.0
    }  # fmt: skip
    search = shelf.search(filters)
    assert set(search.seen) == {"P1", "P2"}
    assert "P9" in shelf.cards
    assert looked(shelf, filters, page(3, card(1), card(3)))["args"]["query"] == "good lamp"
    assert list(shelf.looks(search, "price_asc")) == []
    assert next(shelf.looks(search, "price_asc", is_doubtful=True)).query == "lamp on offer"


def test_what_has_sold_out_since_is_counted_still() -> None:
    shelf = Shelf("lamp", "lamps")
    looked(shelf, {"in_stock": True}, page(3, card(1), card(2)))
    looked(shelf, {"in_stock": True}, page(2, card(1)))
    assert not shelf.search({"in_stock": True}).is_complete


@pytest.mark.parametrize(
    ("singular", "plural", "category"),
    [
        ("lamp", "lamps", "lamps"),
        ("pair of sneakers", "pairs of sneakers", "sneakers"),
        ("tin of loose tea", "tins of loose tea", "loose teas"),
        ("dress", "", "dresses"),
        ("candy", "", "candies"),
        ("bag of coffee beans", "", "coffee beans"),
    ],
)
def test_the_category_is_guessed_from_the_noun(singular: str, plural: str, category: str) -> None:
    shelf = Shelf(singular, plural)
    search = shelf.search({})
    assert shelf.call(search, next(shelf.looks(search)))[0]["args"]["category"] == category


def test_where_the_guess_is_refused_results_in_words_tell_the_category() -> None:
    shelf = Shelf("scarf")
    refused = ToolResult(name="catalog_search", error="no such category", code=DomainCode.UNKNOWN_FILTER_VALUE)
    looked(shelf, {"price_max": 9.0}, refused)
    words = looked(shelf, {"price_max": 9.0}, page(2, card(1, category="hats"), card(2, category="hats"), card(3)))
    assert words["args"] == {"query": "scarf", "limit": 10}
    assert shelf.category == "hats"
    assert shelf.search({"price_max": 9.0}).total is None
    assert looked(shelf, {"price_max": 9.0}, page(1))["args"]["category"] == "hats"


def test_what_was_seen_once_only_may_have_sold_out() -> None:
    shelf = Shelf("lamp", "lamps")
    shelf.batch = 1
    looked(shelf, {}, page(9, *(card(number) for number in range(6))))
    assert shelf.may_have_sold_out(["P0", "P1", "P2"], 2) == ["P0", "P1"]
    shelf.batch = 2
    looked(shelf, {"price_max": 9.0}, page(9, card(0), card(7)))
    assert shelf.may_have_sold_out(["P0", "P1", "P7"], 3) == ["P1", "P7"]
    shelf.batch = 3
    _, take = shelf.look_at("P1")
    take(ToolResult(name="catalog_get_product", result={"product": card(1, in_stock=False)}))
    assert not shelf.cards["P1"]["in_stock"]
    assert "P1" in shelf.whole
