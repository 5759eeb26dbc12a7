"""FAISS alone on the vectors of a catalog's folder: the part of a search that cannot be left out.

All that can be prepared for FAISS is given to it: the query's vector, the rows that pass a filter, and for a broad
filter their bitmap.
"""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.search.folder import SealedFolder
from ecom_rlve.catalog.vectors.index import read_index
from ecom_rlve.catalog.vectors.inverted_index import EXACT_ROWS


class RawFaiss:
    """The exact index of a folder and its inverted file, if it has one, as FAISS reads them."""

    def __init__(self, folder: Path) -> None:
        """Map the files; raises :class:`IndexMismatchError` if they are no search index."""
        faiss.omp_set_num_threads(1)
        sealed = SealedFolder(folder)
        self._flat = read_index(sealed.index("flat"), faiss.IndexScalarQuantizer)
        self._lists: faiss.IndexIVFScalarQuantizer | None = None
        self._probes = 0
        if "centroids" in sealed.arrays:
            lists = read_index(sealed.index("lists"), faiss.IndexIVFScalarQuantizer)
            quantizer = faiss.IndexFlatIP(lists.d)
            quantizer.add(sealed.arrays["centroids"].astype(np.float32))
            lists.quantizer = quantizer
            self._lists, self._quantizer = lists, quantizer
            self._probes = int(sealed.arrays["probes"][0])
        size, dimensions = int(self._flat.ntotal), int(self._flat.d)
        raw = np.asarray(np.memmap(sealed.index("flat"), dtype=np.uint8, mode="r"))
        # The codes are at the end of the format.
        self._codes = raw[raw.nbytes - size * dimensions :].reshape(size, dimensions)

    def exact(self, query: NDArray[np.float32], k: int, passing: Passing | None) -> NDArray[np.int64]:
        """Return the best ``k`` of the passing rows (None: of all) by comparing every one."""
        _, rows = self._flat.search(query[None], k, params=_parameters(passing))
        return np.asarray(rows[0][rows[0] >= 0])

    def search(self, query: NDArray[np.float32], k: int, passing: Passing | None) -> NDArray[np.int64]:
        """Return the best ``k`` of the passing rows in the way that suits their number."""
        if passing is not None and len(passing.rows) <= EXACT_ROWS:
            some = faiss.IndexScalarQuantizer(self._flat.d, self._flat.sq.qtype, faiss.METRIC_INNER_PRODUCT)
            some.add_sa_codes(self._codes[passing.rows])
            _, places = some.search(query[None], min(k, len(passing.rows)))
            return np.asarray(passing.rows[places[0]])
        if self._lists is None:
            return self.exact(query, k, passing)
        parameters = faiss.SearchParametersIVF(  # type: ignore[call-arg]  # faiss adds these keywords when it is imported
            nprobe=self._probes, sel=None if passing is None else passing.selector
        )
        _, rows = self._lists.search(query[None], k, params=parameters)
        return np.asarray(rows[0])


class Passing:
    """The rows that pass a filter, as FAISS takes them."""

    def __init__(self, rows: NDArray[np.int32], size: int) -> None:
        is_wanted = np.zeros(size, dtype=np.bool_)
        is_wanted[rows] = True
        self.rows = rows
        # The selector points into the bits.
        self._bits = np.packbits(is_wanted, bitorder="little")
        self.selector = faiss.IDSelectorBitmap(len(self._bits), faiss.swig_ptr(self._bits))


def _parameters(passing: Passing | None) -> faiss.SearchParameters:
    selector = None if passing is None else passing.selector
    return faiss.SearchParameters(sel=selector)  # type: ignore[call-arg]  # faiss adds these keywords when it is imported
