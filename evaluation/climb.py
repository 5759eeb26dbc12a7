"""The adaptive curriculum at work: a built-in agent plays each environment, the server chooses how hard (SPEC §8).

``python -m ecom_rlve.evaluation.climb --episodes 600`` starts a server and plays each environment in a run of its own,
without naming a difficulty. It prints how the frontier climbed, and draws it. A client sees the frontier as the highest
difficulty drawn so far. Seeds count from 0, so the same command gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ecom_rlve.client import EcomEnv
from ecom_rlve.evaluation.agents import Policies, policies_of
from ecom_rlve.evaluation.line_chart import charts
from ecom_rlve.evaluation.listing import listed_at
from ecom_rlve.evaluation.local_server import local_server

_THREADS = 2


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


def climb(url: str, policies: Policies, agent: str, episodes: int) -> Climb:
    """Play an environment under the curriculum of a run of its own, one episode after another."""
    env_id, correct = policies.info.env_id, 0
    frontier: list[int] = []
    with EcomEnv(url) as env:
        for seed in range(episodes):
            player = policies.make(agent, seed)
            step = env.reset(env_id=env_id, seed=seed, run_id=f"climb-{agent}-{env_id}")
            frontier.append(max(step.metadata.difficulty, frontier[-1] if frontier else 0))
            while not step.done:
                step = env.step(player.act(step))
            correct += step.observation.result is not None and step.observation.result.is_correct
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
    with (
        local_server("--catalog", catalog) as url,
        Progress(*columns, console=Console(stderr=True)) as progress,
        ThreadPoolExecutor(_THREADS) as pool,
    ):
        listed = listed_at(url)
        tried = [policies for env_id in listed if agent in (policies := policies_of(env_id, listed)).names]
        if not tried:
            raise typer.BadParameter(f"no environment has a built-in agent {agent!r}")
        bar = progress.add_task("environments", total=len(tried))

        def played(policies: Policies) -> Climb:
            done = climb(url, policies, agent, episodes)
            progress.advance(bar)
            return done

        climbs = list(pool.map(played, tried))
    print(markdown(climbs))
    lines = {each.env_id: each.frontier for each in climbs}
    plot.write_text(charts(lines, title="Highest difficulty drawn by the curriculum, by episode"))
    flat = [each.env_id for each in climbs if each.frontier[-1] == 0]
    if flat:
        print(f"never climbed: {', '.join(flat)}")
    raise typer.Exit(1 if flat else 0)


if __name__ == "__main__":
    typer.run(main)
