"""Misspelt names of things: a word that no product has is read as the likeliest word of the names of kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from ecom_rlve.catalog.product import Category
from ecom_rlve.catalog.shop_words.asking import is_stop_word, read_query
from ecom_rlve.catalog.shop_words.splitting import folded, forms_of, split_words

_SHORTEST, _LONG = 5, 8
"""Letters. Shorter words are as near to many others; long ones may have two mistakes."""
_WORD = re.compile(r"[^\W\d_]+")


def words_of_kinds(categories: Iterable[Category]) -> tuple[str, ...]:
    """Return the different words of the names of kinds that are long enough to be misspelt, in alphabetical order."""
    words = {word for category in categories if category.is_kind for word in split_words(category.name)}
    return tuple(sorted(word for word in words if len(word) >= _SHORTEST - 1 and not is_stop_word(word)))


def nearest_word(word: str, kinds: Sequence[str]) -> str | None:
    """Return the word of ``kinds`` that ``word`` is a misspelling of, None if it is of none.

    One letter may differ, of long words two; the first is taken to be right. Of words as near, the first is taken.

    >>> kinds = ("headphone", "pouch")
    >>> nearest_word("headfone", kinds), nearest_word("couch", kinds)
    ('headphone', None)
    """
    if len(word) < _SHORTEST or not word.isalpha():
        return None
    most = 2 if len(word) >= _LONG else 1
    near = extract(word, kinds, scorer=OSA.distance, score_cutoff=most, limit=None)
    right = [(distance, at, kind) for kind, distance, at in near if kind[0] == word[0]]
    return min(right)[2] if right else None


def respelt(query: str, is_known: Callable[[str], bool], nearest: Callable[[str], str | None]) -> str:
    """Return a query with words that are not known replaced by what ``nearest`` finds for them."""
    found = {word: nearest(word) for word in read_query(query).words if not is_known(word)}
    if not any(found.values()):
        return query

    def spelling(match: re.Match[str]) -> str:
        word, *others = forms_of(folded(match[0]))
        return match[0] if others else found.get(word) or match[0]

    return _WORD.sub(spelling, query)
