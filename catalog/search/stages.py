"""From a catalog to what a search needs: words, embedder, vectors, index. A killed build keeps its finished stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.columns.vocabulary import Vocabulary
from ecom_rlve.catalog.columns.words import Bags
from ecom_rlve.catalog.errors import CatalogError, IndexMismatchError
from ecom_rlve.catalog.search.bags import read_bags, searched_texts
from ecom_rlve.catalog.search.folder import Facts, Place, SealedFolder
from ecom_rlve.catalog.search.forked import over_ranges, ranges
from ecom_rlve.catalog.search.postings import Postings
from ecom_rlve.catalog.vectors.embedders import LocalEmbedder, Projection, QueryEmbedder, embedded
from ecom_rlve.catalog.vectors.index import FlatIndex, VectorIndex, flat_index
from ecom_rlve.catalog.vectors.inverted_index import InvertedIndex, clustered, inverted_lists
from ecom_rlve.catalog.vectors.recall import probes_for, queries_from_titles
from ecom_rlve.catalog.vectors.sentence_embedder import PREFIX, SentenceEmbedder

LOCAL = "local"
FLAT, INVERTED = "flat", "ivf"
FLAT_MOST = 200_000
"""With so many products or fewer, exact search costs at most about 2 ms."""
SCAFFOLDING = ("word_vectors", "vectors")
"""Arrays that only the build needs."""
Progress = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done and how much there is."""
_FORMAT = 4
"""Goes up when the same catalog would give other arrays."""
_LOCAL_CHUNK = 16_384
_SENTENCE_CHUNK = 1_024
"""Products embedded at a time; after a kill, those of an unfinished chunk are embedded again."""


@dataclass(frozen=True)
class Parts:
    """What a search consists of, apart from its catalog."""

    bags: Bags
    postings: Postings
    embedder: QueryEmbedder
    index: VectorIndex
    orders: Mapping[str, tuple[NDArray[np.int32], NDArray[np.int32]]]
    """For each sort key all rows in order, and the place of each row in it."""


def identity_of(catalog: Catalog, embedder: str = LOCAL, index: str = "auto") -> Facts:
    """Return everything on which the arrays depend; also libraries, whose next version may fit differently.

    Raises :class:`CatalogError` for an embedder or index that does not exist.
    """
    if embedder != LOCAL and not embedder.startswith(PREFIX):
        raise CatalogError(
            f"{embedder!r} is no embedder; there are {LOCAL!r} and '{PREFIX}MODEL' (sentence-transformers)"
        )
    if index not in ("auto", FLAT, INVERTED):
        raise CatalogError(
            f"{index!r} is no index; there are 'auto', {FLAT!r} (exact) and {INVERTED!r} (inverted file)"
        )
    if index == "auto":
        index = FLAT if catalog.size <= FLAT_MOST else INVERTED
    names = ["faiss-cpu", "numpy", "scipy", "scikit-learn"]
    if embedder != LOCAL:
        names += SentenceEmbedder.libraries
    libraries = {name: version(name) for name in names}
    return {"catalog": catalog.fingerprint, "format": _FORMAT, "embedder": embedder, "index": index, **libraries}


def build(
    catalog: Catalog, place: Place, identity: Facts, workers: int = 1, progress: Progress | None = None
) -> tuple[Parts, Facts]:
    """Make everything that ``place`` lacks; return the parts, and the facts for a manifest."""
    steps = _Build(catalog, place, workers, progress or _unheard)
    bags = steps.words()
    postings = steps.postings(bags)
    embedder = steps.embedder(bags, str(identity["embedder"]))
    steps.vectors(bags, embedder)
    steps.orders()
    index, recall = steps.index(embedder, is_flat=identity["index"] == FLAT)
    parts = Parts(bags, postings, embedder, index, _orders(place.arrays))
    facts: Facts = {
        "embedder": identity["embedder"],
        "index": f"ivf{index.lists}" if isinstance(index, InvertedIndex) else FLAT,
        "dimensions": embedder.dimensions,
        "words": len(bags.vocabulary),
        "recall_at_20": f"{recall:.4f}",
        **{name: value for name, value in identity.items() if name not in ("catalog", "embedder", "index")},
    }
    return parts, facts


