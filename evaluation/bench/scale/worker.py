"""A worker that opens a built catalog as a server's worker does, and measures resets and searches on it.

    python -m ecom_rlve.evaluation.bench.scale.worker STORE --first-seed 0

Prints a :class:`WorkerSample` as one line of JSON, then waits until its input ends, so that its memory can be read.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import chain, count, cycle
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np
import typer

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tools.catalog import SearchArgs, filter_constraints, filtered_rows
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.bench.scale.raw_faiss import Passing, RawFaiss
from ecom_rlve.evaluation.bench.scale.sample import EnvironmentSample, SearchSample, Spread, WorkerSample
from ecom_rlve.server.app import calm_garbage_collection

_DIFFICULTIES = (0, 3, 6, 9, 12)
_WARM_SEEDS, _OTHER_SEEDS = 2**40, 2**41
_LONG = (("t_max", 1000.0), ("b_tool", 1.0))
_FIRST = 20
"""Recall is measured on so many results."""
_FETCHED = 128
"""A search fetches so many rows to order them with those that words find."""
_RECALLED = 50
"""So many searches with each kind of filter are compared with exact ones."""

Filters = Callable[[Shop, int], dict[str, Any]]


def _of_category(shop: Shop, row: int) -> dict[str, Any]:
    return {"category": shop.catalog.category_of(row).name}


def _of_brand(shop: Shop, row: int) -> dict[str, Any]:
    brand = shop.catalog.value(row, "brand")
    return {**_of_category(shop, row), **({} if brand is None else {"brand": brand})}


FILTERS: dict[str, Filters] = {
    "none": lambda _shop, _row: {},
    "broad: in stock, within 5 days": lambda _shop, _row: {"in_stock": True, "ship_days_max": 5},
    "selective: category": _of_category,
    "selective: category and brand": _of_brand,
}
"""Arguments of ``catalog_search`` besides its query, for a wanted product."""


def _levels(env_id: str, shop: Shop) -> list[int]:
    most = environments()[env_id].max_difficulty(shop)
    return [d for d in _DIFFICULTIES if d <= most]


def _drawn(shop: Shop, env_id: str, levels: list[int], seed: int) -> Episode | None:
    try:
        return Episode(shop, EpisodeSpec(env_id, levels[seed % len(levels)], seed), "bench")
    except GenerationError:
        return None


def _cpu_ms() -> float:
    return time.process_time_ns() / 1e6


def _resets(shop: Shop, env_id: str, seeds: range) -> list[float]:
    levels = _levels(env_id, shop)
    for seed in range(_WARM_SEEDS + seeds.start, _WARM_SEEDS + seeds.start + len(seeds) // 4):
        _drawn(shop, env_id, levels, seed)
    costs = []
    for seed in seeds:
        start = _cpu_ms()
        _drawn(shop, env_id, levels, seed)
        costs.append(_cpu_ms() - start)
    return costs


def _played_ms(episode: Episode) -> float:
    """Play an episode with its environment's own solution and return what its steps cost."""
    cost = 0.0
    while not episode.done:
        action = episode.solve()
        # The solution has looked which search shows what it wants; the step shall not find that done.
        episode.intent.world.pages.clear()
        start = _cpu_ms()
        episode.step(action)
        cost += _cpu_ms() - start
    return cost


def _episodes_per_s(shop: Shop, env_id: str, seeds: range) -> float:
    levels = _levels(env_id, shop)
    cost, played = 0.0, 0
    for seed in seeds:
        start = _cpu_ms()
        episode = _drawn(shop, env_id, levels, seed)
        cost += _cpu_ms() - start
        if episode is not None:
            cost += _played_ms(episode)
            played += 1
    return 1000 * played / cost


def _environments(shop: Shop, resets: int, episodes: int, first_seed: int) -> Iterator[EnvironmentSample]:
    for env_id, each in environments().items():
        if _levels(env_id, shop):
            costs = _resets(shop, env_id, range(first_seed, first_seed + resets))
            rate = _episodes_per_s(shop, env_id, range(first_seed, first_seed + episodes))
            yield EnvironmentSample(env_id, each.max_difficulty(shop), Spread.of(costs), rate)


def _queries(shop: Shop, number: int, first_seed: int) -> dict[str, list[dict[str, Any]]]:
    """Return arguments of searches by kind of filter: first messages of customers, and filters that their wishes pass.

    No two queries are equal.
    """
    asked: dict[str, list[dict[str, Any]]] = {name: [] for name in FILTERS}
    for name, seed in zip(cycle(FILTERS), count(first_seed), strict=False):
        if len(asked[name]) == number:
            return asked
        episode = _drawn(shop, "PD", [0], seed)
        while episode is None:
            seed += _OTHER_SEEDS
            episode = _drawn(shop, "PD", [0], seed)
        filters = FILTERS[name](shop, int(episode.intent.goal.wanted))
        asked[name].append({"query": episode.opening.user_message, **filters})
    return asked


