"""Data sets of the Hugging Face hub, or local folders in its shape, as rows, streamed through ``datasets``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.arrow_rows import BATCH_ROWS, read_columns, rows_of_batch
from ecom_rlve.catalog.sources.parquet import INSTALL
from ecom_rlve.catalog.sources.source import identity_of

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import IterableDataset

DEFAULT_SPLIT = "train"
MAX_REASON = 300
"""So many characters of a library's own message are passed on; some print whole tables."""
_TIMEOUT = 30.0
"""Seconds that the hub may take to say which revision it has."""


class HubDataset:
    """One split of a data set. Nothing is loaded before its identity or rows are needed."""

    def __init__(self, dataset: str, split: str | None = None) -> None:
        """Name a data set of the hub ("owner/name") or a folder, and a split; None = the only split, or ``train``."""
        self._dataset = dataset
        self._split = split
        self._folder = Path(dataset) if Path(dataset).is_dir() else None

    @property
    def name(self) -> str:
        """``hf:NAME:SPLIT``, or without the split if none was given; a folder has its absolute path."""
        dataset = str(self._folder.absolute()) if self._folder else self._dataset
        return ":".join(filter(None, ("hf", dataset, self._split)))

    @property
    def identity(self) -> Mapping[str, str | int]:
        """The revision of the data set; sizes and times of last change of a folder's files.

        Raises :class:`SourceError` where the data set is unknown or the hub cannot be reached.
        """
        if self._folder:
            return identity_of(sorted(filter(Path.is_file, self._folder.rglob("*"))), self._folder)
        return {"revision": self._revision or ""}

    def rows(self, start: int = 0) -> Iterator[Mapping[str, object]]:
        """Yield the rows from number ``start`` on; whole tables before it are skipped.

        Raises :class:`SourceError`, naming data set and row, if it cannot be loaded or read to its end.
        """
        split = self._opened()
        with self._told("its columns cannot be read"):
            schema = split.features.arrow_schema if split.features else next(_tables(split, 1)).schema
        columns = read_columns(schema, self.name)
        tables = _tables(split.select_columns(columns).skip(start), BATCH_ROWS)
        at = start
        while True:
            with self._told(f"cannot be read after row {at}"):
                table = next(tables, None)
            if table is None:
                break
            yield from rows_of_batch(table)
            at += table.num_rows
        if not at:
            raise SourceError(f"{self.name}: holds no rows; give a data set with products")

    @cached_property
    def _revision(self) -> str | None:
        """The commit of the hub that is read, so that a continued build reads the same rows; None = a folder."""
        if self._folder:
            return None
        with self._told("cannot be found"):
            from huggingface_hub import HfApi

            return HfApi().dataset_info(self._dataset, timeout=_TIMEOUT).sha

    def _opened(self) -> IterableDataset:
        revision = self._revision
        with self._told("cannot be opened"):
            from datasets import load_dataset

            splits = load_dataset(self._dataset, streaming=True, revision=revision)
        names = sorted(map(str, splits))
        wanted = self._split or (names[0] if len(names) == 1 else DEFAULT_SPLIT)
        if wanted not in names:
            raise SourceError(
                f"{self.name}: no split {wanted!r}; there are {', '.join(names)}: give hf:{self._dataset}:SPLIT"
            )
        return splits[wanted]

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """Turn any fault of the libraries into a :class:`SourceError`.

        The errors of the hub, its HTTP client, the file systems, Arrow and ``datasets`` have no common base class.
        """
        try:
            yield
        except ImportError as error:
            raise SourceError(f"{self.name}: needs the package datasets; {INSTALL}") from error
        except Exception as error:
            reason = " ".join(str(error).split())[:MAX_REASON] or type(error).__name__
            raise SourceError(
                f"{self.name}: {what} ({reason}); check the name and the network, or download the data set and give "
                f"its folder: hf:FOLDER"
            ) from error


def _tables(split: IterableDataset, rows: int) -> Iterator[pa.Table]:
    yield from split.with_format("arrow").iter(batch_size=rows)
