"""Where a learner has something to learn from: the share of groups that are neither all right nor all wrong.

``python -m ecom_rlve.training.mixed_groups`` prints the table of docs/trainers.md. A policy is modelled by the
built-in agents: each of its rollouts is the expert's with a probability, its strength, else one of the lazy policies',
all equally likely. Every agent plays each seed once; what a group of eight such rollouts does follows exactly. It plays
in process, and the same command gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import Policies, policies_of
from ecom_rlve.evaluation.in_process import listed_of, play

GROUP = 8
STRENGTHS = (0.2, 0.5, 0.8)
DIFFICULTIES = (0, 3, 6, 9, 12)
Row = tuple[str, list[list[float]]]
"""An environment, and by difficulty the share of mixed groups for each strength."""


def mixed_share(successes: Sequence[float], group: int = GROUP) -> float:
    """Return the share of groups with 0 < correct < ``group``, given each seed's probability of a correct rollout.

    >>> mixed_share([0.0, 1.0]), round(mixed_share([0.5]), 4)
    (0.0, 0.9922)
    """
    return fmean(1 - p**group - (1 - p) ** group for p in successes)


def shares_at(shop: Shop, policies: Policies, difficulty: int, episodes: int) -> list[float]:
    """Return the share of mixed groups at a difficulty for each of :data:`STRENGTHS`."""
    right: list[tuple[bool, float]] = []
    for seed in range(episodes):
        spec = EpisodeSpec(policies.info.env_id, difficulty, seed)
        is_correct = {
            name: play(Episode(shop, spec, f"{name}-{seed}"), policies.make(name, seed)).is_correct
            for name in policies.rungs
        }
        right.append((is_correct["expert"], fmean(is_correct[name] for name in policies.lazy)))
    return [mixed_share([p * expert + (1 - p) * lazy for expert, lazy in right]) for p in STRENGTHS]


def rows_of(shop: Shop, every: Mapping[str, Policies], episodes: int) -> list[Row]:
    """Return the table's rows, one for each environment that has an expert."""
    rows: list[Row] = []
    played = {env_id: policies for env_id, policies in every.items() if policies.rungs}
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("groups", total=len(played) * len(DIFFICULTIES))
        for env_id, policies in played.items():
            shares = []
            for d in DIFFICULTIES:
                shares.append(shares_at(shop, policies, d, episodes))
                bar.advance(task)
            rows.append((env_id, shares))
    return rows


def markdown(rows: Sequence[Row]) -> str:
    """Return the table; a cell holds a share for each strength."""
    lines = [
        "| strength " + " / ".join(map(str, STRENGTHS)) + " | " + " | ".join(f"d={d}" for d in DIFFICULTIES) + " |",
        "| --- " * (1 + len(DIFFICULTIES)) + "|",
    ]
    for env_id, shares in rows:
        cells = (" / ".join(f"{share:.2f}" for share in at) for at in shares)
        lines.append(f"| {env_id} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(
    episodes: Annotated[int, typer.Option(min=1, help="Seeds for each environment and difficulty.")] = 50,
    catalog: Annotated[str, typer.Option(help="As for ecom-rlve serve.")] = "synthetic",
) -> None:
    """Print the share of mixed groups by environment and difficulty."""
    shop = Shop.open(catalog)
    listed = listed_of(shop)
    every = {env_id: policies_of(env_id, listed) for env_id in listed}
    print(markdown(rows_of(shop, every, episodes)))


if __name__ == "__main__":
    typer.run(main)
