"""Exact scores: the golden cart, and properties of the unit F1."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.parts.scores import unit_f1

carts = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 5), max_size=6)
WANTED = {("charger", "100 W"): 1, ("air fryer", "activated carbon"): 1, ("tank top", "xs"): 3}
GIVEN = {("charger", "100 W"): 1, ("air fryer", "bamboo"): 1, ("tank top", "xl"): 3, ("tank top", "xs"): 2}


def test_the_authors_cart_has_f1_one_half() -> None:
    assert unit_f1(WANTED, GIVEN) == Fraction(1, 2)


@given(carts)
def test_a_perfect_cart_is_exactly_one(cart: dict[str, int]) -> None:
    assert unit_f1(cart, dict(reversed(cart.items()))) == 1


@given(carts, carts)
def test_f1_is_symmetric_and_bounded(wanted: dict[str, int], given_: dict[str, int]) -> None:
    score = unit_f1(wanted, given_)
    assert score == unit_f1(given_, wanted)
    assert 0 <= score <= 1
    assert (score == 1) == (wanted == given_)


@given(carts.filter(bool), st.sampled_from("abcdef"))
def test_a_surplus_unit_costs(wanted: dict[str, int], key: str) -> None:
    assert unit_f1(wanted, {**wanted, key: wanted.get(key, 0) + 1}) < 1
