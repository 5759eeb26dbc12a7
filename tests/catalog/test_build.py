"""Building a catalog folder: the same products as in memory, and the same bytes however it came about."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.catalog.building.chunks import chunks_of
from ecom_rlve.catalog.building.folder import BuildFolder
from ecom_rlve.catalog.building.parts import Part
from ecom_rlve.catalog.building.planning import duplicates, planned
from ecom_rlve.catalog.building.reading import read_parts
from ecom_rlve.catalog.building.writing import written
from ecom_rlve.catalog.columns import table_files
from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.texts import Words, text_digests
from ecom_rlve.catalog.errors import CatalogError, SourceError, StoreError
from ecom_rlve.catalog.sources import SourceReport, open_catalog
from ecom_rlve.catalog.store import open_store
from ecom_rlve.catalog.synthetic.shelf import SyntheticShelf

KILLER = """
import os, signal, sys, threading
from pathlib import Path
from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.streams import stream

source, out, kills, seed, workers = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:])
EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree"}
rng = stream(seed, "kills")


def attempt(at: int, later_s: float | None) -> int:
    # Build in a child that is killed at its at-th change of the unfinished folder, or shortly after it.
    seen = 0

    def watch(event: str, args: tuple[object, ...]) -> None:
        nonlocal seen
        if event in EVENTS and ".building" in str(args[0]) and (event != "open" or "w" in str(args[1])):
            seen += 1
            if seen == at and later_s is None:
                os.kill(os.getpid(), signal.SIGKILL)
            if seen == at and later_s is not None:
                threading.Timer(later_s, os.kill, (os.getpid(), signal.SIGKILL)).start()

    child = os.fork()
    if child == 0:
        sys.addaudithook(watch)
        build_catalog(source, out, chunk_rows=100, workers=workers)
        (out.parent / "touches").write_text(str(seen))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


touches, killed = 290, 0
while killed < kills:
    later = None if killed % 2 else rng.random() * 0.5
    code = attempt(1 + int(rng.integers(touches)), later)
    assert code in (0, -signal.SIGKILL), code
    killed += code != 0
    if code == 0:
        touches = int((out.parent / "touches").read_text())
        os.rename(out, out.parent / f"whole-{len(list(out.parent.glob('whole-*')))}")
if not out.exists() or out.with_name(out.name + ".building").exists():
    assert attempt(0, None) == 0
