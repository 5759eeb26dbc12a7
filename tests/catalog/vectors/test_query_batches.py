"""Queries of several threads are encoded together, each once, and errors reach all who asked."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from ecom_rlve.catalog.vectors.query_batches import QueryBatches

NEVER_S = 120.0
"""After which a test gives up on another thread; none of them takes a part of it."""


class Model:
    """Encodes a text as its length; holds its first batch until told to go on."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.is_busy, self.may_go_on = threading.Event(), threading.Event()

    def encode(self, queries: Sequence[str]) -> list[np.ndarray]:
        self.batches.append(list(queries))
        if len(self.batches) == 1:
            self.is_busy.set()
            assert self.may_go_on.wait(NEVER_S)
        if "bad" in queries:
            raise ValueError("a bad query")
        return [np.array([len(query)], dtype=np.float32) for query in queries]


def ask_all(queries: Sequence[str], most: int) -> tuple[Model, dict[int, object]]:
    """Ask for the first query, and for the others while the model is busy with it."""
    model = Model()
    batches = QueryBatches(model.encode, most)
    answers: dict[int, object] = {}
    waiting = threading.Semaphore(0)

    def ask(number: int) -> None:
        waiting.release()
        try:
            answers[number] = batches.vector(queries[number])[0]
        except ValueError as error:
            answers[number] = str(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(queries))]
    threads[0].start()
    assert model.is_busy.wait(NEVER_S)
    for thread in threads[1:]:
        thread.start()
    for _ in threads:
        assert waiting.acquire(timeout=NEVER_S)
    while len(batches.waiting()) < len(set(queries[1:])):
        pass
    model.may_go_on.set()
    for thread in threads:
        thread.join(NEVER_S)
    return model, answers


def test_what_is_asked_while_the_model_is_busy_is_encoded_together() -> None:
    queries = ["a", *("b" * number for number in range(2, 12))]
    model, answers = ask_all(queries, most=8)
    assert answers == {number: len(query) for number, query in enumerate(queries)}
    assert [len(batch) for batch in model.batches] == [1, 8, 2]


def test_equal_queries_are_encoded_once() -> None:
    model, answers = ask_all(["a", "bb", "bb", "bb", "ccc"], most=8)
    assert answers == {0: 1, 1: 2, 2: 2, 3: 2, 4: 3}
    assert sorted(query for batch in model.batches for query in batch) == ["a", "bb", "ccc"]


def test_an_error_reaches_all_of_the_batch_and_no_other() -> None:
    model, answers = ask_all(["a", "bad", "cc"], most=8)
    assert answers == {0: 1, 1: "a bad query", 2: "a bad query"}
    assert len(model.batches) == 2


def test_a_lone_query_waits_for_nothing() -> None:
    model = Model()
    model.may_go_on.set()
    batches = QueryBatches(model.encode, 4)
    assert [batches.vector(query)[0] for query in ("a", "bb", "a")] == [1, 2, 1]
    with pytest.raises(ValueError, match="bad"):
        batches.vector("bad")
    assert batches.vector("dddd")[0] == 4
