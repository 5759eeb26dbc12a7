"""Words of titles that name no thing: numbers, codes, measures, colours, sizes, "new", "portable", "women's"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from ecom_rlve.catalog.kinds.nouns import word_set
from ecom_rlve.catalog.shop_words.attribute_words import spellings

_DESCRIBING = ("color", "size", "material", "pattern", "style", "age_range", "connector_type")
_NUMBER = re.compile(r"\d+(?:[p,]\d+)?")
_MEASURE = re.compile(r"\d+(?:[p,]\d+)?(?:x\d+)*([a-z\"']+)")
_SIZES = re.compile(r"\d+(?:[p,]\d+)?(?:x\d+(?:[p,]\d+)?)+[a-z]*")


def is_plain(words: Sequence[str], at: int) -> bool:
    """Say whether a word names no thing, so that it may follow the noun of a title without changing what is sold."""
    word = words[at]
    if word in _plain() or word.endswith("proof") or any(letter.isdigit() for letter in word):
        return True
    # A unit needs its number: "5 in", "12 v".
    return len(word) == 1 or (word in word_set("units") and at > 0 and words[at - 1][-1].isdigit())


def is_number(word: str) -> bool:
    """Say whether a word is a number, with or without a unit: "16gb", "20x20", "5"."""
    return bool(_NUMBER.fullmatch(word) or _MEASURE.fullmatch(word) or _SIZES.fullmatch(word))


@cache
def _plain() -> frozenset[str]:
    values = (word for name in _DESCRIBING for spelling in spellings(name) for word in spelling.split())
    return (word_set("plain") | word_set("people") | frozenset(values)) - word_set("never_plain")
