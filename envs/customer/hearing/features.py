"""What the classifier of questions sees of a text: words, pairs of words, and pieces of words, which survive typos."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from ecom_rlve.catalog.shop_words.currencies import with_dollars

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|\$")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LEAST = 3
"""Letters of a word that is also looked at in pieces."""
_PIECES = (3, 4, 5)
ITEM = "ITEM"
"""Stands for the noun of the thing, whatever it is."""


def features(folded: str) -> set[str]:
    """Return the features of a casefolded text; a number counts as one, whichever it is.

    >>> sorted(features("how $5?"))
    ['#<ho', '#<how', '#<how>', '#how', '#how>', '#ow>', '$', '$ 0', '0', '0 $', '^ how', 'how', 'how $', 'how _ 0']
    """
    words = _WORD.findall(_NUMBER.sub("0", with_dollars(folded)))
    found = set(words)
    for word in words:
        found.update(_pieces(word))
    bounded = ["^", *words, "$"]
    found.update(f"{one} {other}" for one, other in pairwise(bounded))
    found.update(f"{one} _ {other}" for one, other in zip(words, words[2:], strict=False))
    return found


@lru_cache(maxsize=4096)
def _pieces(word: str) -> tuple[str, ...]:
    if len(word) < _LEAST:
        return ()
    marked = f"<{word}>"
    return tuple(f"#{marked[at : at + size]}" for size in _PIECES for at in range(len(marked) - size + 1))
