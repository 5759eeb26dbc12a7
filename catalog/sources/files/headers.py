"""Names of columns, folded: exports spell them with blanks or underscores, large or small, or with a prefix."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

Cell = TypeVar("Cell")

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return the name in small letters, words separated by one blank, without Google's prefix.

    >>> folded("g:image_link"), folded("googleProductCategory"), folded(" Body (HTML)")
    ('image link', 'google product category', 'body (html)')
    """
    return " ".join(_CAMEL.sub(" ", name).casefold().strip().removeprefix("g:").replace("_", " ").split())


def folded_cells(cells: Mapping[str, Cell]) -> dict[str, Cell]:
    """Return the cells by folded names; the first of equal names that is not empty counts."""
    found: dict[str, Cell] = {}
    for name, cell in cells.items():
        key = folded(name)
        if key not in found or not found[key]:
            found[key] = cell
    return found
