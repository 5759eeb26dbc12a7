"""Data sets of the Hugging Face hub, or local folders in its shape, as rows, streamed through ``datasets``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.arrow_rows import BATCH_ROWS, read_columns, rows_of_batch
from ecom_rlve.catalog.sources.jsonl import AMAZON_CURRENCY
from ecom_rlve.catalog.sources.parquet import INSTALL
from ecom_rlve.catalog.sources.source import identity_of

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import IterableDataset

DEFAULT_SPLIT = "train"
_DEFAULT_CONFIG = "default"
_MOST_TOLD = 12
"""So many configurations are listed with their splits."""
MAX_REASON = 300
"""So many characters of a library's own message are passed on; some print whole tables."""
_TIMEOUT = 30.0
"""Seconds that the hub may take to say which revision it has."""


class HubDataset:
    """One split of a data set. Nothing is loaded before its identity or rows are needed."""

    def __init__(
        self, dataset: str, config: str | None = None, split: str | None = None, *, as_they_are: bool = False
    ) -> None:
        """Name a data set of the hub ("owner/name") or a folder, a configuration and a split.

        None = the only one, or the ``default`` configuration and the split ``train``. What is no configuration is taken
        for a split. ``as_they_are``: read columns of any names and types.
        """
        self._dataset = dataset
        self._config, self._split = config, split
        self._folder = Path(dataset) if Path(dataset).is_dir() else None
        self._as_they_are = as_they_are
        self.currency = None if as_they_are else AMAZON_CURRENCY

    @property
    def name(self) -> str:
        """``hf:NAME:CONFIG@SPLIT``, without what was not given; a folder has its absolute path."""
        dataset = str(self._folder.absolute()) if self._folder else self._dataset
        return f"hf:{dataset}{f':{self._config}' if self._config else ''}{f'@{self._split}' if self._split else ''}"

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
        columns = read_columns(schema, self.name, as_they_are=self._as_they_are)
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
            from datasets import get_dataset_config_names, load_dataset

            configs = sorted(map(str, get_dataset_config_names(self._dataset, revision=revision)))
        config, split = self._chosen(configs)
        with self._told("cannot be opened"):
            splits = load_dataset(self._dataset, config, streaming=True, revision=revision)
        names = sorted(map(str, splits))
        wanted = split or (names[0] if len(names) == 1 else DEFAULT_SPLIT)
        if wanted not in names:
            others = f"; configurations: {', '.join(configs)}" if self._config and len(configs) > 1 else ""
            raise SourceError(
                f"{self.name}: no split {wanted!r}; there are {', '.join(names)}: give {self._spelled(config)}@SPLIT"
                f"{others}"
            )
        return splits[wanted]

    def _chosen(self, configs: Sequence[str]) -> tuple[str, str | None]:
        """Return the configuration to read, and the split that was asked for."""
        if self._config is not None and self._config in configs:
            return self._config, self._split
        config = configs[0] if len(configs) == 1 else _DEFAULT_CONFIG
        # Without a second name the first may be that of a split.
        if config in configs and (self._config is None or self._split is None):
            return config, self._split or self._config
        what = f"no configuration {self._config!r}" if self._config else "has several configurations"
        told = "; ".join(f"{name} ({self._splits(name)})" for name in configs[:_MOST_TOLD])
        raise SourceError(f"{self.name}: {what}; there are {told}: give {self._spelled('CONFIG')}")

    def _splits(self, config: str) -> str:
        with self._told("cannot be opened"):
            from datasets import get_dataset_split_names

            return ", ".join(map(str, get_dataset_split_names(self._dataset, config, revision=self._revision)))

    def _spelled(self, config: str) -> str:
        return f"hf:{self._dataset}" if config == _DEFAULT_CONFIG else f"hf:{self._dataset}:{config}"

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