print(killed)
"""


def lines() -> Iterator[str]:
    """Yield rows of every sort: products, some of them twice, and rows that are none."""
    for number, product in enumerate(SyntheticShelf(900, 5).products()):
        row: dict[str, Any] = {
            "parent_asin": product.id,
            "title": product.title,
            "features": list(product.features),
            "description": [product.description] if number % 3 else [],
            "price": (f"from {number}.50", None, number / 4, "12.99 - 15.99", "—")[number % 5],
            "store": product.store,
            "main_category": "AMAZON FASHION",
            "categories": ["Home", product.category.title()] if number % 2 else [],
            "average_rating": product.rating,
            "rating_number": product.rating_count,
            "details": json.dumps(
                {"Brand": (product.brand or "").upper(), "Color": "Navy Blue", "Item Weight": "2 lb"}
            ),
        }
        yield json.dumps(row)
        if number % 50 == 0:
            yield json.dumps(row)
            yield json.dumps({**row, "parent_asin": f"{number}-again"})
            yield json.dumps({**row, "title": ""})
            yield json.dumps({**row, "details": "{"})
            yield json.dumps({**row, "brand": "ACME", "parent_asin": f"{number}", "title": f"Spare {product.title}"})


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("feed") / "feed.jsonl"
    path.write_text("\n".join(lines()))
    return path


@pytest.fixture(scope="module")
def whole(feed: Path) -> Path:
    """The feed built without interruption, by one process."""
    out = feed.parent / "whole"
    build_catalog(str(feed), out, chunk_rows=100)
    return out


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def assert_same(folder: Path, whole: Path) -> None:
    """Compare bytes without printing them."""
    one, other = content(folder), content(whole)
    assert list(one) == list(other)
    assert [name for name in one if one[name] != other[name]] == []
    assert not folder.with_name(f"{folder.name}.building").exists()


def table_of(spec: str, folder: Path, chunk_rows: int = 100) -> tuple[Catalog, SourceReport]:
    """Build without the search index."""
    source, build = chunks_of(spec), BuildFolder(folder / "out")
    build.enter({})
    parts = read_parts(source, build, chunk_rows=chunk_rows, limit=None, workers=1, progress=lambda *_: None)
    plan = planned(parts, source.categories, build, lambda *_: None)
    return written(parts, plan, build, lambda *_: None), plan.report


def assert_equal(catalog: Catalog, other: Catalog) -> None:
    assert [catalog.product(row) for row in range(catalog.size)] == [other.product(row) for row in range(other.size)]
    assert catalog.categories == other.categories
    assert catalog.fingerprint == other.fingerprint


def test_a_feed_gives_the_products_that_it_gives_in_memory(feed: Path, whole: Path) -> None:
    catalog, report = open_catalog(str(feed))
    stored = open_store(whole)
    assert_equal(stored.catalog, catalog)
    assert stored.report == report
    assert report.read == len(feed.read_text().splitlines())
    assert len(report.dropped) == 4
    assert not whole.with_name("whole.building").exists()


@pytest.mark.parametrize("chunk_rows", [64, 100_000])
def test_chunks_change_nothing(feed: Path, tmp_path: Path, chunk_rows: int) -> None:
    catalog, report = table_of(str(feed), tmp_path, chunk_rows)
    in_memory, same_report = open_catalog(str(feed))
    assert catalog.fingerprint == in_memory.fingerprint
    assert report == same_report


@pytest.mark.slow
def test_workers_change_nothing(feed: Path, whole: Path, tmp_path: Path) -> None:
    build_catalog(str(feed), tmp_path / "out", chunk_rows=100, workers=2)
    assert_same(tmp_path / "out", whole)


def test_a_procedural_catalog_is_built_from_any_places(tmp_path: Path) -> None:
    catalog, report = table_of("synthetic:230:7", tmp_path)
    in_memory, _ = open_catalog("synthetic:230:7")
    assert_equal(catalog, in_memory)
    assert report == SourceReport(230, 230)


@pytest.mark.parametrize("name", ["made_up/amazon_fashion.jsonl", "amazon2023_meta_fashion_500.jsonl"])
def test_real_rows_are_built_like_in_memory(tmp_path: Path, name: str) -> None:
    """Rows of nobody's shop in the same schema stand in for real ones where there are none."""
    folder = Path(__file__).parent
    path = (folder if name.startswith("made_up/") else folder.parents[1] / "../shared/data") / name
    if not path.exists():
        pytest.skip(f"{path} is not there; the real rows were not tried")
    catalog, report = table_of(str(path), tmp_path)
    in_memory, same_report = open_catalog(str(path))
    assert_equal(catalog, in_memory)
    assert report == same_report


def test_large_vocabularies_stay_packed(feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_files, "LARGE_VOCABULARY", 3)
    catalog, _ = table_of(str(feed), tmp_path)
    in_memory, _ = open_catalog(str(feed))
    brand, same = catalog.column("brand"), in_memory.column("brand")
    assert isinstance(brand.vocabulary, Words)
    assert tuple(brand.vocabulary) == same.vocabulary
    assert [brand.encode(word.title()) for word in same.vocabulary] == list(range(len(same.vocabulary)))
    assert brand.encode("nobody") is None
    assert_equal(catalog, in_memory)


def test_a_limit_takes_the_first_rows(feed: Path, tmp_path: Path) -> None:
    head = tmp_path / "head.jsonl"
    head.write_text("\n".join(feed.read_text().splitlines()[:150]))
    stored = build_catalog(str(feed), tmp_path / "out", limit=150, chunk_rows=100)
    assert_equal(stored.catalog, open_catalog(str(head))[0])
    assert stored.manifest.limit == 150
    assert stored.report.read == 150


