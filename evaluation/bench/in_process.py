"""A worker that measures resets and steps without a network, on catalogs of several sizes.

    python -m ecom_rlve.evaluation.bench.in_process --sizes 1000,10000 --rounds 9 --episodes 300

An episode is a reset, a search in the words of the customer's opening (no filter: all products are scored), a
``cart_add`` of the first result in stock and the final answer: four calls. The sizes take turns within a round, so that
other load on the machine affects all of them. Prints a JSON list of samples.

Before each measurement episodes with other seeds are played, so that what is cached in a server that has run for a
while (word vectors, instructions, patterns) is cached here too. Products that are drawn for the first time are not
cached. With many products, nearly every reset draws such a product.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from statistics import median
from typing import Annotated, Any

import typer

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.bench.sample import DIFFICULTIES, Sample
from ecom_rlve.server.app import calm_garbage_collection

# Far beyond the seeds that are measured: nothing is warm that an episode brings itself.
_WARM_SEEDS, _RESET_SEEDS = 2**40, 2**41
_VIEWS = 100
# Turns enough for every view.
_LONG = (("t_max", 1000.0),)


def _cpu_us() -> float:
    return time.process_time_ns() / 1000


def _act(name: str, **args: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": args}]}


def _reset_us(shop: Shop, spec: EpisodeSpec) -> float:
    start = _cpu_us()
    Episode(shop, spec, "bench")
    return _cpu_us() - start


def _filled(shop: Shop, spec: EpisodeSpec) -> tuple[Episode, tuple[float, float, float]]:
    """Return an episode with one product in its cart, and what reset, search and add cost."""
    start = _cpu_us()
    episode = Episode(shop, spec, "bench")
    was_reset = _cpu_us()
    found = episode.step(_act("catalog_search", query=episode.opening.user_message)).tool_results[0].result
    product_id = next(card["product_id"] for card in (found or {})["results"] if card["in_stock"])
    searched = _cpu_us()
    episode.step(_act("cart_add", product_id=product_id))
    return episode, (was_reset - start, searched - was_reset, _cpu_us() - searched)


def _played(shop: Shop, difficulty: int, seed: int) -> tuple[float, float, float, float]:
    """Play an episode and return what its four calls cost."""
    episode, costs = _filled(shop, EpisodeSpec("CART", difficulty, seed))
    start = _cpu_us()
    episode.step({"answer": {"done": True}})
    return (*costs, _cpu_us() - start)


def _view_us(shop: Shop) -> float:
    episode, _ = _filled(shop, EpisodeSpec("CART", 0, 0, axes=_LONG))
    action = _act("cart_view")
    costs = []
    for _ in range(_VIEWS):
        start = _cpu_us()
        episode.step(action)
        costs.append(_cpu_us() - start)
    return median(costs)


def sample(shop: Shop, difficulty: str, episodes: int, first_seed: int) -> Sample:
    """Measure one round: ``episodes`` episodes with seeds from ``first_seed`` on."""
    levels = DIFFICULTIES[difficulty]
    for at in range(max(1, episodes // 5)):
        _played(shop, levels[at % len(levels)], _WARM_SEEDS + first_seed + at)
    resets = [
        _reset_us(shop, EpisodeSpec("CART", levels[at % len(levels)], _RESET_SEEDS + first_seed + at))
        for at in range(episodes)
    ]
    clock, cpu = time.perf_counter(), _cpu_us()
    costs = [_played(shop, levels[at % len(levels)], first_seed + at) for at in range(episodes)]
    cpu, clock = _cpu_us() - cpu, time.perf_counter() - clock
    reset, search, add, answer = (median(kind) for kind in zip(*costs, strict=True))
    return Sample(
        products=shop.catalog.size,
        difficulty=difficulty,
        reset_us=median(resets),
        episode_reset_us=reset,
        search_us=search,
        add_us=add,
        answer_us=answer,
        view_us=_view_us(shop),
        episodes_per_cpu_s=episodes / cpu * 1e6,
        episodes_per_s=episodes / clock,
    )


def main(
    sizes: Annotated[str, typer.Option(help="Comma-separated numbers of products.")],
    rounds: Annotated[int, typer.Option(min=1)],
    episodes: Annotated[int, typer.Option(min=1, help="Episodes in a round.")],
) -> None:
    """Measure and print the samples as JSON."""
    shops = [Shop.open(f"synthetic:{size}:0") for size in sizes.split(",")]
    calm_garbage_collection()
    samples = [
        sample(shop, difficulty, episodes, first_seed=number * episodes)
        for number in range(rounds)
        for difficulty in DIFFICULTIES
        for shop in shops
    ]
    print(json.dumps([asdict(each) for each in samples]))


if __name__ == "__main__":
    typer.run(main)
