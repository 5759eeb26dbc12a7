"""The words of a title that say how the thing is: those beside its noun, and parts that name nothing ("(Black)").

A word elsewhere may belong to a name: a "White Hawk" trailer need not be white, and zinc tablets are not of zinc.
"""

from __future__ import annotations

from collections.abc import Sequence

from ecom_rlve.catalog.kinds.plain_words import is_plain
from ecom_rlve.catalog.kinds.title_heads import head_of_title
from ecom_rlve.catalog.kinds.title_parts import parts_of


def describing_words(title: str) -> list[tuple[str, ...]]:
    """Return runs of such words, across which no phrase reaches. The first ends with the noun, if there is one.

    >>> describing_words("White Hawk Soft Blue Travel Trailer, Red")
    [('soft', 'blue', 'travel', 'trailer'), (), ('red',)]
    """
    cut, head = parts_of(title), head_of_title(title)
    runs = list(head.around) if head else [()]
    runs += [tuple(part.words) for part in cut.parts if _is_plain(part.words)]
    runs += [tuple(part.words[1:]) for part in cut.complements if part.words[0] == "in" and _is_plain(part.words[1:])]
    return runs


def _is_plain(words: Sequence[str]) -> bool:
    return all(is_plain(words, at) for at in range(len(words)))