def opened(catalog: Catalog, folder: SealedFolder) -> Parts:
    """Return what was built before; raises :class:`IndexMismatchError` if it belongs to another catalog."""
    identity, arrays = folder.identity, folder.arrays
    for name, wanted in (("catalog", catalog.fingerprint), ("format", _FORMAT)):
        if identity.get(name) != wanted:
            raise IndexMismatchError(
                f"the search index has the {name} {identity.get(name)}, not {wanted}; build it again"
            )
    try:
        bags = Bags(Vocabulary.from_arrays(arrays), arrays)
        embedder: QueryEmbedder
        if identity["embedder"] == LOCAL:
            embedder = LocalEmbedder(Projection(arrays["places"], arrays["rows"]), bags.vocabulary)
        else:
            embedder = SentenceEmbedder.load(str(identity["embedder"]))
        flat = FlatIndex(folder.index("flat"), catalog.fingerprint)
        index = flat if identity["index"] == FLAT else _inverted(folder, flat, arrays["probes"])
        return Parts(bags, Postings(bags, arrays), embedder, index, _orders(arrays))
    except KeyError as error:
        raise IndexMismatchError(f"the search index lacks {error}; build it again") from error


def _inverted(place: Place | SealedFolder, flat: FlatIndex, probes: NDArray[np.int32]) -> InvertedIndex:
    arrays = place.arrays
    return InvertedIndex(place.index("lists"), flat, arrays["centroids"], arrays["list_of_row"], int(probes[0]))


def _orders(arrays: Mapping[str, NDArray[Any]]) -> dict[str, tuple[NDArray[np.int32], NDArray[np.int32]]]:
    return {key: (arrays[f"order_{key}"], arrays[f"place_{key}"]) for key in _SORT_KEYS}


