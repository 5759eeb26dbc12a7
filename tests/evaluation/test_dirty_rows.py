"""Dirty rows, as made for the benchmark of large catalogs: they are what they claim, and none of them ends a build."""

from __future__ import annotations

import json
import re
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.building.chunks import FeedChunk
from ecom_rlve.catalog.inspection import inspect
from ecom_rlve.catalog.rows.report import MOST_FAULTS, DropReason, SourceReport
from ecom_rlve.catalog.rows.row import catalog_of
from ecom_rlve.catalog.sources import open_catalog
from ecom_rlve.catalog.sources.jsonl import JsonLines
from ecom_rlve.evaluation.bench.scale.dirty import RowsBuilt, growth, judged, table
from ecom_rlve.evaluation.bench.scale.dirty_rows import DIRT, lines, write_rows
from ecom_rlve.evaluation.bench.scale.report import Build

_ROWS = 1_500


def test_a_row_depends_on_its_seed_and_number_only() -> None:
    assert list(lines(40)) == list(islice(lines(1_000_000), 40))
    assert not set(lines(40)) & set(lines(40, seed=1)) - {b"null", b'{"price": 1e5.3}'}


def test_dirty_rows_are_read_or_dropped_for_every_reason_that_they_give(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", _ROWS)
    catalog, report = open_catalog(str(tmp_path / "rows.jsonl"))
    assert report.read == _ROWS
    assert report.kept > 0.95 * _ROWS
    assert set(report.dropped) == {
        *(DropReason.NO_ID, DropReason.NO_TITLE, DropReason.UNREADABLE, DropReason.UNREADABLE_DETAILS),
        *(DropReason.DUPLICATE_ID, DropReason.DUPLICATE_LISTING),
    }
    assert len(report.faults) == min(MOST_FAULTS, report.dropped[DropReason.UNREADABLE])
    found = inspect(catalog, examples=0)
    assert found.currency == "USD"
    assert found.prices.at_least > 0 < found.prices.range
    assert 0.15 * catalog.size < found.prices.unknown < 0.45 * catalog.size
    assert len(found.leaves) > 0.4 * _ROWS


def test_every_kind_of_dirt_is_made() -> None:
    text = b"\n".join(lines(4_000)).decode("utf-8", "replace")
    signs = ('"price": "None"', '"price": "$1,', "&amp;", "CafÃ©", "ステンレス", '"details": "{', "XREPEATED", "Aisle ")
    assert [sign for sign in signs if sign not in text] == []
    assert max(map(len, text.splitlines())) > 50_000
    assert sum(share for share, _ in DIRT) > 1


_NUMBERS = (10**19, -(10**19), 10**400, 2**31, 2**63, 1e308, -1e-320, float("nan"), float("inf"))
_TEXTS = (
    "None",
    "NaN",
    "\ud800",
    "$1e999",
    "1e400 kg",
    "9" * 5_000,
    f"&#{'9' * 5_000};",
    "0x0 inches",
    "[]",
    '{"a": NaN}',
)
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=30)
    | st.sampled_from(_NUMBERS)
    | st.sampled_from(_TEXTS)
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_CLEAN = json.loads(next(line for line in lines(20) if line.startswith(b'{"main') and b'"details": {' in line))
_OTHER_FIELDS = ("asin", "currency", "status", "published", "archived", "variants", "field_names", "unreadable")
_FIELDS = (*sorted(_CLEAN), *_OTHER_FIELDS, "is_continuation", "is_shop_s_own")
_DETAILS = (*sorted(_CLEAN["details"]), "Size", "Wattage", "Capacity", "Screen Size", "Package Weight", "Battery Life")


@st.composite
def _mutated(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a row of which some fields, details and elements hold anything, and others are missing."""
    details = _CLEAN["details"] | draw(st.dictionaries(st.sampled_from(_DETAILS), _VALUES, max_size=3))
    row: dict[str, Any] = _CLEAN | {"details": draw(st.sampled_from([details, json.dumps(details)]))}
    row |= draw(st.dictionaries(st.sampled_from(_FIELDS), _VALUES, max_size=3))
    for name in draw(st.sets(st.sampled_from(("categories", "features", "description")), max_size=2)):
        row[name] = draw(st.lists(_VALUES, max_size=3))
    for name in draw(st.sets(st.sampled_from(sorted(_CLEAN)), max_size=1)):
        del row[name]
    return row


def _read(written: list[bytes]) -> SourceReport:
    """Read lines after a clean row, in memory and as a part of a build; both must tell the same."""
    clean = json.dumps(_CLEAN | {"parent_asin": "CLEAN"}).encode()
    with tempfile.TemporaryDirectory() as room:
        path = Path(room, "rows.jsonl")
        path.write_bytes(b"\n".join([clean, *written]))
        rows = list(JsonLines(path).rows())
    catalog, report = catalog_of(rows, currency="USD", max_bad=1.0)
    assert catalog.product(0).id == "CLEAN"
    assert catalog.size == report.kept
    part = FeedChunk(rows).arrays()
    dropped = sum(json.loads(part["dropped"].tobytes()).values())
    assert len(part["rating_count"]) == len(rows) - dropped >= report.kept
    assert report.dropped.get(DropReason.UNREADABLE, 0) >= len(report.faults)
    return report


@given(st.lists(_mutated(), min_size=1, max_size=4))
def test_no_mutation_of_a_row_ends_a_build(rows: list[dict[str, Any]]) -> None:
    report = _read([json.dumps(row).encode() for row in rows])
    assert report.read == 1 + len(rows) == report.kept + sum(report.dropped.values())


@given(st.sampled_from(list(lines(30))), st.integers(0, 3_000), st.integers(0, 40), st.binary(max_size=6))
def test_no_damage_to_a_line_ends_a_build(line: bytes, at: int, cut: int, put: bytes) -> None:
    report = _read([line[:at] + put + line[at + cut :]])
    assert report.read == report.kept + sum(report.dropped.values()) >= 1


def _built(read: int, cpu_s: float, peak_mib: float | None) -> RowsBuilt:
    report = SourceReport(read, read - 2, {DropReason.NO_ID: 2})
    return RowsBuilt(report, read / 1_000, Build(cpu_s, peak_mib, cpu_s), 10, read - 3, read // 2, 4 * (read - 2))


def test_costs_are_extrapolated_on_a_line_and_judged() -> None:
    sizes = [_built(100_000, 200.0, 500.0), _built(400_000, 800.0, 503.0)]
    assert growth(sizes) == pytest.approx(1.0)
    assert [target.is_met for target in judged(sizes)] == [True, True]
    assert "| rows/s of one core | 500 | 500 |" in table(sizes)
    assert "| most memory of the build, MiB | 500 | 503 | 519 |" in table(sizes)
    assert "| dropped: no id | 2 | 2 |" in table(sizes)
    worse = [_built(100_000, 200.0, 500.0), _built(400_000, 1_200.0, 2_500.0)]
    assert [target.is_met for target in judged(worse)] == [False, False]


def test_memory_that_no_system_tells_fails_nothing() -> None:
    sizes = [_built(1_000, 2.0, None), _built(4_000, 8.0, None)]
    assert [target.is_met for target in judged(sizes)] == [True, None]
    few = [_built(1_000, 2.0, 100.0), _built(4_000, 8.0, 400.0)]
    assert [target.is_met for target in judged(few)] == [True, None], "not all processes had rows to read"
    assert re.search(r"\| most memory of the build, MiB \| not measured \| not measured \| *\|", table(sizes))