def test_progress_is_told_of_every_stage(tmp_path: Path) -> None:
    told: dict[str, list[tuple[int, int]]] = {}
    build_catalog(
        "synthetic:90:1",
        tmp_path / "out",
        chunk_rows=40,
        progress=lambda stage, done, total: told.setdefault(stage, []).append((done, total)),
    )
    assert list(told)[:3] == ["reading", "planning", "writing"]
    assert len(told) > 3
    for steps in told.values():
        assert steps[-1][0] == steps[-1][1]
        assert [done for done, _ in steps] == sorted(done for done, _ in steps)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_duplicates_are_found_as_row_by_row(rows: list[tuple[int, int]]) -> None:
    ids: set[int] = set()
    listings: set[int] = set()
    expected = []
    for product_id, listing in rows:
        verdict = 1 if product_id in ids else 2 if listing in listings else 0
        if not verdict:
            ids.add(product_id)
            listings.add(listing)
        expected.append(verdict)
    digests = [text_digests(str(row[at]) for row in rows) for at in (0, 1)]
    assert duplicates(*digests).tolist() == expected


def survive(feed: Path, whole: Path, tmp_path: Path, kills: int, seed: int, workers: int) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLER, str(feed), str(out), *map(str, (kills, seed, workers))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == kills
    for built in (out, *tmp_path.glob("whole-*")):
        assert_same(built, whole)


def test_a_build_that_is_killed_goes_on(feed: Path, whole: Path, tmp_path: Path) -> None:
    survive(feed, whole, tmp_path, kills=1, seed=1, workers=1)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "workers"), [(2, 1), (3, 2)])
def test_a_build_that_is_killed_ten_times_goes_on(
    feed: Path, whole: Path, tmp_path: Path, seed: int, workers: int
) -> None:
    survive(feed, whole, tmp_path, kills=10, seed=seed, workers=workers)