class _Build:
    """The stages; a finished stage is skipped."""

    def __init__(self, catalog: Catalog, place: Place, workers: int, progress: Progress) -> None:
        self._catalog, self._place, self._workers, self._progress = catalog, place, workers, progress

    def words(self) -> Bags:
        """Read the products' words."""
        place = self._place
        if not place.has("words"):
            bags = read_bags(self._catalog, self._workers, lambda done, total: self._progress("words", done, total))
            for name, values in {**bags.vocabulary.arrays, **bags.arrays}.items():
                place.keep(name, values)
            place.finish("words")
        return Bags(Vocabulary.from_arrays(place.arrays), place.arrays)

    def postings(self, bags: Bags) -> Postings:
        """Turn the products' words round."""
        place = self._place
        if not place.has("postings"):
            for name, values in Postings.arrays_of(bags).items():
                place.keep(name, values)
            place.finish("postings")
        return Postings(bags, place.arrays)

    def embedder(self, bags: Bags, spec: str) -> LocalEmbedder | SentenceEmbedder:
        """Fit the local embedder, or load another."""
        place = self._place
        if spec != LOCAL:
            return SentenceEmbedder.load(spec)
        if not place.has("embedder"):
            self._progress("embedder", 0, 1)
            fitted = LocalEmbedder.fit(bags)
            place.keep("places", fitted.projection.places)
            place.keep("rows", fitted.projection.rows)
            fitted.write_word_vectors(place.create("word_vectors", (len(bags.vocabulary), fitted.dimensions), np.int32))
            place.finish("embedder")
            self._progress("embedder", 1, 1)
        return LocalEmbedder(Projection(place.arrays["places"], place.arrays["rows"]), bags.vocabulary)

    def vectors(self, bags: Bags, embedder: LocalEmbedder | SentenceEmbedder) -> None:
        """Embed all products."""
        place, catalog = self._place, self._catalog
        if place.has("vectors"):
            return
        if isinstance(embedder, LocalEmbedder):
            words = place.arrays["word_vectors"]
            embed, chunk, workers = lambda *rows: embedded(bags, words, *rows), _LOCAL_CHUNK, self._workers
        else:
            embed, chunk, workers = lambda *rows: embedder.embed(_documents(catalog, *rows)), _SENTENCE_CHUNK, 1
        done = place.rows_done()
        vectors = place.create("vectors", (catalog.size, embedder.dimensions), np.int8)
        parts = ranges(done, catalog.size, chunk)
        for (start, stop), part in zip(parts, over_ranges(embed, parts, workers), strict=True):
            vectors[start:stop] = part
            place.mark_rows(stop)
            self._progress("vectors", stop, catalog.size)
        place.finish("vectors")

    def orders(self) -> None:
        """Sort all products by each sort key."""
        place = self._place
        if place.has("orders"):
            return
        for key, values in _SORT_KEYS.items():
            rows = np.argsort(values(self._catalog), kind="stable").astype(np.int32)  # NaN, unknown, sorts last.
            places = np.empty_like(rows)
            places[rows] = np.arange(len(rows), dtype=np.int32)
            place.keep(f"order_{key}", rows)
            place.keep(f"place_{key}", places)
        place.finish("orders")

    def index(self, embedder: QueryEmbedder, is_flat: bool) -> tuple[VectorIndex, float]:
        """Index the vectors; return the index and its recall."""
        place = self._place
        vectors = place.arrays["vectors"]
        if not place.has("flat"):
            self._progress("flat", 0, 1)
            place.keep_index("flat", flat_index(vectors))
            place.finish("flat")
            self._progress("flat", 1, 1)
        flat = FlatIndex(place.index("flat"), self._catalog.fingerprint)
        if is_flat:
            return flat, 1.0
        self._lists(vectors)
        if not place.has("probes"):
            queries = np.array([embedder.encode(query) for query in queries_from_titles(self._catalog)])
            probes, recall = probes_for(_inverted(place, flat, np.ones(1, dtype=np.int32)), flat, queries)
            place.keep("probes", np.array([probes], dtype=np.int32))
            place.keep("recall", np.array([recall]))
            place.finish("probes")
        return _inverted(place, flat, place.arrays["probes"]), float(place.arrays["recall"][0])

    def _lists(self, vectors: NDArray[np.int8]) -> None:
        place = self._place
        if not place.has("clusters"):
            centroids, list_of_row = clustered(
                vectors, self._workers, lambda done, total: self._progress("clusters", done, total)
            )
            place.keep("centroids", centroids)
            place.keep("list_of_row", list_of_row)
            place.finish("clusters")
        if not place.has("lists"):
            self._progress("lists", 0, 1)
            centroids, list_of_row = place.arrays["centroids"], place.arrays["list_of_row"]
            place.keep_index("lists", inverted_lists(vectors, len(centroids), list_of_row))
            place.finish("lists")
            self._progress("lists", 1, 1)


def _unheard(_stage: str, _done: int, _total: int) -> None:
    """Report nothing."""


def _documents(catalog: Catalog, start: int, stop: int) -> list[str]:
    """Return the products of a range of rows as texts for a language model."""
    return [
        ". ".join(text for text in (each.title, each.brand, *each.kind, *each.values, *each.features) if text)
        for each in searched_texts(catalog, start, stop)
    ]


def _known_prices(catalog: Catalog) -> NDArray[np.float64]:
    prices = catalog.column("price")
    values = prices.values.astype(np.float64)
    return values if prices.is_floor is None else np.where(prices.is_floor, np.nan, values)


_SORT_KEYS: dict[str, Callable[[Catalog], NDArray[np.float64]]] = {
    "price_asc": _known_prices,
    "rating_desc": lambda catalog: -catalog.column("rating").values.astype(np.float64),
    "ship_days_asc": lambda catalog: catalog.column("ship_days").values.astype(np.float64),
}
"""What each sort key sorts by, smallest first."""
