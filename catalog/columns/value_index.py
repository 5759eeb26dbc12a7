"""Which attribute a word or phrase is a value of, in any catalog."""

from __future__ import annotations

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.catalog.columns.table import Catalog

LEAST_BRAND_LETTERS = 5
_HELD = 4096
"""Vocabularies of at most so many values are merged into one table; larger ones are searched one by one."""


class ValueIndex:
    """Looks up values by their casefolded words."""

    def __init__(self, catalog: Catalog) -> None:
        self._held: dict[str, tuple[str, ...]] = {}
        self._asked: list[str] = []
        self._columns = {name: catalog.column(name) for name in (*DISCRETE, "brand")}
        for name, column in self._columns.items():
            vocabulary = column.vocabulary or ()
            if len(vocabulary) > _HELD:
                self._asked.append(name)
                continue
            for value in vocabulary:
                if name != "brand" or len(value) >= LEAST_BRAND_LETTERS:
                    folded = value.casefold()
                    self._held[folded] = tuple(dict.fromkeys((*self._held.get(folded, ()), name)))

    def get(self, words: str) -> tuple[str, ...]:
        """Return the attributes, and ``brand``, that have this value, in the order of their columns."""
        found = self._held.get(words, ())
        asked = [
            name
            for name in self._asked
            if (name != "brand" or len(words) >= LEAST_BRAND_LETTERS) and self._columns[name].encode(words) is not None
        ]
        return tuple(name for name in self._columns if name in found or name in asked) if asked else found
