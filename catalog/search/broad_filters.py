"""The rows that pass broad filters ("in stock, within five days"). Few such filters are used, again and again."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.constraints import Constraint
from ecom_rlve.catalog.vectors.inverted_index import EXACT_ROWS

# At two million products, and two forms of each, they take up to 33 MiB.
_HELD = 4
Rows = NDArray[np.int32]


class BroadFilters:
    """Keeps the rows that pass the last few broad filters. Safe to use from several threads; results do not change."""

    def __init__(self) -> None:
        self._held: dict[tuple[Constraint, ...], Rows] = {}
        self._lock = Lock()

    def get(self, constraints: tuple[Constraint, ...], make: Callable[[], Rows | None]) -> Rows | None:
        """Return ``make()``, the rows that pass. More than EXACT_ROWS rows are kept, as one read-only array."""
        with self._lock:
            rows = self._held.pop(constraints, None)
            if rows is not None:
                self._held[constraints] = rows
                return rows
        made = make()
        if made is not None and len(made) > EXACT_ROWS:
            # A view of a mapped file is another array next time; what is its own is lasting.
            made = made if made.base is None else made.copy()
            made.flags.writeable = False
            with self._lock:
                self._held[constraints] = made
                while len(self._held) > _HELD:
                    del self._held[next(iter(self._held))]
        return made
