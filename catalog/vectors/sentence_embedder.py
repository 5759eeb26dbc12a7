"""Any model of sentence-transformers as an embedder: ``st:MODEL``, a name on the Hugging Face hub or a folder.

Models compute in floating point. So unlike those of the local embedder, vectors may differ in single elements between
machines, devices and library versions. On one machine a query always has the vector that it has when encoded alone,
whatever it is batched with. Batching moves an element by at most 2.5e-5 before rounding (measured: MiniLM, batches of 3
to 64). If an element is nearer than 8 times that to the border between two whole numbers, the query is encoded again,
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.catalog.vectors.query_batches import QueryBatches
from ecom_rlve.catalog.vectors.scaling import LENGTH

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PREFIX = "st:"
# The margin below was measured for batches of up to 64.
_DOCUMENT_BATCH = 64
_QUERY_BATCH = 64
_MARGIN = 2e-4
"""Distance from a rounding border, in units of an element, beyond which batching cannot change an element."""


class SentenceEmbedder:
    """Embeds products and queries with a sentence-transformers model; see the module's text."""

    libraries: ClassVar[list[str]] = ["sentence-transformers", "torch", "transformers"]
    """Distributions on which vectors depend."""

    def __init__(self, model: SentenceTransformer) -> None:
        self._model = model
        self.dimensions = int(model.get_embedding_dimension() or 0)
        # Half precision is too coarse for the margin; such a model encodes its queries one by one.
        is_exact = next(model.parameters()).element_size() >= np.dtype(np.float32).itemsize
        self._batches = QueryBatches(self._encoded, _QUERY_BATCH if is_exact else 1)

    @classmethod
    def load(cls, spec: str, device: str | None = None) -> SentenceEmbedder:
        """Load ``st:MODEL`` onto a device (None: a GPU where there is one), in half precision on CUDA.

        Raises :class:`CatalogError` where the package or the model is missing.
        """
        name = spec.removeprefix(PREFIX)
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise CatalogError(
                f"the embedder {spec} needs sentence-transformers ({error}); pip install 'ecom-rlve[sentence]'"
            ) from error
        try:
            model = SentenceTransformer(name, device=device)
        except (OSError, ValueError, RuntimeError) as error:
            raise CatalogError(
                f"the model {name!r} cannot be loaded: {_first_line(error)}; check its name, and without a network "
                "give the folder that holds it"
            ) from error
        if model.device.type == "cuda":
            model.half()
        return cls(model)

    def encode(self, query: str) -> NDArray[np.float32]:
        """Return the vector of a query, shape (dimensions,); zero for a blank query. Waits for no other query."""
        if not query.strip():
            return np.zeros(self.dimensions, dtype=np.float32)
        return self._batches.vector(query)

    def embed(self, documents: Sequence[str]) -> NDArray[np.int8]:
        """Return the vectors of documents, shape (documents, dimensions)."""
        vectors = self._model.encode_document(list(documents), batch_size=_DOCUMENT_BATCH, **_OPTIONS)
        return np.asarray(np.rint(_at_length(vectors)), dtype=np.int8)

    def _encoded(self, queries: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors that queries have when encoded alone."""
        raw = _at_length(self._model.encode_query(list(queries), batch_size=_QUERY_BATCH, **_OPTIONS))
        vectors = np.rint(raw)
        if len(queries) > 1:
            is_near = (np.abs(raw - np.floor(raw) - 0.5) < _MARGIN).any(axis=1)
            for at in np.flatnonzero(is_near).tolist():
                vectors[at] = self._encoded([queries[at]])[0]
        return list(vectors)


_OPTIONS: dict[str, Any] = {"normalize_embeddings": True, "convert_to_numpy": True, "show_progress_bar": False}


def _at_length(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Return normalised vectors at the length LENGTH."""
    return vectors.astype(np.float32) * np.float32(LENGTH)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
