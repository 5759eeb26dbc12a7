"""What a search takes for one word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.shop_words.splitting import MAX_WORDS, singular_word, split_groups, split_pieces, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Crème brûlée-dish, CREME", ["creme", "brulee", "dish"]),
        ("usb_c", ["usb", "c"]),
        ("men's, women’s, Mens and kids'", ["man", "woman", "and", "kid"]),
        ("I'm sure we don't", ["i", "sure", "we", "don"]),
        (" \t—!", []),
        ('65 Inch, 65-inch, 65in, 65", 65”', ["65", "65inch"]),
        ("5 in 1 tool, 2 in black", ["5", "in", "1", "tool", "2", "black"]),
        ("1300 W, 1,300 watts and 1.3 kW", ["1300", "1300w", "and", "1.3"]),
        ("2 m, 200 cm, 2.00 metres", ["2", "200cm", "200"]),
        ("22 litres or 22000 ml", ["22", "22000ml", "or", "22000"]),
        ("0.50 kg, 500g", ["0.5", "500g", "500"]),
        ("12 fl; 12-pack, 3 pcs", ["12", "fl", "12pack", "3", "3piece"]),
        ("WH-1000XM4 A4 4K", ["wh", "1000xm4", "wh1000xm4", "a4", "4k"]),
        ("T-shirt, tshirts", ["t", "shirt", "tshirt"]),
        ("stainless-steel", ["stainless", "steel"]),
        ("B&B 18/10", ["b", "bb", "18", "10"]),
    ],
)
def test_texts_become_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("plural", "form"),
    [
        ("lamps", "lamp"), ("batteries", "battery"), ("dresses", "dress"), ("watches", "watch"), ("boxes", "box"),
        ("scarves", "scarf"), ("women", "woman"), ("grey", "gray"), ("lens", "lens"), ("lenses", "lens"),
        ("shorts", "shorts"), ("glass", "glass"), ("gas", "gas"), ("xs", "xs"),
    ],
)  # fmt: skip
def test_plurals_and_spellings_meet(plural: str, form: str) -> None:
    assert singular_word(plural) == form
    assert singular_word(form) == form


def test_only_so_many_different_words_count() -> None:
    assert len(split_words(" ".join(f"word{number}" for number in range(1000)))) == MAX_WORDS


@given(st.text())
def test_splitting_takes_any_text(text: str) -> None:
    words = split_words(text)
    assert len(set(words)) == len(words)
    assert all(word and not word.isspace() for word in words)
    assert list(dict.fromkeys(word for group in split_groups(text) for word in group))[:MAX_WORDS] == words
    marks = [piece for piece in split_pieces(text) if piece not in ".,!?;:"]
    assert len(marks) == len(list(split_groups(text)))


@given(st.decimals(min_value=0, max_value=10**6, places=2))
def test_a_number_is_one_word_however_it_is_written(number: object) -> None:
    plain, measured = split_words(f"{number} W")
    assert measured == f"{plain}w"
    assert float(plain) == float(str(number))
