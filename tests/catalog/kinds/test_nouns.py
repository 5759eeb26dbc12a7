"""The lists of nouns."""

from __future__ import annotations

import pytest

from ecom_rlve.catalog.kinds.nouns import bare, kind_words, measure, noun_ending, noun_of


def test_every_noun_is_found_in_singular_and_plural() -> None:
    for phrase in ("ankle boot", "ankle boots", "t-shirts", "chests of drawers", "cell phone case"):
        found = noun_of(phrase)
        assert found is not None, phrase


def test_the_longest_noun_at_the_end_counts() -> None:
    words = "red wine glass".split()
    endings = [noun_ending(words, stop) for stop in (1, 2, 3)]
    assert [None if ending is None else ending.at for ending in endings] == [None, 0, 1]


@pytest.mark.parametrize(
    ("name", "thing", "of"), [("pair of jeans", "jeans", "pair of "), ("chest of drawers", "chest of drawers", "")]
)
def test_a_measure_is_no_part_of_the_thing(name: str, thing: str, of: str) -> None:
    assert (bare(name), measure(name)) == (thing, of)


def test_every_family_has_variants() -> None:
    families = {noun.leaf.family for noun in (noun_of(name) for name in ("boot", "tea", "vitamin", "dvd")) if noun}
    assert families == {"Shoes", "Food", "Health", "Media"}
    assert families <= kind_words()["variant_attributes"].keys()
