"""Words of titles that name no thing: numbers, codes, measures, colours, sizes, "new", "portable", "women's"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ecom_rlve.catalog.shop_words.attribute_words import spellings
from ecom_rlve.catalog.shop_words.nouns import word_set

_DESCRIBING = ("color", "size", "material", "pattern", "style", "age_range", "connector_type")
_NUMBER = re.compile(r"\d+(?:[p,]\d+)?")
_MEASURE = re.compile(r"\d+(?:[p,]\d+)?(?:x\d+)*([a-z\"']+)")
_SIZES = re.compile(r"\d+(?:[p,]\d+)?(?:x\d+(?:[p,]\d+)?)+[a-z]*")


def is_plain(words: Sequence[str], at: int) -> bool:
    """Say whether a word names no thing, so that it may follow the noun of a title without changing what is sold."""
    word = words[at]
    if word in _plain() or any(letter.isdigit() for letter in word):
        return True
    # A unit needs its number: "5 in", "12 v".
    return len(word) == 1 or (word in word_set("units") and at > 0 and words[at - 1][-1].isdigit())


def starts_measure(words: Sequence[str], at: int) -> bool:
    """Say whether a measure begins at a word: "16gb", "20x20", "6 quart"; "15" alone is none."""
    word = words[at]
    measured = _MEASURE.fullmatch(word)
    if _SIZES.fullmatch(word) or (measured and measured[1] in word_set("units")):
        return True
    return bool(_NUMBER.fullmatch(word)) and at + 1 < len(words) and words[at + 1] in word_set("units")


@cache
def _plain() -> frozenset[str]:
    values = (word for name in _DESCRIBING for spelling in spellings(name) for word in spelling.split())
    return word_set("plain") | word_set("people") | frozenset(values)
