"""The rows of a source, cut into chunks that any process can read: a feed by rows, a procedural shelf by places."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from ecom_rlve.catalog.building.parts import Chunk, arrays_of_products, arrays_of_readings
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.product import Category
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import MOST_FAULTS, DropReason
from ecom_rlve.catalog.rows.row import fault_of_row, read_row
from ecom_rlve.catalog.sources.opening import row_source, synthetic_spec
from ecom_rlve.catalog.sources.source import RowSource
from ecom_rlve.catalog.synthetic.shelf import MIN_SIZE, SyntheticShelf

_UNREAD = frozenset(("images", "videos", "bought_together"))
"""Large fields of a row that no product uses."""


class Chunks(Protocol):
    """A source cut into chunks."""

    @property
    def name(self) -> str:
        """Canonical spelling of the source."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Changes whenever the rows may differ."""

    @property
    def currency(self) -> str | None:
        """Currency of amounts of which no row states one; None where they could be of any, or all are final."""

    @property
    def total(self) -> int:
        """Number of all rows; 0 where it is known only at the end."""

    @property
    def categories(self) -> Sequence[Category] | None:
        """Leaf categories of products that are final; None where only the whole catalog can decide them."""

    def chunks(self, start: int, stop: int | None, rows: int) -> Iterator[Chunk]:
        """Yield the rows from ``start`` up to ``stop`` (None: the end), ``rows`` at a time; the last may have fewer."""


def chunks_of(spec: str, mapping: Path | None = None) -> Chunks:
    """Return the chunks of a source by its name; ``mapping`` as for :func:`row_source`. Raises :class:`SourceError`."""
    synthetic = synthetic_spec(spec)
    if synthetic is None:
        return FeedChunks(row_source(spec, mapping))
    size, seed = synthetic
    if size < MIN_SIZE:
        raise SourceError(f"{spec!r}: a procedural catalog needs at least {MIN_SIZE} products")
    return ShelfChunks(size, seed)


class FeedChunks:
    """Rows of a feed, which are read, and whose names the whole catalog decides."""

    categories = None
    total = 0

    def __init__(self, source: RowSource) -> None:
        self._source = source
        self.name = source.name
        self.currency = source.currency

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Changes whenever the rows may differ."""
        return self._source.identity

    def chunks(self, start: int, stop: int | None, rows: int) -> Iterator[Chunk]:
        """Yield the rows from ``start`` up to ``stop``, ``rows`` at a time."""
        wanted = islice(self._source.rows(start), None if stop is None else max(0, stop - start))
        while taken := [_lean(row) for row in islice(wanted, rows)]:
            yield FeedChunk(taken)


class ShelfChunks:
    """Places of a procedural shelf; the products are final."""

    currency = None

    def __init__(self, size: int, seed: int) -> None:
        self._size, self._seed = size, seed
        self.name = f"synthetic:{size}:{seed}"
        self.identity: Mapping[str, str | int] = {"size": size, "seed": seed}

    @property
    def total(self) -> int:
        """Products on the shelf."""
        return self._size

    @property
    def categories(self) -> Sequence[Category]:
        """Leaf categories of the shelf."""
        return _shelf(self._size, self._seed).categories

    def chunks(self, start: int, stop: int | None, rows: int) -> Iterator[Chunk]:
        """Yield the places from ``start`` up to ``stop``, ``rows`` at a time."""
        end = self._size if stop is None else min(stop, self._size)
        for first in range(start, end, rows):
            yield ShelfChunk(self._size, self._seed, first, min(first + rows, end))


@dataclass(frozen=True)
class FeedChunk:
    """Some rows of a feed."""

    rows: Sequence[Mapping[str, object]]

    def __len__(self) -> int:
        return len(self.rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Read the rows and return the arrays of their part."""
        readings: list[Reading] = []
        dropped: Counter[DropReason] = Counter()
        faults: list[str] = []
        for row in self.rows:
            reading = read_row(row)
            if reading is DropReason.UNREADABLE and len(faults) < MOST_FAULTS:
                faults.append(fault_of_row(row))
            if isinstance(reading, DropReason):
                dropped[reading] += 1
            else:
                readings.append(reading)
        return arrays_of_readings(readings, dropped, faults)

    def digest(self) -> bytes:
        """Return a digest of the rows."""
        text = json.dumps(self.rows, ensure_ascii=False, default=repr)
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True)
class ShelfChunk:
    """Some places of a procedural shelf."""

    size: int
    seed: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Make the products and return the arrays of their part."""
        products = list(_shelf(self.size, self.seed).products(self.start, self.stop))
        return arrays_of_products(products, [product.category for product in products])

    def digest(self) -> bytes:
        """Return a digest of the places."""
        return blake2b(repr(self).encode(), digest_size=16).digest()


def _lean(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row without the fields that would only be sent to the reading process and never used."""
    return {name: value for name, value in row.items() if name not in _UNREAD}


@lru_cache(maxsize=1)
def _shelf(size: int, seed: int) -> SyntheticShelf:
    return SyntheticShelf(size, seed)
