"""Encoding queries of several threads together: a model takes little longer for a few than for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Encode = Callable[[Sequence[str]], Sequence[NDArray[np.float32]]]


class QueryBatches:
    """Collects queries while the model is busy. A single query does not wait."""

    def __init__(self, encode: Encode, most: int) -> None:
        """``encode`` turns at most ``most`` queries into their vectors, in order; one call of it runs at a time."""
        self._encode, self._most = encode, most
        self._waiting: dict[str, Future[NDArray[np.float32]]] = {}
        self._waiting_lock, self._model_lock = Lock(), Lock()

    def vector(self, query: str) -> NDArray[np.float32]:
        """Return the vector of one query. If several threads ask for the same one, it is encoded once."""
        with self._waiting_lock:
            future = self._waiting.setdefault(query, Future())
        while not future.done():
            with self._model_lock:
                # The thread that held the lock before may have encoded this query too.
                if not future.done():
                    self._encode_waiting()
        return future.result()

    def waiting(self) -> tuple[str, ...]:
        """Return the queries that wait for the model."""
        with self._waiting_lock:
            return tuple(self._waiting)

    def _encode_waiting(self) -> None:
        with self._waiting_lock:
            queries = list(self._waiting)[: self._most]
            futures = [self._waiting.pop(query) for query in queries]
        try:
            vectors = self._encode(queries)
        except BaseException as error:
            for future in futures:
                future.set_exception(error)
            return
        for future, vector in zip(futures, vectors, strict=True):
            future.set_result(vector)
