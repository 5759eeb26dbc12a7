"""A built catalog as a folder: what is opened, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.catalog.columns.columns import CODED, COUNTS, NUMBERS
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.errors import StoreError
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.catalog.sources import SourceReport
from ecom_rlve.catalog.store import MANIFEST, is_store, open_store
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog
from ecom_rlve.envs.world.shop import Shop

SIZE = 120


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "shop"
    build_catalog(f"synthetic:{SIZE}:3", out)
    return out


@pytest.fixture(scope="module")
def in_memory() -> Catalog:
    return synthetic_catalog(SIZE, 3)


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(built, tmp_path / "copy"))


def test_a_stored_catalog_is_the_one_in_memory(built: Path, in_memory: Catalog) -> None:
    stored = open_store(built)
    catalog = stored.catalog
    assert catalog.fingerprint == stored.manifest.fingerprint == in_memory.fingerprint
    assert stored.report == SourceReport(SIZE, SIZE)
    assert catalog.categories == in_memory.categories
    for row in range(SIZE):
        assert catalog.product(row) == in_memory.product(row)
        assert catalog.row_of(in_memory.ids[row]) == row
    for name in (*CODED, *NUMBERS, *COUNTS):
        column, same = catalog.column(name), in_memory.column(name)
        assert np.array_equal(column.values, same.values, equal_nan=column.vocabulary is None)
        for code, word in enumerate(same.vocabulary or ()):
            assert column.encode(word.upper()) == same.encode(word.upper())
            assert column.postings.rows(code).tolist() == same.postings.rows(code).tolist()


def test_the_fingerprint_is_that_of_the_files(built: Path) -> None:
    from ecom_rlve.catalog.columns.table_files import open_table

    assert open_table(built / "table", None).fingerprint == open_store(built).manifest.fingerprint


def test_columns_are_mapped_and_cannot_be_written(built: Path) -> None:
    catalog = open_store(built).catalog
    arrays = [catalog.titles.blob, catalog.column("price").values, catalog.column("brand").postings.order]
    for array in arrays:
        base = array
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base  # type: ignore[assignment]  # numpy calls any base an object
        assert isinstance(base, np.memmap)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_search_finds_what_it_finds_in_memory(built: Path, in_memory: Catalog) -> None:
    stored, search = open_store(built).search(), Search.build(in_memory)
    for row in range(0, SIZE, 10):
        query = in_memory.titles[row]
        assert stored.rank(query, None, 20).tolist() == search.rank(query, None, 20).tolist()


def test_a_shop_opens_a_folder(built: Path) -> None:
    shop = Shop.open(str(built))
    assert shop.catalog.size == SIZE
    assert shop.report == SourceReport(SIZE, SIZE)
    assert is_store(str(built))
    assert not is_store("synthetic")
    assert not is_store(str(built / MANIFEST))
    assert not is_store("x" * 5000)


def test_a_folder_of_rows_is_no_catalog_folder(tmp_path: Path) -> None:
    assert is_store(str(tmp_path))
    (tmp_path / "rows.parquet").touch()
    assert not is_store(str(tmp_path))


def change(key: str, value: Any) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        content = json.loads((folder / MANIFEST).read_text())
        content[key] = value
        (folder / MANIFEST).write_text(json.dumps(content))

    return changed


def cut(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-1])  # type: ignore[return-value]  # nobody reads how much was written


def lengthen(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + b"\0")  # type: ignore[return-value]  # nobody reads how much was written


def rewrite(name: str, dtype: str) -> Callable[[Path], None]:
    """Write an array of as many bytes with another type."""

    def rewritten(folder: Path) -> None:
        path = folder / name
        size = path.stat().st_size
        np.save(path, np.load(path).view(dtype))
        assert path.stat().st_size == size

    return rewritten


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def garble(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content)  # type: ignore[return-value]  # nobody reads how much was written


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove(MANIFEST), "is no catalog: it has no manifest.json; give a folder made by"),
        (garble(MANIFEST, "{"), "cannot be read .*build the catalog again"),
        (garble(MANIFEST, "[]"), "is not the manifest of a catalog"),
        (garble(MANIFEST, '{"name": "web app"}'), "is not the manifest of a catalog"),
        (change("format", 99), "has format 99, this version reads format 2; build the catalog again"),
        (change("rows", {"read": 1}), r"damaged \(rows.kept"),
        (change("rows", {"read": 1, "kept": 0, "dropped": {}}), r"damaged \(rows.kept"),
        (change("rows", {"read": 2, "kept": 1, "dropped": {"BORING": 1}}), "damaged .*BORING"),
        (change("rows", {"read": 7, "kept": 7, "dropped": {}}), f"holds {SIZE} products, not 7"),
        (cut("table/titles.blob.npy"), "titles.blob.npy is cut off: .* build the catalog again"),
        (lengthen("table/price.values.npy"), "price.values.npy is longer than it was"),
        (cut("search/manifest.json"), "search/manifest.json is cut off"),
        (rewrite("table/price.values.npy", "<i8"), r"holds <i8 of shape \(120,\), not <f8"),
        (rewrite("table/titles.offsets.npy", "<f8"), "titles.offsets.npy holds <f8"),
        (remove("table/brand.values.npy"), "brand.values.npy is missing"),
        (remove("table/categories.json"), "categories.json is missing"),
    ],
)
def test_a_damaged_folder_is_refused_with_the_remedy(copy: Path, damage: Callable[[Path], None], message: str) -> None:
    damage(copy)
    with pytest.raises(StoreError, match=message):
        open_store(copy)


def test_no_file_can_be_missing(copy: Path) -> None:
    names = json.loads((copy / MANIFEST).read_text())["files"]
    assert len(names) >= 100
    for name in names:
        path = copy / name
        hidden = path.rename(path.with_name("hidden"))
        with pytest.raises(StoreError, match=f"{path.name} is missing"):
            open_store(copy)
        hidden.rename(path)
    open_store(copy)


def test_files_that_do_not_belong_together_are_refused(copy: Path) -> None:
    """Each file is as the manifest says, but one of them is from another catalog."""
    path = copy / "table" / "titles.offsets.npy"
    offsets = np.load(path)
    offsets[-1] += 1
    np.save(path, offsets)
    with pytest.raises(StoreError, match="titles: the text has"):
        open_store(copy)


def test_an_unfinished_catalog_is_not_opened(built: Path, tmp_path: Path) -> None:
    unfinished = tmp_path / "shop.building"
    shutil.copytree(built, unfinished / "catalog")
    for folder in (tmp_path / "shop", unfinished):
        assert is_store(str(folder))
        with pytest.raises(StoreError, match=r"is not finished: .* run the same `ecom-rlve catalog build` again"):
            open_store(folder)
        with pytest.raises(StoreError, match="is not finished"):
            Shop.open(str(folder))


@pytest.mark.parametrize("folder", ["", ".", "nowhere", "a/b"])
def test_what_is_no_catalog_is_said_to_be_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=r"is no catalog|is no folder; make a catalog there with"):
        open_store(Path(folder))


def test_an_index_of_another_catalog_is_refused(copy: Path, tmp_path: Path) -> None:
    build_catalog(f"synthetic:{SIZE}:4", tmp_path / "other")
    shutil.rmtree(copy / "search")
    shutil.copytree(tmp_path / "other" / "search", copy / "search")
    other = json.loads((tmp_path / "other" / MANIFEST).read_text())
    content = json.loads((copy / MANIFEST).read_text())
    content["files"] = {
        name: (other if name.startswith("search/") else content)["files"][name]
        for name in {*content["files"], *(name for name in other["files"] if name.startswith("search/"))}
    }
    (copy / MANIFEST).write_text(json.dumps(content))
    stored = open_store(copy)
    with pytest.raises(StoreError, match="build the catalog again"):
        stored.search()


def test_an_index_without_files_is_refused(copy: Path) -> None:
    for path in (copy / "search").iterdir():
        path.unlink()
    content = json.loads((copy / MANIFEST).read_text())
    content["files"] = {name: facts for name, facts in content["files"].items() if not name.startswith("search/")}
    (copy / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(StoreError, match="build the catalog again"):
        Shop.open(str(copy))
