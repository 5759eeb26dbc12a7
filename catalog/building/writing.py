"""Stage 3 of a build: parts become the columns of the catalog, one file after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.building.folder import BuildFolder
from ecom_rlve.catalog.building.parts import IDS, Part
from ecom_rlve.catalog.building.planning import Plan
from ecom_rlve.catalog.building.reading import Progress
from ecom_rlve.catalog.columns.array_store import save_array, save_blocks
from ecom_rlve.catalog.columns.columns import CODED, COUNTS, NUMBERS, Column
from ecom_rlve.catalog.columns.table import TEXTS, Catalog
from ecom_rlve.catalog.columns.table_files import array_file, open_table, write_column, write_index
from ecom_rlve.catalog.columns.texts import HashIndex

STAGE = "writing"
_AMOUNTS = ("price", "price_high")
_COLUMNS = (*CODED, *NUMBERS, *COUNTS)


def written(parts: Sequence[Part], plan: Plan, folder: BuildFolder, progress: Progress) -> Catalog:
    """Write the files that are missing and return the catalog, mapped; raises ``OSError``."""
    writer = _Writer(parts, plan, folder.table)
    total = len(TEXTS) + len(_COLUMNS) + 3
    progress(STAGE, 0, total)
    for done, name in enumerate(TEXTS):
        writer.texts(name)
        progress(STAGE, done + 1, total)
    for done, name in enumerate(_COLUMNS, len(TEXTS)):
        writer.column(name)
        progress(STAGE, done + 1, total)
    writer.others()
    progress(STAGE, total - 1, total)
    facts = folder.done(STAGE)
    if facts is None:
        facts = {"fingerprint": open_table(folder.table, None).fingerprint}
        folder.mark(STAGE, facts)
    progress(STAGE, total, total)
    return open_table(folder.table, facts["fingerprint"])


class _Writer:
    """Writes the files that do not exist yet. If the last file of a group exists, the whole group does."""

    def __init__(self, parts: Sequence[Part], plan: Plan, folder: Path) -> None:
        self._parts, self._plan, self._folder = parts, plan, folder

    def texts(self, name: str) -> None:
        """Write a packed sequence of strings without holding all of it in memory."""
        if array_file(self._folder, f"{name}.offsets").exists():
            return
        lengths = np.concatenate([np.diff(values)[rows] for values, rows in self._arrays(f"{name}.offsets")])
        offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        blob = array_file(self._folder, f"{name}.blob")
        save_blocks(blob, self._blobs(name), int(offsets[-1]), np.dtype(np.uint8))
        save_array(array_file(self._folder, f"{name}.offsets"), offsets)

    def _blobs(self, name: str) -> Iterator[NDArray[np.uint8]]:
        for part, rows in zip(self._parts, self._plan.kept, strict=True):
            texts = part.texts(name)
            is_kept = np.zeros(len(texts), dtype=np.bool_)
            is_kept[rows] = True
            yield texts.blob if is_kept.all() else texts.blob[np.repeat(is_kept, np.diff(texts.offsets))]

    def column(self, name: str) -> None:
        """Write one column and what is derived from it."""
        if array_file(self._folder, f"{name}.values").exists():
            return
        if name in CODED:
            write_column(self._folder, name, Column(self._codes(name), tuple(self._plan.words(name))))
        else:
            values = self._kept(f"{name}.values")
            is_floor = self._kept(f"{name}.is_floor") if name == "price" else None
            if name in _AMOUNTS and self._plan.priced is not None:
                is_other = self._codes("currency") != self._plan.priced
                values[is_other] = np.nan
                if is_floor is not None:
                    is_floor[is_other] = False
            write_column(self._folder, name, Column(values, is_floor=is_floor))

    def others(self) -> None:
        """Write the numbers of ratings and the index of the ids."""
        if not array_file(self._folder, "rating_count").exists():
            save_array(array_file(self._folder, "rating_count"), self._kept("rating_count"))
        if not array_file(self._folder, "ids.places").exists():
            write_index(self._folder, "ids", HashIndex.of(self._kept(IDS)[:, 0]))

    def _codes(self, name: str) -> NDArray[np.int32]:
        maps = (self._plan.code_map(number, name) for number in range(len(self._parts)))
        pairs = zip(self._arrays(f"{name}.values"), maps, strict=True)
        codes: NDArray[np.int32] = np.concatenate([code_map[values[rows]] for (values, rows), code_map in pairs])
        return codes

    def _kept(self, name: str) -> NDArray[Any]:
        return np.concatenate([values[rows] for values, rows in self._arrays(name)])

    def _arrays(self, name: str) -> Iterator[tuple[NDArray[Any], NDArray[np.int64]]]:
        for part, rows in zip(self._parts, self._plan.kept, strict=True):
            yield part.array(name), rows
