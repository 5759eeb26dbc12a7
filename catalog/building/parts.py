"""Chunks of rows as files: columns of products whose final brand and leaf category depend on the whole catalog.

A part is like a small catalog, so the same code reads a product from either. Instead of categories it has leaves,
written as JSON; words are codes into the part's own vocabulary. It also holds the digests that duplicates are found by.
A part is an archive of plain arrays, which are read one at a time.
"""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.array_store import whole_file
from ecom_rlve.catalog.columns.columns import CODED, COUNTS, NUMBERS, Column, coded, columns_of
from ecom_rlve.catalog.columns.table import TEXTS, Catalog, check_attributes, texts_of
from ecom_rlve.catalog.columns.texts import Texts, text_digests
from ecom_rlve.catalog.errors import StoreError
from ecom_rlve.catalog.kinds.nouns import Leaf
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.report import DropReason

IDS, LISTINGS, DROPPED, FAULTS = "digests.ids", "digests.listings", "dropped", "faults"
ROWS = "digests.rows"


class Chunk(Protocol):
    """Some rows of a source that are to become a part. It can be sent to a worker process."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def digest(self) -> bytes:
        """Return a digest of the rows: a part made from rows of the same digest need not be made again."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Read the rows and return the arrays of their part."""


def arrays_of_readings(
    readings: Sequence[Reading], dropped: Counter[DropReason], faults: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part: of the rows that were read, how many were dropped for which reason, and faults."""
    kinds = [json.dumps(reading.leaf, ensure_ascii=False) for reading in readings]
    return {
        **arrays_of_products([reading.product for reading in readings], kinds),
        LISTINGS: np.frombuffer(b"".join(reading.listing for reading in readings), dtype="<u8").reshape(-1, 2),
        DROPPED: _packed({reason.name: count for reason, count in dropped.items()}),
        FAULTS: _packed(list(faults)),
    }


def arrays_of_products(products: Sequence[Product], kinds: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a part of products that are final already; ``kinds`` are their categories."""
    check_attributes(products)
    arrays: dict[str, NDArray[Any]] = {}
    for name, texts in texts_of(products).items():
        arrays[f"{name}.blob"], arrays[f"{name}.offsets"] = texts.blob, texts.offsets
    for name, column in columns_of(products, coded(kinds)).items():
        arrays[f"{name}.values"] = column.values
        if column.vocabulary is not None:
            words = Texts.pack(column.vocabulary)
            arrays[f"{name}.words.blob"], arrays[f"{name}.words.offsets"] = words.blob, words.offsets
        if column.is_floor is not None:
            arrays[f"{name}.is_floor"] = column.is_floor
    arrays["rating_count"] = np.array([product.rating_count for product in products], dtype=np.int32)
    arrays[IDS] = text_digests(product.id for product in products)
    arrays[DROPPED], arrays[FAULTS] = _packed({}), _packed([])
    return arrays


def save_part(path: Path, chunk: Chunk) -> None:
    """Write the part of a chunk, completely or not at all; raises :class:`OSError`."""
    arrays = {**chunk.arrays(), ROWS: np.frombuffer(chunk.digest(), dtype=np.uint8)}
    with whole_file(path) as stream:
        np.savez(stream, allow_pickle=False, **arrays)


@dataclass(frozen=True)
class Part:
    """A part on disk."""

    path: Path

    def array(self, name: str) -> NDArray[Any]:
        """Return one array; raises :class:`StoreError` where the file is damaged."""
        try:
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                values: NDArray[Any] = file[name]
        except (zipfile.BadZipFile, ValueError, EOFError, KeyError) as error:
            raise StoreError(
                f"{self.path} is damaged ({error}); delete {self.path.parents[1]} and build again"
            ) from error
        return values

    def texts(self, name: str) -> Texts:
        """Return packed strings."""
        return Texts(self.array(f"{name}.blob"), self.array(f"{name}.offsets"))

    def words(self, name: str) -> list[str]:
        """Return the part's own vocabulary of a column of words."""
        return list(self.texts(f"{name}.words"))

    @cached_property
    def dropped(self) -> Counter[DropReason]:
        """Rows that became no product, by reason."""
        entries = json.loads(self.array(DROPPED).tobytes())
        return Counter({DropReason[name]: count for name, count in entries.items()})

    @property
    def faults(self) -> list[str]:
        """What is wrong with the first rows that cannot be read."""
        found: list[str] = json.loads(self.array(FAULTS).tobytes())
        return found

    def is_of(self, chunk: Chunk) -> bool:
        """Say whether this part was made from the same rows; False also for a damaged one."""
        try:
            return self.array(ROWS).tobytes() == chunk.digest()
        except StoreError:
            return False

    def readings(self) -> Readings:
        """Return the rows as they were read; holds the whole part in memory."""
        return Readings(self)


class Readings(Sequence[Reading]):
    """The rows of a part as they were read, made one at a time."""

    def __init__(self, part: Part) -> None:
        leaves = [leaf_of(word) for word in part.words("category")]
        self._leaves = leaves
        self._listings = part.array(LISTINGS)
        self._catalog = Catalog(
            categories=[Category(leaf.plural, leaf.path, leaf.singular, leaf.plural, "") for leaf in leaves],
            texts={name: part.texts(name) for name in TEXTS},
            columns={name: _column(part, name) for name in (*CODED, *NUMBERS, *COUNTS)},
            rating_count=part.array("rating_count"),
        )

    def __len__(self) -> int:
        return self._catalog.size

    def __getitem__(self, row: Any) -> Any:
        leaf = self._leaves[int(self._catalog.category_codes[row])]
        return Reading(self._catalog.product(row), leaf, self._listings[row].tobytes())


def _column(part: Part, name: str) -> Column:
    return Column(
        part.array(f"{name}.values"),
        tuple(part.words(name)) if name in CODED else None,
        part.array(f"{name}.is_floor") if name == "price" else None,
    )


def leaf_of(word: str) -> Leaf:
    """Return the leaf that a word of a part's categories is."""
    path, *rest = json.loads(word)
    return Leaf(tuple(path), *rest)


def _packed(entries: Mapping[str, int] | Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(entries, sort_keys=True).encode(), dtype=np.uint8)