def test_an_unfinished_build_of_something_else_is_kept(feed: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    feed_copy = tmp_path / "feed.jsonl"
    feed_copy.write_text(feed.read_text() + "\n{")
    with pytest.raises(InterruptionError):
        build_catalog(str(feed_copy), out, chunk_rows=100, progress=_interrupt)
    assert (tmp_path / "out.building" / "parts" / "part-000000.npz").exists()
    with pytest.raises(StoreError, match=r"out.building holds an unfinished build that differs in limit; delete it or"):
        build_catalog(str(feed_copy), out, chunk_rows=100, limit=3)
    with pytest.raises(StoreError, match="is not finished"):
        open_store(out)


class InterruptionError(Exception):
    """Ends a build from outside."""


def _interrupt(_stage: str, done: int, _total: int) -> None:
    if done >= 300:
        raise InterruptionError


def test_rows_are_mended_without_reading_the_others_again(feed: Path, whole: Path, tmp_path: Path) -> None:
    out, path = tmp_path / "whole", tmp_path / "feed.jsonl"
    rows = feed.read_text().splitlines()
    path.write_text("\n".join([*rows[:250], rows[250][:-9], *rows[251:]]))
    with pytest.raises(
        SourceError, match=r"1 of \d+ rows cannot be read, .*feed\.jsonl, line 251: not JSON .*--max-bad"
    ):
        build_catalog(str(path), out, chunk_rows=100, max_bad=0)
    parts = sorted((tmp_path / "whole.building" / "parts").iterdir())
    before = [part.stat().st_mtime_ns for part in parts]
    path.write_text("\n".join(rows))
    # A copy of the name and time of the whole feed is not needed: the manifest names the source, all else is equal.
    build_catalog(str(path), out, chunk_rows=100, progress=_keeping(parts, before))
    assert not out.with_name("whole.building").exists()
    built, expected = content(out), content(whole)
    assert [name for name in expected if built.get(name) != expected[name]] == ["manifest.json"]


def _keeping(parts: list[Path], before: list[int]) -> Any:
    """Return a progress that checks, once all rows were read, that only the third part is new."""

    def check(stage: str, _done: int, _total: int) -> None:
        if stage == "planning":
            changed = [at for at, part in enumerate(parts) if part.stat().st_mtime_ns != before[at]]
            assert changed == [2]

    return check


def test_a_refused_source_does_not_block_the_next_try(tmp_path: Path) -> None:
    export = tmp_path / "export.csv"
    export.write_text("Handle,Title,Variant Price\nmug,Red Mug,5.00\ncup,Blue Cup,6.00\n")
    out = tmp_path / "out"
    with pytest.raises(SourceError, match="no row states the currency of its price; say it, as in --currency EUR"):
        build_catalog(str(export), out)
    other = tmp_path / "other.jsonl"
    other.write_text('{"parent_asin": "A1"}\n{"title": "Mug"}\n')
    with pytest.raises(SourceError, match="no row became a product"):
        build_catalog(str(other), out)
    assert build_catalog(str(export), out, currency="EUR").catalog.currency == "EUR"


def test_prices_of_other_currencies_are_unknown_as_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "feed.tsv"
    prices = ("5.00 USD", "6.00 EUR", "$7.00", "8.00", "from 9.00 EUR", "10.00 - 12.00 USD", "", "11.00 USD")
    rows = (f"{at}\tMug {at}\t{price}" for at, price in enumerate(prices))
    path.write_text("\n".join(["id\ttitle\tprice", *rows]))
    for asked in (None, "EUR", "CAD"):
        out = tmp_path / f"out-{asked}"
        stored = build_catalog(str(path), out, currency=asked, chunk_rows=3)
        in_memory, report = open_catalog(str(path), currency=asked)
        assert stored.report == report
        assert_equal(stored.catalog, in_memory)
        assert stored.catalog.currency == (asked or "USD")
    catalog, _ = open_catalog(str(path))
    assert [catalog.product(row).price_cents for row in range(8)] == [500, None, 700, None, None, 1000, None, 1100]
    catalog, _ = open_catalog(str(path), currency="CAD")
    assert [catalog.product(row).price_cents for row in range(4)] == [None, None, 700, 800]


def test_what_exists_is_not_overwritten(whole: Path, tmp_path: Path) -> None:
    before = content(whole)
    with pytest.raises(StoreError, match="exists; delete it or choose another --out"):
        build_catalog("synthetic:50", whole)
    assert content(whole) == before
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="exists; delete it"):
        build_catalog("synthetic:50", tmp_path / "file")
    strange = tmp_path / "mine.building"
    strange.mkdir()
    (strange / "notes.txt").touch()
    with pytest.raises(StoreError, match=r"mine\.building exists and is no unfinished build"):
        build_catalog("synthetic:50", tmp_path / "mine")
    (tmp_path / "empty").mkdir()
    assert build_catalog("synthetic:50", tmp_path / "empty").catalog.size == 50


def test_a_damaged_part_is_noticed(feed: Path, tmp_path: Path) -> None:
    build = BuildFolder(tmp_path / "out")
    build.enter({})
    read_parts(chunks_of(str(feed)), build, chunk_rows=1000, limit=None, workers=1, progress=lambda *_: None)
    path = build.part(0)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(StoreError, match=r"part-000000.npz is damaged .* delete .*out.building and build again"):
        Part(path).array("titles.blob")


