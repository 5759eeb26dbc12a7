"""JSON-lines files as catalogs: the real sample, and everything that can be wrong with a file."""

from __future__ import annotations

import gzip
import json
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.product import UNKNOWN_KIND
from ecom_rlve.catalog.sources import SourceReport, open_catalog, row_source
from ecom_rlve.catalog.sources.jsonl import JsonLines
from ecom_rlve.catalog.sources.lines import MAX_LINE_BYTES
from ecom_rlve.catalog.sources.opening import synthetic_spec

_SHARED = Path(__file__).parents[3] / "../shared/data"
_REAL = _SHARED / "amazon2023_meta_fashion_500.jsonl"
_MADE_UP = Path(__file__).parents[1] / "made_up/amazon_fashion.jsonl"
"""Rows of nobody's shop in the schema of the real ones, so that a clone alone tests this as well."""
_ROW = json.dumps({"parent_asin": "B01", "title": "Red Bracelet", "details": {}})


@pytest.fixture(scope="module", params=[_MADE_UP, _REAL], ids=["made up", "real"])
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    if not found.exists():
        pytest.skip(f"REAL DATA MISSING: {found} is not there, so nothing real was read")
    return found


@pytest.fixture(scope="module")
def sample(path: Path) -> tuple[Catalog, SourceReport]:
    return open_catalog(str(path))


def test_every_row_of_the_sample_is_accounted_for(path: Path, sample: tuple[Catalog, SourceReport]) -> None:
    catalog, report = sample
    assert report.read == len(path.read_text("utf-8").splitlines()) >= 60
    assert report.kept == catalog.size == report.read - sum(report.dropped.values())


def test_the_sample_in_the_hub_s_shape_gives_identical_products(
    path: Path, sample: tuple[Catalog, SourceReport], tmp_path: Path
) -> None:
    hub = tmp_path / "hub.jsonl.gz"
    with gzip.open(hub, "wt", encoding="utf-8") as file:
        for line in path.read_text("utf-8").splitlines():
            file.write(json.dumps(_in_hub_shape(json.loads(line))) + "\n")
    catalog, report = open_catalog(str(hub))
    assert report == sample[1]
    assert catalog.fingerprint == sample[0].fingerprint
    assert [catalog.product(at) for at in range(catalog.size)] == [sample[0].product(at) for at in range(catalog.size)]


def _in_hub_shape(row: dict[str, Any]) -> dict[str, Any]:
    images = {key: [image.get(key) for image in row["images"]] for key in ("hi_res", "large", "thumb", "variant")}
    return row | {"details": json.dumps(row["details"]), "price": str(row["price"]), "images": images, "author": None}


def test_the_sample_has_specific_leaves_of_a_useful_size(sample: tuple[Catalog, SourceReport]) -> None:
    catalog, _ = sample
    sizes = {category.name: len(catalog.rows_of_category(category.name)) for category in catalog.categories}
    assert sizes.pop(UNKNOWN_KIND, 0) <= 0.25 * catalog.size
    assert sum(size >= 8 for size in sizes.values()) >= (11 if catalog.size == 500 else 6)
    assert {"sunglasses", "bracelets", "keychains", "socks", "boots"} <= sizes.keys()


def test_the_sample_holds_nothing_invented(path: Path, sample: tuple[Catalog, SourceReport]) -> None:
    catalog, _ = sample
    rows = {row["parent_asin"]: row for row in map(json.loads, reversed(path.read_text("utf-8").splitlines()))}
    assert catalog.size >= 60
    for at in range(catalog.size):
        product = catalog.product(at)
        price = rows[product.id]["price"]
        is_exact = isinstance(price, int | float)
        assert (product.price_cents if is_exact else None) == (round(price * 100) if is_exact else None)
        assert is_exact or product.price_cents is None or product.price_is_floor
        assert len(product.title) <= 200
        assert not any("<br" in text for text in (product.title, product.description, *product.features))
        values = [value for value in product.attributes.values() if isinstance(value, str)]
        assert all(value == value.casefold() and value.isascii() and len(value) <= 40 for value in values)
    spellings = catalog.column("brand").vocabulary or ()
    assert len({brand.casefold() for brand in spellings}) == len(spellings)


def test_plain_and_gzipped_files_read_alike(tmp_path: Path) -> None:
    content = f"\ufeff{_ROW}\r\n\n{_ROW.replace('B01', 'B02').replace('Red', 'Blue')}".encode()
    (tmp_path / "a.jsonl").write_bytes(content)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(content))
    plain, gzipped = (open_catalog(str(tmp_path / name)) for name in ("a.jsonl", "a.jsonl.gz"))
    assert plain[0].size == 2
    assert plain[0].fingerprint == gzipped[0].fingerprint
    assert plain[1] == gzipped[1] == SourceReport(2, 2)


_GOOD = (_ROW + "\n").encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_GOOD + b'{"parent_asin": "B02", "tit', "line 2: not JSON .* complete JSON object"),
        (_GOOD + b"\n\nnonsense\n", "line 4: not JSON"),
        (_GOOD + b"[" * 100_000, "line 2: not JSON"),
        (_GOOD + b"[1, 2]\n", "line 2: a JSON list, not an object"),
        (_GOOD + b"null\n", "line 2: a JSON null, not an object"),
        (_GOOD + b"3\n", "line 2: a JSON number, not an object"),
        (
            "{}\n{}\n".format(_ROW, '{"title": "é"}').encode() + b'{"title": "\xff"}\n',
            "line 3: .* no UTF-8, .* convert",
        ),
        (b"", "holds no rows"),
        (b"\n \n", "holds no rows"),
    ],
)
def test_a_broken_file_is_refused_by_name_and_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=f"(?s)broken.jsonl.*{message}"):
        open_catalog(str(path), max_bad=0)


