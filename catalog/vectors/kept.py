"""What follows from the rows that pass a filter, kept as long as these rows are."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
Rows = NDArray[np.int32]


def is_lasting(rows: Rows) -> bool:
    """Tell whether an array of rows is held to be used again: read-only, and no view, which is new each time."""
    return not rows.flags.writeable and rows.base is None


class KeptWithRows(Generic[T]):
    """Keeps a value for each lasting array of rows until the array is gone. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[Rows], T]] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, rows: Rows, make: Callable[[], T]) -> T:
        """Return the value kept for ``rows``, else ``make()``. For an array that is not lasting nothing is kept."""
        if not is_lasting(rows):
            return make()
        key = id(rows)
        with self._lock:
            held = self._kept.get(key)
        # Another array may have got the number of one that is gone.
        if held is not None and held[0]() is rows:
            return held[1]
        made = make()
        with self._lock:
            self._kept[key] = weakref.ref(rows, lambda _: self._kept.pop(key, None)), made
        return made
