"""Cards against facts and filters: exact, with unknown told apart from unmet."""

from typing import Any

import pytest

from ecom_rlve.evaluation.expert.cards import contradicts, filters_of, is_titled, meets, passes, unproved, words_of
from ecom_rlve.models import SaidFact

CARD = {"product_id": "P", "brand": "Acme", "price": 19.99, "rating": 4.2, "ship_days": 3, "weight": 350.0}


def fact(attribute: str, op: str, value: Any, unit: str = "") -> SaidFact:
    return SaidFact(slot=attribute, attribute=attribute, op=op, value=value, unit=unit)


@pytest.mark.parametrize(
    ("said", "is_met"),
    [
        (fact("brand", "eq", "Acme"), True),
        (fact("brand", "any_of", ["Bolt", "Acme"]), True),
        (fact("brand", "any_of", ["Bolt", "Cord"]), False),
        (fact("brand", "none_of", ["Bolt", "Acme"]), False),
        (fact("brand", "none_of", ["Bolt"]), True),
        (fact("color", "none_of", ["red"]), None),
        (fact("price", "between", [1999, 2500]), True),
        (fact("price", "between", [1000, 1998]), False),
        (fact("weight", "between", [350.0, 350.0]), True),
        (fact("weight", "between", [351.0, 400.0]), False),
        (fact("price", "eq", 1999), True),
        (fact("price", "at_most", 1998), False),
        (fact("rating", "at_least", 4.2), True),
        (fact("ship_days", "at_most", 2), False),
        (fact("weight", "eq", 350.0), True),
        (fact("color", "eq", "red"), None),
    ],
)
def test_a_card_meets_a_fact(said: SaidFact, is_met: bool | None) -> None:
    assert meets(CARD, said) is is_met


def test_the_unknown_meets_nothing_once_all_is_shown() -> None:
    red = fact("color", "eq", "red")
    assert unproved(CARD, [red]) == [red]
    assert not contradicts(CARD, [red])
    assert contradicts(CARD, [red], is_whole=True)
    assert contradicts(CARD, [fact("color", "none_of", ["red"])], is_whole=True)
    assert meets({"product_id": "P"}, fact("brand", "eq", "Acme")) is False
    assert meets({"price_from": 5.0}, fact("price", "at_most", 1000)) is False


def test_a_shortened_word_may_be_the_one_that_was_said() -> None:
    assert meets({"brand": "Acme Brothers of…"}, fact("brand", "eq", "Acme Brothers of the North")) is None
    assert meets({"brand": "Acme Brothers of…"}, fact("brand", "eq", "Bolt")) is False
    assert meets({"brand": "Acme Brothers of…"}, fact("brand", "none_of", ["Bolt"])) is True
    assert meets({"brand": "Acme Brothers of…"}, fact("brand", "none_of", ["Acme Brothers of the North"])) is None


def test_filters_say_no_more_than_was_said() -> None:
    said = [
        fact("brand", "eq", "Acme"),
        fact("price", "eq", 1999),
        fact("rating", "at_least", 4.0),
        fact("weight", "eq", 350.0),
        fact("wattage", "eq", 40.0),
        fact("color", "any_of", ["red", "blue"]),
    ]
    filters = {"brand": "Acme", "price_min": 19.99, "price_max": 19.99, "rating_min": 4.0}
    filters |= {"weight_max": 350.0, "wattage_min": 40.0}
    assert filters_of(said) == filters
    assert filters_of([fact("price", "at_most", 500)]) == {"price_max": 5.0}
    assert filters_of([fact("price", "between", [500, 900])]) == {"price_min": 5.0, "price_max": 9.0}
    assert filters_of([fact("weight", "between", [2.0, 9.0]), fact("capacity", "between", [2.0, 9.0])]) == {
        "weight_max": 9.0,
        "capacity_min": 2.0,
    }
    assert filters_of([fact("color", "none_of", ["red"])]) == {}


def test_cards_that_take_the_place_of_others_need_not_pass() -> None:
    assert passes(CARD, {"price_max": 19.99, "rating_min": 4.0, "brand": "Acme", "color": "red"})
    assert not passes(CARD, {"price_max": 19.0})
    assert not passes(CARD, {"weight_max": 300.0})
    assert not passes({"product_id": "P"}, {"price_max": 19.0})


def test_facts_as_a_shop_writes_them() -> None:
    said = [fact("brand", "eq", "Acme"), fact("weight", "eq", 350.0, "g"), fact("price", "eq", 1999)]
    assert words_of(said) == "Acme 350 g"


def test_a_cut_title_may_be_the_one_that_was_said() -> None:
    whole = "Oak Lamp by Acme, Brass, 12 W"
    assert is_titled({"title": whole}, whole)
    assert is_titled({"title": "Oak Lamp by…"}, whole)
    assert not is_titled({"title": "Oak Lamp by"}, whole)
    assert not is_titled({"title": "Elm Lamp…"}, whole)
