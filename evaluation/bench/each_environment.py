"""A worker that measures a reset and a step of every environment, on catalogs of several sizes, without a network.

    python -m ecom_rlve.evaluation.bench.each_environment --sizes 1000,2000,100000 --rounds 5 --episodes 100

The steps are those of the environment's own solution. Sizes take turns within a round. A catalog that is too small for
an environment is left out there; the others are measured at the difficulties that the smallest of them can serve.
Prints a JSON list of costs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Annotated

import typer

from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import calm_garbage_collection

_LEVELS = (0, 3, 6, 9, 12)
# Far beyond the seeds that are measured.
_WARM_SEEDS = 2**40


@dataclass(frozen=True, slots=True)
class Cost:
    """One round of one environment on one catalog; times are CPU microseconds, medians over the round's episodes."""

    env_id: str
    products: int
    levels: tuple[int, ...]
    """Difficulties that were measured in turns."""
    reset_us: float
    step_us: float


def _reset(shop: Shop, spec: EpisodeSpec) -> tuple[Episode, float]:
    start = time.process_time_ns()
    episode = Episode(shop, spec, "bench")
    return episode, (time.process_time_ns() - start) / 1000


def _steps(episode: Episode) -> list[float]:
    """Play an episode's solution to its end and return what each step cost."""
    costs, is_done = [], False
    while not is_done:
        action = episode.solve()
        start = time.process_time_ns()
        is_done = episode.step(action).done
        costs.append((time.process_time_ns() - start) / 1000)
    return costs


def cost(shop: Shop, env_id: str, levels: Sequence[int], episodes: int, first_seed: int) -> Cost:
    """Measure one round: ``episodes`` episodes with seeds from ``first_seed`` on, after others to warm up."""
    for at in range(max(1, episodes // 5)):
        episode, _ = _reset(shop, EpisodeSpec(env_id, levels[at % len(levels)], _WARM_SEEDS + first_seed + at))
        _steps(episode)
    resets, steps = [], []
    for at in range(episodes):
        episode, reset_us = _reset(shop, EpisodeSpec(env_id, levels[at % len(levels)], first_seed + at))
        resets.append(reset_us)
        steps += _steps(episode)
    return Cost(env_id, shop.catalog.size, tuple(levels), median(resets), median(steps))


def _served(env: Environment, shops: Sequence[Shop]) -> tuple[list[Shop], list[int]]:
    """Return the shops that an environment can use, and the levels that all of these have."""
    most = {shop.catalog.size: env.max_difficulty(shop) for shop in shops}
    served = [shop for shop in shops if most[shop.catalog.size] >= 0]
    return served, [level for level in _LEVELS if all(level <= most[shop.catalog.size] for shop in served)]


def main(
    sizes: Annotated[str, typer.Option(help="Comma-separated numbers of products, ascending.")],
    rounds: Annotated[int, typer.Option(min=1)],
    episodes: Annotated[int, typer.Option(min=1, help="Episodes in a round.")],
) -> None:
    """Measure and print the costs as JSON."""
    shops = [Shop.open(f"synthetic:{size}:0") for size in sizes.split(",")]
    calm_garbage_collection()
    costs = []
    for env in environments().values():
        served, levels = _served(env, shops)
        for number in range(rounds):
            costs += [cost(shop, env.about.id, levels, episodes, first_seed=number * episodes) for shop in served]
    print(json.dumps([asdict(each) for each in costs]))


if __name__ == "__main__":
    typer.run(main)
