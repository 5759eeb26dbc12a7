"""Copies of all columns in the order of leaf categories, so that a scan over a category reads only its own products.

The products of a category are scattered over a large catalog: reading one column of a thirtieth of all products touches
the whole column. In the order of categories they are a slice of it. Values are kept in the smallest type that holds
them exactly. The folder of a catalog has these arrays in files, which all processes share. For a catalog in memory each
array is made when it is first needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.columns.array_store import map_array, save_array, whole_file
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.errors import CatalogError

NAMES: tuple[str, ...] = ("brand", "price", "price.is_floor", "rating", "ship_days", "stock", *ATTRIBUTES)
"""Names of the arrays: the columns, and which prices are lower bounds."""

_MANIFEST = "aisles.json"
_UNITS = (1, 10, 100)
"""Numbers are multiplied by the first of these that makes all of them whole, and kept as whole numbers."""
_AT_ONCE = 1 << 18
_FEW = 512
"""A part of so many values is kept unpacked: to unpack a few takes as long as to compare a thousand."""


class Packed:
    """The values of an array in few bytes, without loss."""

    __slots__ = ("_unknown", "unit", "values")

    def __init__(self, values: NDArray[Any], unit: int = 0) -> None:
        """Hold ``values``; with a ``unit`` they were multiplied by it, and the least of their type means unknown."""
        self.values, self.unit = values, unit
        self._unknown = np.iinfo(values.dtype).min if unit else 0

    def __getitem__(self, places: NDArray[np.integer] | slice) -> NDArray[Any]:
        """Return the values at some places as in the catalog's own column; floats are float64."""
        values = self.values[places]
        if not self.unit:
            return np.asarray(values, dtype=np.float64) if values.dtype.kind == "f" else np.asarray(values)
        found = values / np.float64(self.unit)
        found[values == self._unknown] = np.nan
        return np.asarray(found)

    def part(self, start: int, stop: int) -> Packed:
        """Return a part; unpacked if it is small, else without a copy."""
        part = Packed(self.values[start:stop], self.unit)
        if not self.unit or stop - start > _FEW:
            return part
        unpacked = part[:]
        unpacked.flags.writeable = False
        return Packed(unpacked)


class Aisles:
    """The columns of a catalog in the order of categories, and by row within each."""

    def __init__(self, catalog: Catalog, kept: Mapping[str, Packed] | None = None) -> None:
        """Hold the arrays ``kept`` in files; the others are made when they are first needed."""
        self.catalog = catalog
        sizes = np.bincount(catalog.category_codes, minlength=len(catalog.categories))
        self.starts: list[int] = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes))).tolist()
        """Where each category begins; the last entry is the number of products."""
        self._kept = dict(kept or {})
        self._mapped = frozenset(self._kept)

    @classmethod
    def open(cls, catalog: Catalog, directory: Path) -> Aisles:
        """Map the files that :func:`write_aisles` made; raises :class:`CatalogError` where they do not fit."""
        try:
            manifest = json.loads((directory / _MANIFEST).read_text(encoding="utf-8"))
            fingerprint, units = manifest["catalog"], dict(manifest["units"])
            kept = {name: Packed(map_array(directory / f"{name}.npy"), units[name]) for name in NAMES}
        except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
            raise CatalogError(f"{directory} is damaged ({error}); build the catalog again") from error
        if fingerprint != catalog.fingerprint or any(len(each.values) != catalog.size for each in kept.values()):
            raise CatalogError(f"{directory} belongs to another catalog; build the catalog again")
        return cls(catalog, kept)

    def values(self, name: str) -> Packed:
        """Return one of :data:`NAMES` over all products, in the order of categories."""
        if name not in self._kept:
            self._kept[name] = _packed(_source(self.catalog, name), self.catalog)
        return self._kept[name]

    @property
    def held_bytes(self) -> int:
        """Bytes of this process's own memory that the arrays take; mapped arrays take none."""
        return sum(each.values.nbytes for name, each in self._kept.items() if name not in self._mapped)


def write_aisles(catalog: Catalog, directory: Path) -> None:
    """Write all arrays of a catalog into ``directory``; raises ``OSError``."""
    directory.mkdir(parents=True, exist_ok=True)
    aisles, units = Aisles(catalog), {}
    for name in NAMES:
        packed = _packed(_source(catalog, name), catalog)
        units[name] = packed.unit
        save_array(directory / f"{name}.npy", packed.values)
    content = {"catalog": aisles.catalog.fingerprint, "units": units}
    with whole_file(directory / _MANIFEST) as stream:
        stream.write(json.dumps(content, indent=1, sort_keys=True).encode())


def _source(catalog: Catalog, name: str) -> NDArray[Any]:
    column_name, _, is_floor = name.partition(".")
    column = catalog.column(column_name)
    if not is_floor:
        return column.values
    return np.zeros(catalog.size, dtype=np.bool_) if column.is_floor is None else column.is_floor


def _packed(source: NDArray[Any], catalog: Catalog) -> Packed:
    """Return an array of all rows in the order of categories, in few bytes."""
    order = np.concatenate([catalog.rows_of_category(category.name) for category in catalog.categories])
    unit, dtype = _fitting(source)
    values = np.empty(len(order), dtype=dtype)
    for start in range(0, len(order), _AT_ONCE):
        some = source[order[start : start + _AT_ONCE]]
        if unit:
            some = np.rint(some * unit)
            some[np.isnan(some)] = np.iinfo(dtype).min
        values[start : start + _AT_ONCE] = some.astype(dtype)
    return Packed(values, unit)


def _fitting(source: NDArray[Any]) -> tuple[int, np.dtype[Any]]:
    """Return the unit (0: none) and the type that keep an array without loss."""
    if source.dtype.kind == "b":
        return 0, source.dtype
    if source.dtype.kind != "f":
        return 0, _smallest([(int(some.min()), int(some.max())) for some in _blocks(source)]) or source.dtype
    for unit in _UNITS:
        bounds = [_bounds_in(some, unit) for some in _blocks(source)]
        dtype = None if None in bounds else _smallest([each for each in bounds if each])
        if dtype is not None:
            return unit, dtype
    return 0, np.dtype(np.float64)


def _bounds_in(numbers: NDArray[Any], unit: int) -> tuple[int, int] | None:
    """Return the bounds of ``numbers * unit`` with room for unknown; None where these are not whole."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return (0, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.rint(known * unit)
        is_exact = bool((whole / unit == known).all()) and not np.signbit(known[known == 0]).any()
    low, high = float(whole.min()), float(whole.max())
    return (int(low) - 1, int(high)) if is_exact and abs(low) < 2**31 and abs(high) < 2**31 else None


def _smallest(bounds: list[tuple[int, int]]) -> np.dtype[Any] | None:
    low, high = min(each[0] for each in bounds), max(each[1] for each in bounds)
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return np.dtype(kind)
    return None


def _blocks(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]
