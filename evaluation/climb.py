"""The adaptive curriculum at work: a built-in agent plays each environment, which grows harder with success (SPEC §8).

``python -m ecom_rlve.evaluation.climb --episodes 600`` plays each environment under a curriculum of its own, prints how
the frontier climbed, and draws it. The frontier is what a client of a server could see of it: the highest difficulty
that was drawn so far. Seeds count from 0, so the same command gives the same numbers. It plays in process: a server
that discloses acts, without which the expert is deaf, counts an episode for no curriculum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ecom_rlve.envs.curriculum.gate import Curriculum
from ecom_rlve.envs.curriculum.ledger import Key, MemoryLedger
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import Policies, policies_of
from ecom_rlve.evaluation.in_process import listed_of, play
from ecom_rlve.evaluation.line_chart import charts


@dataclass(frozen=True, slots=True)
class Climb:
    """How one environment's curriculum climbed."""

    env_id: str
    frontier: tuple[int, ...]
    """The highest difficulty drawn up to each episode."""
    correct: int
    """Number of correct episodes."""

    def reached(self, level: int) -> int | None:
        """Return the number of the first episode of a difficulty, counted from 1; None if it was never drawn."""
        return next((at for at, drawn in enumerate(self.frontier, 1) if drawn >= level), None)


def climb(shop: Shop, policies: Policies, agent: str, episodes: int) -> Climb:
    """Play an environment under a curriculum of its own, one episode after another."""
    env_id, correct = policies.info.env_id, 0
    curriculum, highest = Curriculum(MemoryLedger()), policies.info.max_difficulty
    key: Key = (env_id, "turn", "strict")
    frontier: list[int] = []
    for seed in range(episodes):
        difficulty = curriculum.draw(env_id, "turn", "strict", seed)
        frontier.append(max(difficulty, frontier[-1] if frontier else 0))
        episode = Episode(shop, EpisodeSpec(env_id, difficulty, seed), f"climb-{seed}")
        curriculum.issue(key, difficulty, seed)
        counts = curriculum.begin(key, difficulty, seed, episode.id) is None
        result = play(episode, policies.make(agent, seed))
        if counts:
            curriculum.end(key, seed, episode.id, Fraction(result.correct_share), highest)
        correct += result.is_correct
    return Climb(env_id, tuple(frontier), correct)


def markdown(climbs: Sequence[Climb]) -> str:
    """Return the table: the episode at which each difficulty was first drawn."""
    levels = range(1, max(each.frontier[-1] for each in climbs) + 1)
    lines = [
        f"| {len(climbs[0].frontier)} episodes each | correct | frontier | "
        + " | ".join(f"d={level} from" for level in levels)
        + " |",
        "| --- " * (3 + len(levels)) + "|",
    ]
    for each in climbs:
        firsts = [each.reached(level) for level in levels]
        cells = [each.env_id, f"{each.correct / len(each.frontier):.3f}", str(each.frontier[-1])]
        lines.append("| " + " | ".join([*cells, *("" if first is None else str(first) for first in firsts)]) + " |")
    return "\n".join(lines)


def main(
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each environment.")] = 600,
    agent: Annotated[str, typer.Option(help="Built-in agent that plays.")] = "expert",
    catalog: Annotated[str, typer.Option(help="Source of products, as for `serve`.")] = "synthetic",
    plot: Annotated[Path, typer.Option(help="SVG file to write.")] = Path("docs/curriculum.svg"),
) -> None:
    """Print and draw how the curriculum climbs in every environment that has the agent; exit 1 where one stays at 0."""
    if not plot.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {plot.parent} to write the plot into")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shop = Shop.open(catalog)
    listed = listed_of(shop)
    tried = [policies for env_id in listed if agent in (policies := policies_of(env_id, listed)).names]
    if not tried:
        raise typer.BadParameter(f"no environment has a built-in agent {agent!r}")
    with Progress(*columns, console=Console(stderr=True)) as progress:
        climbs = [climb(shop, each, agent, episodes) for each in progress.track(tried, description="environments")]
    print(markdown(climbs))
    lines = {each.env_id: each.frontier for each in climbs}
    plot.write_text(charts(lines, title="Highest difficulty drawn by the curriculum, by episode"))
    flat = [each.env_id for each in climbs if each.frontier[-1] == 0]
    if flat:
        print(f"never climbed: {', '.join(flat)}")
    raise typer.Exit(1 if flat else 0)


if __name__ == "__main__":
    typer.run(main)
