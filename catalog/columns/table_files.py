"""A catalog's columns as files that are mapped, not read.

Everything is stored whose computing would take longer with more products: texts and values, the index of the ids, the
rows of each word in every column of words, and the index of every large vocabulary. A process that opens the files
holds only the pages it uses, and shares them with all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ecom_rlve.catalog.columns.array_store import map_array, save_array, whole_file
from ecom_rlve.catalog.columns.columns import CODED, COUNTS, NUMBERS, Column, Postings
from ecom_rlve.catalog.columns.table import TEXTS, Catalog
from ecom_rlve.catalog.columns.texts import HashIndex, Texts, Words
from ecom_rlve.catalog.product import Category

LARGE_VOCABULARY = 4096
"""Vocabularies with more words than this stay packed, and are looked up through a stored index."""
_CATEGORIES = "categories.json"


def array_file(folder: Path, name: str) -> Path:
    """Return the path of a stored array: ``price.values``, ``titles.blob``."""
    return folder / f"{name}.npy"


def write_categories(folder: Path, categories: Iterable[Category]) -> None:
    """Write the leaf categories, in the order of the category column's codes."""
    text = json.dumps([asdict(category) for category in categories], ensure_ascii=False, indent=1)
    with whole_file(folder / _CATEGORIES) as stream:
        stream.write(text.encode("utf-8", "replace"))


def write_texts(folder: Path, name: str, texts: Texts) -> None:
    """Write a packed sequence of strings."""
    save_array(array_file(folder, f"{name}.blob"), texts.blob)
    save_array(array_file(folder, f"{name}.offsets"), texts.offsets)


def write_index(folder: Path, name: str, index: HashIndex) -> None:
    """Write an index of texts."""
    save_array(array_file(folder, f"{name}.hashes"), index.hashes)
    save_array(array_file(folder, f"{name}.places"), index.places)


def write_column(folder: Path, name: str, column: Column) -> None:
    """Write one column and what is derived from it. Its values come last: if they exist, the column is complete."""
    if column.vocabulary is not None:
        words = Words.pack(column.vocabulary)
        write_texts(folder, f"{name}.words", words.texts)
        if len(words) > LARGE_VOCABULARY:
            write_index(folder, f"{name}.words", words.lookup)
        postings = column.postings
        save_array(array_file(folder, f"{name}.order"), postings.order)
        save_array(array_file(folder, f"{name}.starts"), postings.starts)
    if column.is_floor is not None:
        save_array(array_file(folder, f"{name}.is_floor"), column.is_floor)
    save_array(array_file(folder, f"{name}.values"), column.values)


def open_table(folder: Path, fingerprint: str | None) -> Catalog:
    """Return the catalog in ``folder``; ``fingerprint`` as for :class:`Catalog`.

    Raises ``OSError`` and ``ValueError`` where files are missing, unreadable or do not belong together.
    """

    def array(name: str) -> NDArray[Any]:
        return map_array(array_file(folder, name))

    catalog = Catalog(
        categories=_categories(folder / _CATEGORIES),
        texts={name: _texts(array, name) for name in TEXTS},
        columns={name: _column(array, name) for name in (*CODED, *NUMBERS, *COUNTS)},
        rating_count=array("rating_count"),
        id_index=HashIndex(array("ids.hashes"), array("ids.places")),
        fingerprint=fingerprint,
    )
    _check_lengths(catalog, folder)
    return catalog


def _categories(path: Path) -> list[Category]:
    entries = json.loads(path.read_text(encoding="utf-8"))
    return [Category(**{**entry, "path": tuple(entry["path"])}) for entry in entries]


def _texts(array: Callable[[str], NDArray[Any]], name: str) -> Texts:
    texts = Texts(array(f"{name}.blob"), array(f"{name}.offsets"))
    if texts.offsets[-1] != len(texts.blob):
        raise ValueError(f"{name}: the text has {len(texts.blob)} bytes, not {texts.offsets[-1]}")
    return texts


def _column(array: Callable[[str], NDArray[Any]], name: str) -> Column:
    values = array(f"{name}.values")
    if name not in CODED:
        return Column(values, is_floor=array(f"{name}.is_floor") if name == "price" else None)
    texts = _texts(array, f"{name}.words")
    vocabulary: tuple[str, ...] | Words
    if len(texts) > LARGE_VOCABULARY:
        vocabulary = Words(texts, HashIndex(array(f"{name}.words.hashes"), array(f"{name}.words.places")))
    else:
        vocabulary = tuple(texts)
    return Column(values, vocabulary, grouped=Postings.stored(array(f"{name}.order"), array(f"{name}.starts")))


def _check_lengths(catalog: Catalog, folder: Path) -> None:
    """Check that the files have one row for each product, and one category for each code."""
    lengths = {name: len(catalog.column(name).values) for name in (*CODED, *NUMBERS, *COUNTS)}
    lengths |= {name: len(texts) for name, texts in catalog.texts.items()} | {"rating_count": len(catalog.rating_count)}
    odd = sorted(name for name, length in lengths.items() if length != catalog.size)
    if odd:
        raise ValueError(f"{folder}: {', '.join(odd)} do not have {catalog.size} rows")
    words = catalog.column("category").vocabulary
    if words is None or [category.name for category in catalog.categories] != list(words):
        raise ValueError(f"{folder}: the categories are not those of the category column")