@pytest.mark.parametrize("spec", ["synthetic:20", "nowhere.jsonl", "no_such_source"])
def test_a_source_that_is_none_leaves_nothing(tmp_path: Path, spec: str) -> None:
    with pytest.raises(SourceError):
        build_catalog(spec, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"embedder": "bert"}, "'bert' is no embedder"),
        ({"embedder": "st:"}, "'st:' is no"),
        ({"index": "hnsw"}, "no index"),
    ],
)
def test_unknown_options_are_refused_before_anything_is_read(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CatalogError, match=message):
        build_catalog("synthetic:50", tmp_path / "out", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_source_without_products_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text('{"parent_asin": "A1"}\n{"title": "Mug"}\n')
    with pytest.raises(SourceError, match=r"no row became a product .*1 dropped: no id"):
        build_catalog(str(path), tmp_path / "out")


def test_a_source_that_changes_meanwhile_is_refused(feed: Path, tmp_path: Path) -> None:
    path = tmp_path / "feed.jsonl"
    path.write_text(feed.read_text())

    def change(stage: str, done: int, _total: int) -> None:
        if stage == "reading" and done == 300:
            os.utime(path, ns=(1, 1))

    with pytest.raises(SourceError, match=r"changed while it was read; run the command again"):
        build_catalog(str(path), tmp_path / "out", chunk_rows=100, progress=change)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "free some space and run the command again, it goes on where it stopped"),
        (errno.EROFS, "choose an --out on a disk that can be written"),
        (errno.EACCES, "choose an --out that you may write"),
        (errno.EIO, "remove the cause and run the command again"),
    ],
)
def test_what_a_disk_refuses_is_told_with_the_remedy(
    feed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str
) -> None:
    """The third file that is to be put into place is refused."""
    replace, calls = os.replace, []

    def refusing(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 3:
            raise OSError(number, os.strerror(number), str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", refusing)
    with pytest.raises(StoreError, match=f"part-000001.npz cannot be written .*; {remedy}"):
        build_catalog(str(feed), tmp_path / "out", chunk_rows=100)
    with pytest.raises(StoreError, match="is not finished"):
        open_store(tmp_path / "out")


def test_a_disk_without_room_is_told(feed: Path, tmp_path: Path) -> None:
    """The system itself refuses: files may not grow beyond 20,000 bytes."""
    code = """
import resource, signal, sys
from pathlib import Path
from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.catalog.errors import StoreError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    build_catalog(sys.argv[1], Path(sys.argv[2]))
except StoreError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(feed), str(tmp_path / "out")], capture_output=True, text=True
    )
    assert "cannot be written (File too large)" in done.stdout, done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.rglob("*.npz")) == []
    assert list(tmp_path.rglob(".part*")) == []


def test_a_folder_below_a_file_is_refused(feed: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        build_catalog("synthetic:50", feed / "out")
    assert list(tmp_path.iterdir()) == []


def test_blocks_must_be_as_long_as_they_are_said_to_be(tmp_path: Path) -> None:
    from ecom_rlve.catalog.columns.array_store import save_blocks

    blocks = [np.arange(3, dtype=np.int64), np.zeros(0, dtype=np.int64), np.arange(2, dtype=np.int64)]
    save_blocks(tmp_path / "five.npy", blocks, 5, np.dtype(np.int64))
    assert np.load(tmp_path / "five.npy").tolist() == [0, 1, 2, 0, 1]
    with pytest.raises(ValueError, match="5 elements instead of 6"):
        save_blocks(tmp_path / "six.npy", blocks, 6, np.dtype(np.int64))
    assert [path.name for path in tmp_path.iterdir()] == ["five.npy"]


@pytest.mark.slow
def test_a_dead_parent_takes_its_workers_along(feed: Path, tmp_path: Path) -> None:
    """Workers share the parent's standard output: it is closed once all of them have gone."""
    code = """
import os, signal, sys
from pathlib import Path
from ecom_rlve.catalog.build import build_catalog

def stop(stage, done, total):
    if done:
        os.kill(os.getpid(), signal.SIGKILL)

build_catalog(sys.argv[1], Path(sys.argv[2]), chunk_rows=100, workers=2, progress=stop)
"""
    command = [sys.executable, "-c", code, str(feed), str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        # Nothing of the machine's speed is in this: workers that stayed would stay for ever.
        printed, _ = process.communicate(timeout=600)
    assert printed == b""
    assert process.returncode == -9
