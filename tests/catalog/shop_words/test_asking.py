"""Which words of a query say what is sought, and which things it names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.shop_words.asking import is_stop_word, read_query
from ecom_rlve.catalog.shop_words.things import marks_of_kind, things_named

KINDS = ("watch", "watch band", "tool bag", "bag", "desk lamp", "sneaker", "baseball cap", "display case", "loose tea")
MARKS = frozenset(mark for kind in KINDS for mark in marks_of_kind(kind))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Hi, I'm looking for a blue desk lamp, please!", ("blue", "desk", "lamp")),
        ("headphones under $50", ("headphone",)),
        ("rated 4.5 stars or more, delivered within 3 days, for 40 dollars at most", ()),
        ("a kettle that holds 2 l, no more than €1.299,00", ("kettle", "hold", "2", "2000ml")),
        ("the who", ("the", "who")),
        ("", ()),
    ],
)
def test_talk_and_bounds_are_left_out(query: str, words: tuple[str, ...]) -> None:
    found = read_query(query).words
    if words or not query:
        assert found == words
    else:
        assert not {"4.5", "3", "40", "star", "day", "dollar"} & set(found)


def test_readings_of_one_word_are_a_group() -> None:
    assert read_query("usb-c t-shirt").groups == (("usb", "c", "usbc"), ("t", "shirt", "tshirt"))


@pytest.mark.parametrize(
    ("query", "things"),
    [
        ("apple watch band 44 mm", ("=watch band",)),
        ("a watch band for my watch", ("=watch band",)),
        ("nurse watch", ("~watch",)),
        ("something for my desk: a desk lamp and sneakers.", ("=desk lamp", "~sneaker")),
        ("baseball cap display case", ("=display case",)),
        ("bag", ("~bag",)),
        ("lamp for the kitchen", ("~lamp",)),
        ("I had a pot of tea. I want sneakers", ("~sneaker",)),
        ("tools", ()),
        ("", ()),
    ],
)
def test_the_last_words_before_a_preposition_name_the_thing(query: str, things: tuple[str, ...]) -> None:
    assert things_named(read_query(query), MARKS.__contains__).sought == things


@pytest.mark.parametrize(
    ("query", "things", "described"),
    [
        ("a watch band for the sneakers", ("=watch band",), ("sneaker",)),
        ("bag to go with my watch", ("~bag",), ("watch",)),
        ("a bag matching my sneakers, please", ("~bag",), ("sneaker",)),
        ("I want to buy a desk lamp that fits the bag", ("=desk lamp",), ("bag",)),
        ("which bag goes with a baseball cap?", ("~bag",), ("baseball", "cap")),
        ("Hi, for my sneakers, a bag", ("~bag",), ("sneaker",)),
        ("I'm looking for a bag, desk lamp style", ("~bag",), ()),
        ("a bag for the watch and my sneakers", ("~bag",), ("watch", "sneaker")),
        ("a bag for the watch and a desk lamp", ("~bag", "=desk lamp"), ("watch",)),
        ("I'm looking for the bag and the desk lamp", ("~bag", "=desk lamp"), ()),
        ("a watch band for the watch", ("=watch band",), ()),
        ("something for the watch", ("~watch",), ()),
    ],
)
def test_what_a_thing_is_for_only_describes_it(query: str, things: tuple[str, ...], described: tuple[str, ...]) -> None:
    assert things_named(read_query(query), MARKS.__contains__) == (things, described)


@given(st.text(max_size=300))
def test_any_text_is_read(query: str) -> None:
    asking = read_query(query)
    assert all(asking.groups)
    assert set(things_named(asking, MARKS.__contains__).sought) <= MARKS
    said = [word for group in asking.groups if len(group) == 1 for word in group]
    assert not any(map(is_stop_word, said)) or all(map(is_stop_word, said))
