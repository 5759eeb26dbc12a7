import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.words import Bags
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.bags import read_bags
from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog
from ecom_rlve.catalog.vectors import embedders
from ecom_rlve.catalog.vectors.embedders import LocalEmbedder, embedded
from ecom_rlve.catalog.vectors.scaling import LENGTH, scaled
from ecom_rlve.streams import stream

LAMPS = Category("floor lamps", ("Home", "Lamps", "Floor lamps"), "floor lamp", "floor lamps", "color")


def lamp(number: int, title: str, **attributes: str) -> Product:
    return Product(f"p{number}", title, LAMPS.name, brand="Lumo", price_cents=4711, attributes=attributes)


def fit(catalog: Catalog) -> tuple[Bags, LocalEmbedder, np.ndarray]:
    bags = read_bags(catalog)
    embedder = LocalEmbedder.fit(bags)
    word_vectors = np.empty((len(bags.vocabulary), embedder.dimensions), dtype=np.int32)
    embedder.write_word_vectors(word_vectors)
    return bags, embedder, embedded(bags, word_vectors, 0, bags.size)


@pytest.fixture(scope="module")
def fitted() -> tuple[Bags, LocalEmbedder, np.ndarray]:
    return fit(synthetic_catalog(200))


def test_variant_values_and_prices_are_not_embedded() -> None:
    bags = read_bags(Catalog.from_products([lamp(1, "Arc", color="teal", material="brushed steel")], [LAMPS]))
    assert set(bags.vocabulary) == {"arc", "floor", "lamp", "lumo", "brushed", "steel", "=floor lamp", "~lamp"}


def test_vectors_hold_bounded_integers_of_one_length(fitted: tuple[Bags, LocalEmbedder, np.ndarray]) -> None:
    _, embedder, vectors = fitted
    assert vectors.dtype == np.int8
    assert vectors.shape == (200, embedder.dimensions)
    assert np.abs(vectors.astype(int)).max() <= LENGTH
    assert np.abs(np.linalg.norm(vectors.astype(int), axis=1) - LENGTH).max() < np.sqrt(embedder.dimensions) / 2


def test_inner_products_are_exact_in_every_order(fitted: tuple[Bags, LocalEmbedder, np.ndarray]) -> None:
    _, embedder, vectors = fitted
    query = embedder.encode("blue lamp cotton")
    exact = vectors.astype(np.int64) @ query.astype(np.int64)
    vectors = vectors.astype(np.float32)
    for number in range(5):
        order = stream(number, "accumulation order").permutation(embedder.dimensions)
        summed = np.add.accumulate(vectors[:, order] * query[order], axis=1, dtype=np.float32)[:, -1]
        np.testing.assert_array_equal(summed, exact)
        np.testing.assert_array_equal(vectors[:, order] @ query[order], exact)


def test_a_product_and_the_query_of_its_words_have_the_same_vector() -> None:
    lamps = [lamp(number, title) for number, title in enumerate(("arc", "tripod brass", "paper lantern", "clip on"))]
    bags, embedder, vectors = fit(Catalog.from_products(lamps, [LAMPS]))
    words = list(bags.vocabulary)
    assert bags.size == len(lamps)
    for row in range(bags.size):
        own = [words[number] for number in bags.numbers[bags.offsets[row] :][: bags.embedded[row]]]
        np.testing.assert_array_equal(embedder.encode(" ".join(own)), vectors[row])
        np.testing.assert_array_equal(embedder.encode(" ".join(own[::-1])), vectors[row])


def test_features_are_found_but_weigh_less_than_titles() -> None:
    products = [
        Product("a", "Plain", LAMPS.name, features=("dimmable",)),
        Product("b", "Dimmable", LAMPS.name, features=("foldable",)),
        *(lamp(number, title) for number, title in enumerate(("arc", "tripod", "paper"))),
    ]
    _, embedder, vectors = fit(Catalog.from_products(products, [LAMPS]))
    feature, title, *neither = vectors @ embedder.encode("dimmable")
    assert title > feature > max(neither)


def test_fits_with_one_and_two_threads_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = synthetic_catalog(500)
    _, one, vectors = fit(catalog)
    monkeypatch.setattr(embedders, "threadpool_limits", lambda _: threadpool_limits(2))
    _, two, others = fit(catalog)
    np.testing.assert_array_equal(one.projection.rows, two.projection.rows)
    np.testing.assert_array_equal(vectors, others)


def test_what_is_built_does_not_depend_on_hash_seed_and_processor_kernels(tmp_path: Path) -> None:
    program = (
        "from hashlib import blake2b\n"
        "from pathlib import Path\n"
        "import sys\n"
        "from ecom_rlve.catalog.search.search import Search\n"
        "from ecom_rlve.catalog.synthetic.shelf import synthetic_catalog\n"
        "Search.write(synthetic_catalog(200), Path(sys.argv[1]), index='ivf')\n"
        "files = sorted(Path(sys.argv[1], 'search').iterdir())\n"
        "print(blake2b(b''.join(path.read_bytes() for path in files)).hexdigest())"
    )
    # The kernel is one of OpenBLAS's for x86; elsewhere its name is ignored.
    built = []
    for number, chosen in enumerate(({}, {"PYTHONHASHSEED": "12345", "OPENBLAS_CORETYPE": "Nehalem"})):
        command = [sys.executable, "-c", program, str(tmp_path / str(number))]
        environment = {**os.environ, **chosen}
        built.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert built[0] == built[1]


def test_a_misspelt_word_lies_near_the_right_one() -> None:
    titles = ("walnut", "bamboo", "marble", "velvet", "copper", "rattan")
    _, embedder, _ = fit(Catalog.from_products([lamp(n, title) for n, title in enumerate(titles)], [LAMPS]))
    misspelt = embedder.encode("bambooo")
    scores = {title: float(embedder.encode(title) @ misspelt) for title in titles}
    assert max(scores, key=lambda title: scores[title]) == "bamboo"


def test_unknown_words_and_no_words_give_the_zero_vector() -> None:
    _, embedder, _ = fit(Catalog.from_products([lamp(1, "arc"), lamp(2, "tripod")], [LAMPS]))
    assert not embedder.encode("?!").any()
    assert not embedder.encode("缶切り").any()


@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_tiny_catalogs_fit(size: int) -> None:
    _, embedder, vectors = fit(Catalog.from_products([lamp(n, f"model {n}") for n in range(size)], [LAMPS]))
    assert vectors.shape == (size, embedder.dimensions)
    assert 1 <= embedder.dimensions <= size


def test_products_without_any_word_fit() -> None:
    nameless = Category("—", ("—",), "—", "—", "color")
    _, _, vectors = fit(Catalog.from_products([Product("a", "—", "—"), Product("b", "", "—")], [nameless]))
    assert not vectors.any()


@given(st.lists(st.integers(-(2**38), 2**38), min_size=1, max_size=8))
def test_scaling_keeps_direction_and_bound(values: list[int]) -> None:
    (row,) = scaled(np.array([values], dtype=np.int64) // 2**8)
    assert np.abs(row).max() <= LENGTH
    np.testing.assert_array_equal(
        scaled(-(np.array([values], dtype=np.int64) // 2**8)), [-row] if any(values) else [row]
    )
