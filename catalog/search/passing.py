"""Which of some rows pass a filter whose rows are known."""

from __future__ import annotations

import weakref
from threading import Lock, local

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.row_set import RowSet

Rows = NDArray[np.int32]


class Passing:
    """Looks rows up among those that pass. Sets of read-only arrays are kept as long as the arrays are."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._scratch = local()
        self._kept: dict[int, tuple[weakref.ref[Rows], RowSet]] = {}
        self._lock = Lock()

    def among(self, passing: Rows, rows: Rows) -> NDArray[np.bool_]:
        """Tell which of ``rows`` are among ``passing``."""
        if not passing.flags.writeable:
            return self._set_of(passing).has(rows)
        marks = self._marks()
        marks[passing] = True
        found = marks[rows]
        marks[passing] = False
        return found

    def _set_of(self, passing: Rows) -> RowSet:
        key = id(passing)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept[0]() is passing:
            return kept[1]
        is_in = np.zeros(self._size, dtype=np.bool_)
        is_in[passing] = True
        made = RowSet(is_in)
        with self._lock:
            self._kept[key] = weakref.ref(passing, lambda _: self._kept.pop(key, None)), made
        return made

    def _marks(self) -> NDArray[np.bool_]:
        """Return this thread's marks, none of them set."""
        if not hasattr(self._scratch, "marks"):
            self._scratch.marks = np.zeros(self._size, dtype=np.bool_)
        marks: NDArray[np.bool_] = self._scratch.marks
        return marks
