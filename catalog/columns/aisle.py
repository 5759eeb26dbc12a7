"""One leaf category's products with their columns side by side: a slice of the catalog in the order of categories.

A place is a product's position in its aisle. Places have the same order as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ecom_rlve.catalog.columns.aisles import Aisles
from ecom_rlve.catalog.constraints import Values


class AisleColumn(NamedTuple):
    """One column of an aisle, one value for each product; the catalog's column says what the values mean."""

    values: Values
    vocabulary: Sequence[str] | None
    is_floor: Values | None
    encode: Callable[[str | float], float | None]


class Aisle:
    """The products of one leaf category. Constraints are checked on it by place, on a catalog by row."""

    __slots__ = ("_aisles", "_columns", "_start", "_stop", "catalog", "category", "rows")

    def __init__(self, aisles: Aisles, category: str) -> None:
        """Make the aisle of a category by name."""
        self._aisles, self.catalog, self.category = aisles, aisles.catalog, category
        code = self.catalog.category_index[category]
        self._start, self._stop = aisles.starts[code], aisles.starts[code + 1]
        self.rows = self.catalog.rows_of_category(category)
        """Ascending."""
        self._columns: dict[str, AisleColumn] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> AisleColumn:
        """Return a column over this aisle."""
        found = self._columns.get(name)
        if found is None:
            column = self.catalog.column(name)
            floors = None if column.is_floor is None else self._part(f"{name}.is_floor")
            found = self._columns[name] = AisleColumn(self._part(name), column.vocabulary, floors, column.encode)
        return found

    def place_of(self, row: int) -> int:
        """Return the place of a row of the aisle."""
        return int(np.searchsorted(self.rows, row))

    def _part(self, name: str) -> Values:
        return self._aisles.values(name).part(self._start, self._stop)
