"""A cache whose limit is the memory that its values take, not their number."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from operator import itemgetter
from threading import Lock
from typing import Any, TypeVar

from cachetools import LRUCache

T = TypeVar("T")

_OVERHEAD = 200
"""Bytes that an entry takes beside its value: key, links, object headers."""


class ByteCache:
    """Keeps the values that were used last, up to a number of bytes. Safe to use from several threads."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        # Values of different kinds are measured in different ways, so each is kept together with its size.
        self._kept: LRUCache[Hashable, tuple[Any, int]] = LRUCache(most_bytes, getsizeof=itemgetter(1))
        # LRUCache is not safe for threads: even a look-up reorders it.
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """How many bytes the kept values take now."""
        return int(self._kept.currsize)

    def get(self, key: Hashable, make: Callable[[], T], size_of: Callable[[T], int]) -> T:
        """Return the value kept under ``key``, else ``make()``. A value larger than the whole cache is not kept.

        Two threads may make the same value at the same time: ``make`` must be pure.
        """
        with self._lock:
            found = self._kept.get(key)
        if found is not None:
            value: T = found[0]
            return value
        value = make()
        size = size_of(value) + _OVERHEAD
        if size <= self.most_bytes:
            with self._lock:
                self._kept[key] = (value, size)
        return value
