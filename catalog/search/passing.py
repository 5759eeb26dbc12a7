"""Which of some rows pass a filter whose rows are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.catalog.vectors.kept import KeptWithRows, Rows, is_lasting


class Passing:
    """Looks rows up among those that pass. Sets of lasting arrays are kept as long as the arrays are."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._scratch = local()
        self._sets = KeptWithRows[RowSet]()

    def among(self, passing: Rows, rows: Rows) -> NDArray[np.bool_]:
        """Tell which of ``rows`` are among ``passing``."""
        with self.test(passing) as passes:
            return passes(rows)

    @contextmanager
    def test(self, passing: Rows) -> Iterator[Callable[[Rows], NDArray[np.bool_]]]:
        """Yield what tells which of some rows are among ``passing``. A thread makes one test at a time."""
        if is_lasting(passing):
            yield self._sets.get(passing, lambda: self._set_of(passing)).has
            return
        marks = self._marks()
        marks[passing] = True
        try:
            yield marks.take
        finally:
            marks[passing] = False

    def _set_of(self, passing: Rows) -> RowSet:
        is_in = np.zeros(self._size, dtype=np.bool_)
        is_in[passing] = True
        return RowSet(is_in)

    def _marks(self) -> NDArray[np.bool_]:
        """Return this thread's marks, none of them set."""
        if not hasattr(self._scratch, "marks"):
            self._scratch.marks = np.zeros(self._size, dtype=np.bool_)
        marks: NDArray[np.bool_] = self._scratch.marks
        return marks
