"""Which attribute a word or phrase is a value of, in any catalog."""

from __future__ import annotations

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.catalog.columns.table import Catalog

LEAST_BRAND_LETTERS = 5
_HELD = 4096
"""Vocabularies of at most so many values are merged into one table; larger ones are searched one by one."""


class ValueIndex:
    """Looks up values by their casefolded words. If several attributes have a value, the first of them counts."""

    def __init__(self, catalog: Catalog) -> None:
        self._held: dict[str, tuple[int, str]] = {}
        self._asked: list[tuple[int, str]] = []
        self._columns = {name: catalog.column(name) for name in (*DISCRETE, "brand")}
        for place, (name, column) in enumerate(self._columns.items()):
            vocabulary = column.vocabulary or ()
            if len(vocabulary) > _HELD:
                self._asked.append((place, name))
                continue
            for value in vocabulary:
                if name != "brand" or len(value) >= LEAST_BRAND_LETTERS:
                    self._held.setdefault(value.casefold(), (place, name))

    def get(self, words: str) -> str | None:
        """Return the attribute, or ``brand``, that has this value; None if none has."""
        found = self._held.get(words)
        for place, name in self._asked:
            if found is not None and found[0] < place:
                break
            if (name != "brand" or len(words) >= LEAST_BRAND_LETTERS) and self._columns[name].encode(words) is not None:
                return name
        return None if found is None else found[1]