def _passing(shop: Shop, args: dict[str, Any]) -> Passing | None:
    """Return the products that pass the filters of a search, None if it has none."""
    rows = filtered_rows(shop, filter_constraints(SearchArgs.model_validate(args)))
    return None if rows is None else Passing(rows, shop.catalog.size)


def _step_ms(episode: Episode, args: dict[str, Any]) -> float:
    action = {"tool_calls": [{"name": "catalog_search", "args": args}]}
    start = _cpu_ms()
    answer = episode.step(action)
    cost = _cpu_ms() - start
    assert answer.tool_results[0].error is None, answer.tool_results[0]
    return cost


def _raw_ms(shop: Shop, raw: RawFaiss, args: dict[str, Any], passing: Passing | None) -> float:
    vector = shop.search.embedder.encode(args["query"])
    start = _cpu_ms()
    raw.search(vector, _FETCHED, passing)
    return _cpu_ms() - start


def _recall(shop: Shop, raw: RawFaiss, args: dict[str, Any], passing: Passing | None) -> float:
    index, vector = shop.search.index, shop.search.embedder.encode(args["query"])
    exact = raw.exact(vector, _FIRST, passing)
    found = index.search(vector, _FIRST) if passing is None else index.search_subset(vector, passing.rows, _FIRST)
    return len(np.intersect1d(exact, found)) / max(1, len(exact))


def _compared(shop: Shop, raw: RawFaiss, asked: dict[str, list[dict[str, Any]]], seed: int) -> list[SearchSample]:
    """Measure each search as a step, and right after it with FAISS alone; kinds of filters take turns."""
    episode = Episode(shop, EpisodeSpec("CART", 0, seed, axes=_LONG), "bench")
    steps: dict[str, list[float]] = {name: [] for name in asked}
    bare: dict[str, list[float]] = {name: [] for name in asked}
    counts: dict[str, list[int]] = {name: [] for name in asked}
    for turn in zip(*asked.values(), strict=True):
        for name, args in zip(asked, turn, strict=True):
            passing = _passing(shop, args)
            steps[name].append(_step_ms(episode, args))
            bare[name].append(_raw_ms(shop, raw, args, passing))
            counts[name].append(shop.catalog.size if passing is None else len(passing.rows))
    # Exact search reads all vectors, so it comes last: it pushes everything else out of the processor's caches.
    recalls = {
        name: fmean(_recall(shop, raw, args, _passing(shop, args)) for args in searches[:_RECALLED])
        for name, searches in asked.items()
    }
    return [
        SearchSample(name, fmean(counts[name]), Spread.of(steps[name]), Spread.of(bare[name]), recalls[name])
        for name in asked
    ]


def measured(
    store: Path, resets: int, searches: int, episodes: int, first_seed: int, *, is_compared: bool
) -> WorkerSample:
    """Open a catalog's folder and measure. ``is_compared``: compare searches with FAISS, else only make them."""
    start = time.perf_counter()
    shop = Shop.open(str(store))
    opened = time.perf_counter()
    for each in environments().values():
        each.max_difficulty(shop)
    levels_s = time.perf_counter() - opened
    calm_garbage_collection()
    samples = list(_environments(shop, resets, episodes, first_seed))
    asked = _queries(shop, searches, first_seed)
    compared: list[SearchSample] = []
    if is_compared:
        compared = _compared(shop, RawFaiss(store / "search"), asked, first_seed)
    else:
        episode = Episode(shop, EpisodeSpec("CART", 0, first_seed, axes=_LONG), "bench")
        for args in chain.from_iterable(asked.values()):
            _step_ms(episode, args)
    sizes = shop.catalog.size, len(shop.catalog.categories)
    return WorkerSample(*sizes, opened - start, levels_s, samples, compared)


def main(
    store: Annotated[Path, typer.Argument(help="Folder of a built catalog.")],
    resets: Annotated[int, typer.Option(min=4)],
    searches: Annotated[int, typer.Option(min=1)],
    episodes: Annotated[int, typer.Option(min=1)],
    first_seed: Annotated[int, typer.Option(min=0)],
    compare: Annotated[bool, typer.Option(help="Set searches beside FAISS alone.")] = False,
) -> None:
    """Measure, print, and wait."""
    sample = measured(store, resets, searches, episodes, first_seed, is_compared=compare)
    print(json.dumps(asdict(sample)), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    typer.run(main)