def _cut(packed: bytes) -> bytes:
    return packed[:-20]


def _flip(packed: bytes) -> bytes:
    return packed[:-8] + bytes(8)


@pytest.mark.parametrize("damage", [_cut, _flip])
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "broken.jsonl.gz"
    path.write_bytes(damage(gzip.compress(_GOOD * 50)))
    with pytest.raises(SourceError, match=r"broken.jsonl.gz.*: the packed data is broken .* fetch the file again"):
        open_catalog(str(path))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(SourceError, match=r"missing\.jsonl: cannot be read .* check the path"):
        open_catalog(str(tmp_path / "missing.jsonl"))
    with pytest.raises(SourceError, match=r"folder\.jsonl: a folder without \.parquet files"):
        open_catalog(str(tmp_path / "folder.jsonl"))


def test_relative_paths_are_taken_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here.jsonl").write_bytes(_GOOD)
    monkeypatch.chdir(tmp_path)
    assert open_catalog("here.jsonl")[0].size == 1


@pytest.mark.parametrize("source", ["", "hf:", "hf:a:b:c", "a.pdf", "synthetic:", "synthetic:x", "synthetic:10:-1"])
def test_an_unknown_source_is_told_what_is_accepted(source: str) -> None:
    with pytest.raises(SourceError, match=r"accepted are .*synthetic:SIZE:SEED, .*path of a file: .*\.jsonl"):
        open_catalog(source)


def test_an_empty_synthetic_catalog_is_refused() -> None:
    with pytest.raises(SourceError, match="at least one product"):
        open_catalog("synthetic:0")


def test_the_synthetic_catalog_is_a_source_like_any_other() -> None:
    catalog, report = open_catalog("synthetic:300:7")
    assert catalog.size == 300
    assert report == SourceReport(300, 300)
    assert open_catalog("synthetic:300:7")[0].fingerprint == catalog.fingerprint


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_line_above_the_limit_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = _GOOD + b'{"title": "' + b"x" * 10_000 + b'"}\n'
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(SourceError, match=rf"{name}, line 2: longer than 10,013 bytes; .* or leave that line out"):
        list(JsonLines(path, max_bytes=10_013).rows(0))
    assert len(list(JsonLines(path, max_bytes=10_014).rows(0))) == 2


def test_a_file_of_one_endless_line_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "sparse.jsonl"
    with path.open("wb") as file:
        file.write(_GOOD)
        file.truncate(2 * 2**30)
    tracemalloc.start()
    with pytest.raises(SourceError, match=r"sparse.jsonl, line 2: longer than 16,777,216 bytes"):
        open_catalog(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * MAX_LINE_BYTES


def test_rows_start_anywhere_and_a_broken_one_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n" + _GOOD + b" \nno json\n" + _GOOD.replace(b"B01", b"B02"))
    source = row_source(str(path))
    assert [row["parent_asin"] for row in source.rows(2)] == ["B02"]
    assert list(source.rows(3)) == list(source.rows(99)) == []
    (broken, whole) = source.rows(1)
    assert "a.jsonl, line 4: not JSON" in str(broken["unreadable"])
    assert whole["parent_asin"] == "B02"


def test_the_identity_changes_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_GOOD)
    before = dict(row_source(str(path)).identity)
    assert before == dict(row_source(str(path)).identity)
    path.write_bytes(_GOOD * 2)
    assert dict(row_source(str(path)).identity) != before
    assert row_source(str(path)).name == str(path)


@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        ("sythetic:30", "did you mean synthetic:30?"),
        ("Synthetic:30:1", "did you mean synthetic:30:1?"),
        ("huggingface:owner/name", "did you mean hf:owner/name?"),
        ("owner/name", "did you mean a data set of the hub, hf:owner/name?"),
        ("shop.jsnl", "did you mean .jsonl?"),
        ("shop.parq", "did you mean .parquet?"),
    ],
)
def test_a_near_miss_is_told_what_was_meant(spec: str, remedy: str) -> None:
    with pytest.raises(SourceError, match=re.escape(f"{spec!r} is no source of products, {remedy}; accepted are ")):
        row_source(spec)


def test_a_tree_of_categories_is_no_source_of_products() -> None:
    tree = _SHARED / "bestbuy_categories.json"
    if not tree.exists():
        pytest.skip(f"REAL DATA MISSING: {tree} is not there, so nothing real was read")
    with pytest.raises(SourceError, match="holds a tree of categories, give a file with the products themselves"):
        open_catalog(str(tree))


def test_a_synthetic_catalog_has_no_rows() -> None:
    assert synthetic_spec("synthetic") == (10_000, 0)
    assert synthetic_spec("synthetic:5:7") == (5, 7)
    assert synthetic_spec("a.jsonl") is None
    with pytest.raises(SourceError, match="made, not read"):
        row_source("synthetic:5")
