"""A search written to a folder and opened again: resumed, refused, shared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.errors import CatalogError, IndexMismatchError
from ecom_rlve.catalog.search.search import Search, SortKey
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog
from ecom_rlve.catalog.vectors.inverted_index import InvertedIndex

SIZE = 200
QUERIES = ("blue lamp", "wireless", "cottn shirt", "gift for kids", "?!")
SORT_KEYS: tuple[SortKey, ...] = ("price_asc", "rating_desc", "ship_days_asc")


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return synthetic_catalog(SIZE)


@pytest.fixture(scope="module", params=["flat", "ivf"])
def written(request: pytest.FixtureRequest, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home: Path = tmp_path_factory.mktemp(request.param)
    Search.write(catalog, home, index=request.param)
    return home


def digest(home: Path) -> dict[str, str]:
    return {path.name: blake2b(path.read_bytes()).hexdigest() for path in (home / "search").iterdir()}


@pytest.fixture(scope="module")
def whole(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("whole")
    Search.write(catalog, home, index="ivf")
    return digest(home)


def pages(search: Search) -> list[list[int]]:
    rows = np.arange(0, SIZE, 3, dtype=np.int32)
    found = [search.rank(query, some, 30).tolist() for query in QUERIES for some in (None, rows)]
    return found + [search.order(key, some, 30).tolist() for key in SORT_KEYS for some in (None, rows)]


def test_an_opened_search_gives_the_pages_of_one_built_in_memory(catalog: Catalog, written: Path) -> None:
    assert pages(Search.open(catalog, written)) == pages(Search.build(catalog))


def test_two_open_ones_map_the_same_files(catalog: Catalog, written: Path) -> None:
    one, two = Search.open(catalog, written), Search.open(catalog, written)
    assert pages(one) == pages(two)
    for search in (one, two):
        assert isinstance(search.bags.numbers.base, np.memmap)
        assert isinstance(search.bags.vocabulary.words.blob.base, np.memmap)


def test_the_manifest_says_what_was_built(catalog: Catalog, tmp_path: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    facts = Search.write(catalog, tmp_path, index="ivf", progress=lambda *step: heard.append(step))
    search = Search.open(catalog, tmp_path)
    assert isinstance(search.index, InvertedIndex)
    assert facts["index"] == f"ivf{search.index.lists}"
    assert facts["embedder"] == "local"
    assert facts["dimensions"] == search.embedder.dimensions
    assert float(facts["recall_at_20"]) >= 0.95
    assert {"faiss-cpu", "numpy", "scikit-learn"} <= facts.keys()
    assert dict.fromkeys(stage for stage, _, _ in heard) == dict.fromkeys(
        ("words", "embedder", "vectors", "flat", "clusters", "lists")
    )
    assert all(0 <= done <= total for _, done, total in heard)
    heard.clear()
    assert Search.write(catalog, tmp_path, index="ivf", progress=lambda *step: heard.append(step)) == facts
    assert not heard


def test_size_chooses_the_index(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Search.write(catalog, tmp_path / "small")["index"] == "flat"
    monkeypatch.setattr("ecom_rlve.catalog.search.stages.FLAT_MOST", SIZE - 1)
    assert str(Search.write(catalog, tmp_path / "large")["index"]).startswith("ivf")


def test_workers_change_no_byte(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: dict[str, str]
) -> None:
    monkeypatch.setattr("ecom_rlve.catalog.search.bags._CHUNK", 61)
    monkeypatch.setattr("ecom_rlve.catalog.search.stages._LOCAL_CHUNK", 57)
    Search.write(catalog, tmp_path, index="ivf", workers=3)
    assert digest(tmp_path) == whole


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("at", [0, 1, 2, 4, 6, 8, 10, 11])
def test_a_build_that_was_interrupted_goes_on_and_gives_the_same_bytes(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: dict[str, str], at: int
) -> None:
    monkeypatch.setattr("ecom_rlve.catalog.search.stages._LOCAL_CHUNK", 64)
    steps: list[tuple[str, int, int]] = []

    def interrupt(*step: object) -> None:
        if len(steps) == at:
            raise Killed
        steps.append(step)  # type: ignore[arg-type]  # a stage, a number and a total

    with pytest.raises(Killed):
        Search.write(catalog, tmp_path, index="ivf", progress=interrupt)
    with pytest.raises(IndexMismatchError, match="no finished search index"):
        Search.open(catalog, tmp_path)
    heard: list[tuple[str, int, int]] = []
    Search.write(catalog, tmp_path, index="ivf", progress=lambda *step: heard.append(step))
    assert digest(tmp_path) == whole
    finished = {stage for stage, done, total in steps[:-1] if done == total and stage in ("embedder", "flat", "lists")}
    assert not finished & {stage for stage, _, _ in heard}


@pytest.mark.slow
def test_a_build_that_was_killed_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from ecom_rlve.catalog.search.search import Search\n"
        "from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog\n"
        "Search.write(synthetic_catalog(3_000), Path(sys.argv[1]), index='ivf', workers=2)\n"
    )
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "whole")], check=True)
    duration = time.monotonic() - start
    for number in range(10):
        process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path / "cut")])
        time.sleep(duration * (0.2 + 0.08 * number))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "cut")], check=True)
    assert digest(tmp_path / "cut") == digest(tmp_path / "whole")


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


@pytest.mark.parametrize(
    ("file", "harm", "message"),
    [
        ("flat.faiss", truncate, "bytes, not"),
        ("bag_numbers.npy", truncate, "bytes, not"),
        ("word_hashes.npy", Path.unlink, "word_hashes"),
        ("manifest.json", Path.unlink, "no finished search index"),
        ("manifest.json", lambda path: path.write_text("{"), "no readable"),
        ("manifest.json", lambda path: path.write_text('{"files": 3}'), "no readable"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused(
    catalog: Catalog, tmp_path: Path, file: str, harm: Callable[[Path], object], message: str
) -> None:
    Search.write(catalog, tmp_path)
    harm(tmp_path / "search" / file)
    with pytest.raises(IndexMismatchError, match=message) as caught:
        Search.open(catalog, tmp_path)
    assert "build it" in str(caught.value)


def test_an_index_of_another_catalog_is_refused(written: Path) -> None:
    with pytest.raises(IndexMismatchError, match="has the catalog"):
        Search.open(synthetic_catalog(SIZE, seed=1), written)


def test_another_catalog_takes_the_folder_over(catalog: Catalog, tmp_path: Path) -> None:
    Search.write(catalog, tmp_path, index="ivf")
    other = synthetic_catalog(SIZE, seed=1)
    Search.write(other, tmp_path)
    assert pages(Search.open(other, tmp_path)) == pages(Search.build(other))
    assert not (tmp_path / "search" / "lists.faiss").exists()


@pytest.mark.parametrize(("name", "value"), [("embedder", "word2vec"), ("index", "hnsw")])
def test_what_does_not_exist_is_refused_with_what_does(catalog: Catalog, tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(CatalogError, match=f"'{value}' is no {name}; there are"):
        Search.write(catalog, tmp_path, **{name: value})  # type: ignore[arg-type]  # the keyword is a parameter of the test
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CatalogError, match=r"cannot be written to .*make room or choose another folder"):
        Search.write(catalog, tmp_path / "file")


def test_a_worker_that_fails_is_heard(catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ecom_rlve.catalog.search.bags._CHUNK", 61)
    monkeypatch.setattr("ecom_rlve.catalog.search.bags.split_words", lambda *_: os._exit(7))
    with pytest.raises(CatalogError, match="exit code 7"):
        Search.write(catalog, tmp_path, workers=2)


def test_what_a_kill_right_after_the_manifest_left_is_removed(tmp_path: Path) -> None:
    catalog = synthetic_catalog(40, 0)
    facts = Search.write(catalog, tmp_path)
    whole = sorted(path.name for path in (tmp_path / "search").iterdir())
    (tmp_path / "search" / "unfinished.json").write_text("{}")
    assert Search.write(catalog, tmp_path) == facts
    assert sorted(path.name for path in (tmp_path / "search").iterdir()) == whole
