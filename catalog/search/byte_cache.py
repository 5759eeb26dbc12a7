"""A cache that is bounded by the memory its values take, whatever their number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

_OVERHEAD = 200
"""Bytes that an entry takes beside its value: key, links, object headers."""


class ByteCache:
    """Keeps what was used last, up to a number of bytes. Safe to use from several threads."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        """What the values that are kept take now."""
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], T], size_of: Callable[[T], int]) -> T:
        """Return what is kept under ``key``, else ``make()``; what is larger than the whole cache is not kept.

        Two threads may make the same value at the same time: ``make`` must be pure.
        """
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                value: T = found[0]
                return value
        value = make()
        size = size_of(value) + _OVERHEAD
        with self._lock:
            if key not in self._kept and size <= self.most_bytes:
                self._kept[key] = (value, size)
                self.bytes += size
                while self.bytes > self.most_bytes:
                    _, (_, freed) = self._kept.popitem(last=False)
                    self.bytes -= freed
        return value
