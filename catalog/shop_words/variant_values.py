"""The values in which a kind of product is usually offered, by attribute.

The pools fit any catalog. The words of a category choose one, from its name up to its department. In a name the last
word counts most (a computer monitor is a monitor), in a department the first. If no word chooses a pool, the
attribute's general one is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

from ecom_rlve.catalog.errors import UnknownAttributeError
from ecom_rlve.catalog.product import Category

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class _Pool:
    keywords: frozenset[str]
    """Words of a category that choose this pool; empty for the general pool."""
    values: tuple[str | float, ...]


def variant_values(category: Category, attribute: str) -> tuple[str | float, ...]:
    """Return the values that ``attribute`` takes among products like those of ``category``.

    At least nine distinct ones, in a fixed order: lower-case words of a discrete attribute, floats in the canonical
    unit of a numeric one. Raises :class:`UnknownAttributeError` for what is not a typed attribute.
    """
    pools = _pools().get(attribute)
    if pools is None:
        raise UnknownAttributeError(f"no values for {attribute!r}; there are {sorted(_pools())}")
    for word in _telling_words(category):
        for pool in pools:
            if word in pool.keywords:
                return pool.values
    return next(pool.values for pool in pools if not pool.keywords)


def _telling_words(category: Category) -> Iterator[str]:
    for name in (category.name, *reversed(category.path[1:])):
        yield from reversed(_WORD.findall(name.casefold()))
    yield from _WORD.findall(category.department.casefold())


@cache
def _pools() -> dict[str, tuple[_Pool, ...]]:
    text = resources.files("ecom_rlve.catalog.data").joinpath("variant_values.json").read_text("utf-8")
    return {
        attribute: tuple(_Pool(frozenset(entry["for"]), _canonical(entry["values"])) for entry in entries)
        for attribute, entries in json.loads(text).items()
    }


def _canonical(values: list[str | float]) -> tuple[str | float, ...]:
    return tuple(value if isinstance(value, str) else float(value) for value in values)
