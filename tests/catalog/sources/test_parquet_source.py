"""Parquet files and hub data sets as rows, and what a wrong or broken one does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources import open_catalog, row_source

_ROWS: list[dict[str, Any]] = [
    {"parent_asin": f"B{at:03}", "title": f"Hat number {at}", "price": "from 5.00", "details": '{"Color": "Red"}'}
    for at in range(50)
]


def write(path: Path, rows: list[dict[str, Any]], **columns: pa.Array) -> Path:
    table = pa.Table.from_pylist(rows)
    for name, column in columns.items():
        table = table.append_column(name, column)
    pq.write_table(table, path, row_group_size=8)
    return path


def test_rows_start_anywhere(tmp_path: Path) -> None:
    for at in range(0, 50, 20):
        write(tmp_path / f"part-{at:02}.parquet", _ROWS[at : at + 20])
    source = row_source(str(tmp_path))
    assert list(source.rows(0)) == _ROWS
    assert all(list(source.rows(start)) == _ROWS[start:] for start in (1, 7, 8, 20, 29, 39, 40, 49, 50, 99))
    assert list(source.identity) == ["part-00.parquet", "part-20.parquet", "part-40.parquet"]
    hub = row_source(f"hf:{tmp_path}")
    assert list(hub.rows(0)) == _ROWS
    assert all(list(hub.rows(start)) == _ROWS[start:] for start in (1, 20, 29, 49, 50))
    assert list(hub.identity) == list(source.identity)
    assert (source.name, hub.name) == (str(tmp_path), f"hf:{tmp_path}")


def test_earlier_row_groups_are_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", _ROWS)
    begin = pq.ParquetFile(path).metadata.row_group(0).column(1).data_page_offset
    content = bytearray(path.read_bytes())
    content[begin : begin + 40] = bytes(40)
    path.write_bytes(content)
    source = row_source(str(path))
    assert list(source.rows(8)) == _ROWS[8:]
    with pytest.raises(SourceError, match=r"a.parquet, row group 0, after row 0: broken data .* fetch the file again"):
        list(source.rows(0))


@pytest.mark.parametrize(
    "details",
    [
        pa.array([{"Color": "Red"}] * 50),
        pa.array([[("Color", "Red")]] * 50, pa.map_(pa.string(), pa.string())),
        pa.array([json.dumps({"Color": "Red"})] * 50).dictionary_encode(),
        pa.array([json.dumps({"Color": "Red"})] * 50, pa.large_string()),
    ],
)
def test_details_may_be_of_any_type_that_holds_them(tmp_path: Path, details: pa.Array) -> None:
    rows = [{"parent_asin": f"B{at}", "title": f"Red hat {at}"} for at in range(50)]
    catalog, _ = open_catalog(str(write(tmp_path / "a.parquet", rows, details=details, store=pa.nulls(50))))
    assert {catalog.value(at, "color") for at in range(50)} == {"red"}


@pytest.mark.parametrize(
    ("name", "column", "message"),
    [
        ("title", pa.array(range(50)), r"column 'title' holds a number \(int64\), where a product has text; convert"),
        ("title", pa.array([b"x"] * 50), r"column 'title' holds binary"),
        ("features", pa.array([[1]] * 50), r"column 'features' holds a list of int64 .* a list of texts or text"),
        ("price", pa.array([[1.0]] * 50), r"column 'price' holds a list of double .* a number or text"),
        ("average_rating", pa.array(["5"] * 50), r"column 'average_rating' holds text .* a number"),
        ("details", pa.array([True] * 50), r"column 'details' holds bool .* text or an object"),
    ],
)
def test_a_column_of_a_wrong_type_is_refused(tmp_path: Path, name: str, column: pa.Array, message: str) -> None:
    rows = [{key: value for key, value in row.items() if key != name} for row in _ROWS]
    write(tmp_path / "b.parquet", rows, **{name: column})
    for source in (tmp_path / "b.parquet", f"hf:{tmp_path}"):
        with pytest.raises(SourceError, match=message):
            open_catalog(str(source))


def test_a_file_among_others_with_another_type_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", _ROWS)
    write(tmp_path / "b.parquet", [row | {"title": 3} for row in _ROWS])
    with pytest.raises(SourceError, match=r"b.parquet: column 'title' holds a number"):
        open_catalog(str(tmp_path))
    # A split has one type per column, to which `datasets` converts: the titles of the second file are all "3".
    assert open_catalog(f"hf:{tmp_path}")[1].kept == 50, "their ids are those of the first file"


@pytest.mark.parametrize("name", ["parent_asin", "title"])
def test_a_missing_column_is_named(tmp_path: Path, name: str) -> None:
    write(tmp_path / "a.parquet", [{"other": 1} | {key: row[key] for key in row if key != name} for row in _ROWS])
    for source in (tmp_path / "a.parquet", f"hf:{tmp_path}"):
        with pytest.raises(SourceError, match=rf"no column '{name}', only other, .* rename the columns"):
            open_catalog(str(source))


def test_broken_and_missing_files_are_refused(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.parquet", _ROWS).read_bytes()
    for name, content, message in (
        ("cut", whole[:-30], "cut.parquet: no Parquet file, or cut off .* fetch the file again"),
        ("page", b"<html></html>", "page.parquet: looks like a web page"),
        ("empty", b"", "empty.parquet: holds no rows, the file is empty"),
    ):
        (tmp_path / f"{name}.parquet").write_bytes(content)
        with pytest.raises(SourceError, match=message):
            open_catalog(str(tmp_path / f"{name}.parquet"))
    with pytest.raises(SourceError, match=r"gone.parquet: cannot be read .* check the path"):
        open_catalog(str(tmp_path / "gone.parquet"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError, match=r"folder: a folder without \.parquet files"):
        open_catalog(str(tmp_path / "folder"))


def test_a_data_set_without_rows_a_split_or_files_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "train.parquet", _ROWS)
    write(tmp_path / "test.parquet", _ROWS[:7])
    assert open_catalog(f"hf:{tmp_path}")[0].size == 50
    assert open_catalog(f"hf:{tmp_path}:test")[0].size == open_catalog(f"hf:{tmp_path}@test")[0].size == 7
    with pytest.raises(SourceError, match=r"no split 'dev'; there are test, train: give hf:.*@SPLIT"):
        open_catalog(f"hf:{tmp_path}:dev")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match=r"cannot be opened \(.*\); check the name and the network, or download"):
        open_catalog(f"hf:{tmp_path}/empty")


def test_json_of_mixed_types_in_a_data_set_is_refused(tmp_path: Path) -> None:
    rows = [*(json.dumps(row) for row in _ROWS), json.dumps(_ROWS[0] | {"title": {"en": "Hat"}})]
    (tmp_path / "train.jsonl").write_text("\n".join(rows))
    with pytest.raises(SourceError, match=rf"hf:{tmp_path}: "):
        open_catalog(f"hf:{tmp_path}")


_OPEN = "import sys; from ecom_rlve.catalog.sources import open_catalog; open_catalog(sys.argv[1])"


def _fault(code: str, source: str) -> str:
    """Return the last line of what a fresh process says, which may not reach the hub."""
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code, source], capture_output=True, text=True, env=environment)
    assert done.returncode
    return done.stderr.splitlines()[-1]


def test_a_hub_that_cannot_be_reached_is_told() -> None:
    fault = _fault(_OPEN, "hf:owner/name:train")
    assert "SourceError: hf:owner/name:train: cannot be found" in fault
    assert "check the name and the network, or download the data set and give its folder" in fault


@pytest.mark.parametrize(
    ("module", "prefix", "message"),
    [
        ("pyarrow", "", "reading Parquet needs pyarrow; install it with: pip install 'ecom-rlve[data]'"),
        ("datasets", "hf:", "needs the package datasets; install it with: pip install 'ecom-rlve[data]'"),
    ],
)
def test_a_missing_package_is_told(tmp_path: Path, module: str, prefix: str, message: str) -> None:
    write(tmp_path / "train.parquet", _ROWS)
    assert message in _fault(f"import sys; sys.modules[{module!r}] = None; {_OPEN}", f"{prefix}{tmp_path}")
