"""The proof that rewards mean something: the table of SPEC §11, measured through the HTTP server.

``python -m ecom_rlve.evaluation.soundness --env all --episodes 200`` starts a server, plays, prints the table, and
exits with 1 if a bound fails. A bound fails only if the exact interval (95 %, Bonferroni over the cells of the table)
lies wholly beyond it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from statistics import fmean
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ecom_rlve.evaluation.agents import Agent, Policies, policies_of
from ecom_rlve.evaluation.agents.policies import BREAK_FORMAT
from ecom_rlve.evaluation.listing import listed_at
from ecom_rlve.evaluation.local_server import local_server
from ecom_rlve.evaluation.oracle import oracles
from ecom_rlve.evaluation.runner import Job, Record, play_all
from ecom_rlve.evaluation.statistics import clopper_pearson, paired_p_value
from ecom_rlve.models import Style, Termination

DIFFICULTIES = (0, 3, 6, 9, 12)
# The bounds of SPEC §11.
_LAZY_FROM = 3
_GUESS_GAP = 0.2
_J_LEAST = 0.99
_EMPTY_MOST = 0.01
_EXPERT_AT_0 = 0.95
_STRICT_FROM = 100
"""With so many episodes per cell a lazy policy must be significantly below the expert; with fewer, only not above."""


@dataclass(slots=True)
class Table:
    """Records by (policy, style, difficulty), and the bounds that failed."""

    policies: Policies
    episodes: int
    cells: dict[tuple[str, Style, int], list[Record]]
    failures: list[str] = field(default_factory=list)

    @property
    def env_id(self) -> str:
        """The environment."""
        return self.policies.info.env_id

    @property
    def confidence(self) -> float:
        """Confidence for a cell, such that the whole table has 95 %."""
        return 1 - 0.05 / max(1, len(self.cells))

    def correct(self, policy: str, d: int, style: Style = "turn") -> int:
        """Return how many episodes of a cell were correct."""
        return sum(record.result.is_correct for record in self.cells[policy, style, d])

    def share(self, policy: str, d: int, style: Style = "turn") -> float:
        """Return the share of a cell's episodes that were correct."""
        return self.correct(policy, d, style) / len(self.cells[policy, style, d])

    def interval(self, policy: str, d: int) -> tuple[float, float]:
        """Return the exact interval of a cell's success."""
        return clopper_pearson(self.correct(policy, d), len(self.cells[policy, "turn", d]), self.confidence)

    def rewards(self, policy: str, d: int) -> list[float]:
        """Return r_total of a cell's episodes in seed order."""
        return [record.result.r_total for record in self.cells[policy, "turn", d]]

    def require(self, holds: bool, message: str) -> None:
        """Note a bound that failed."""
        if not holds:
            self.failures.append(message)


def jobs_of(policies: Policies, episodes: int, difficulties: Sequence[int], oracle: Callable[[], Agent]) -> list[Job]:
    """Return every episode of the table: each policy at each difficulty on the same seeds."""
    env_id, jobs = policies.info.env_id, []
    for d in difficulties:
        for seed in range(episodes):
            jobs += [Job("oracle", oracle, env_id, d, seed, style) for style in ("turn", "tool")]
            jobs += [Job(name, partial(policies.make, name, seed), env_id, d, seed) for name in policies.names]
    return jobs


def judge(table: Table, difficulties: Sequence[int]) -> None:
    """Check every bound of SPEC §11 and note the failures."""
    for d in difficulties:
        _judge_oracle(table, d)
        _judge_empty_and_blind(table, d)
    if table.policies.rungs:
        for d in difficulties:
            _judge_lazy(table, d)
        _judge_expert(table, difficulties)
    _judge_order(table)


def _judge_oracle(table: Table, d: int) -> None:
    for style in ("turn", "tool"):
        records = table.cells["oracle", style, d]
        bad = [record.seed for record in records if not record.result.is_correct or record.result.r_task != 1.0]
        table.require(not bad, f"d={d}: oracle ({style}) misses r_task = 1 on seeds {bad[:10]}")


def _judge_empty_and_blind(table: Table, d: int) -> None:
    policies = table.policies
    table.require(signal(table, d) >= _J_LEAST, f"d={d}: J = {signal(table, d):.3f} < {_J_LEAST}")
    for name in (*policies.empty, BREAK_FORMAT):
        low, _ = table.interval(name, d)
        table.require(low <= _EMPTY_MOST, f"d={d}: empty policy {name} is correct in {table.share(name, d):.1%}")
    for name in policies.blind:
        low, _ = table.interval(name, d)
        most = max(_EMPTY_MOST, 1.5 * policies.chance(name, d))
        table.require(low <= most, f"d={d}: blind policy {name}: {table.share(name, d):.1%} > {most:.1%}")


def signal(table: Table, d: int) -> float:
    """Return J = P(correct | oracle) - max over empty policies of P(correct): a learner has signal where it is > 0."""
    return table.share("oracle", d) - max(table.share(name, d) for name in table.policies.empty)


def _judge_lazy(table: Table, d: int) -> None:
    if d < _LAZY_FROM:
        return
    expert = table.rewards("expert", d)
    for name in table.policies.lazy:
        lazy = table.rewards(name, d)
        if table.episodes >= _STRICT_FROM:
            p = paired_p_value(lazy, expert)
            table.require(p < 0.05, f"d={d}: lazy policy {name} is not significantly below the expert (p = {p:.3f})")
        else:
            p = paired_p_value(expert, lazy)
            table.require(p > 1 - table.confidence, f"d={d}: lazy policy {name} is above the expert (p = {p:.3f})")
    gap = table.share("expert", d) - table.share("guess_and_wait", d)
    slack = 0.0 if table.episodes >= _STRICT_FROM else 0.5
    table.require(gap >= _GUESS_GAP - slack, f"d={d}: guess_and_wait is only {gap:.2f} below the expert")


def _judge_expert(table: Table, difficulties: Sequence[int]) -> None:
    if 0 in difficulties:
        _, high = table.interval("expert", 0)
        table.require(high >= _EXPERT_AT_0, f"expert at d=0: {table.share('expert', 0):.1%} < {_EXPERT_AT_0:.0%}")
    for easier, harder in pairwise(difficulties):
        rises = table.interval("expert", harder)[0] > table.interval("expert", easier)[1]
        table.require(not rises, f"the expert's success rises from d={easier} to d={harder}")
    first, last = difficulties[0], difficulties[-1]
    falls = [name for name in table.policies.rungs if table.interval(name, last)[1] < table.interval(name, first)[0]]
    if table.episodes >= _STRICT_FROM and (first, last) == (DIFFICULTIES[0], DIFFICULTIES[-1]):
        table.require(bool(falls), f"no rung of the expert falls significantly from d={first} to d={last}")


def reward_classes(table: Table) -> dict[str, list[float]]:
    """Return r_total by how an episode ended, without those that named unseen ids."""
    classes: dict[str, list[float]] = {"correct": [], "partly right": [], "wrong": [], "quit": [], "format failure": []}
    for (policy, _, _), records in table.cells.items():
        for record in records:
            result = record.result
            if result.r_hall < 0:
                continue
            if result.termination is Termination.FORMAT_FAILURE:
                kind = "format failure"
            elif result.is_correct:
                kind = "correct"
            elif result.r_task > -1:
                # In a journey that ran out of turns, settled errands still count.
                kind = "partly right"
            else:
                has_quit = result.termination is not Termination.ANSWERED or policy in ("answer_at_once", "decline")
                kind = "quit" if has_quit else "wrong"
            classes[kind].append(result.r_total)
    return classes


def _judge_order(table: Table) -> None:
    means = {kind: fmean(values) for kind, values in reward_classes(table).items() if values}
    for better, worse in pairwise(means):
        # Wrong and quitting may be equal. The error of a sum of many rewards is far smaller than a step of a reward.
        least = -1e-9 if worse == "quit" else 1e-9
        is_ordered = means[better] - means[worse] > least
        table.require(is_ordered, f"mean reward of {better} ({means[better]:.3f}) is not above {worse}")


def markdown(table: Table, difficulties: Sequence[int]) -> str:
    """Return the table as Markdown: share correct per policy and difficulty, J, mean rewards."""
    head = f"| {table.env_id}, {table.episodes} episodes a cell | " + " | ".join(f"d={d}" for d in difficulties) + " |"
    lines = [head, "|---|" + "---|" * len(difficulties)]
    for style in ("turn", "tool"):
        cells = [f"{table.share('oracle', d, style):.3f}" for d in difficulties]
        lines.append(f"| oracle ({style}) | " + " | ".join(cells) + " |")
    for name in table.policies.names:
        cells = [_cell(table, name, d) for d in difficulties]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("| **J** | " + " | ".join(f"**{signal(table, d):.3f}**" for d in difficulties) + " |")
    ordered = ", ".join(f"{kind} {fmean(values):+.3f}" for kind, values in reward_classes(table).items() if values)
    return "\n".join(lines) + f"\n\nMean r_total: {ordered}."


def _cell(table: Table, name: str, d: int) -> str:
    rewards = table.rewards(name, d)
    if name in table.policies.empty or name == BREAK_FORMAT:
        return f"{table.share(name, d):.3f} (≤ {clopper_pearson(table.correct(name, d), len(rewards))[1]:.3f})"
    return f"{table.share(name, d):.3f} ({fmean(rewards):+.2f})"


def summary(tables: Sequence[Table]) -> str:
    """Return one line for each environment as Markdown: shares of oracle and expert, and the least J."""
    lines = ["| environment | oracle | expert | J, least |", "|---|---|---|---|"]
    for table in tables:
        levels = sorted({d for _, _, d in table.cells})
        oracle = min(table.share("oracle", d, style) for d in levels for style in ("turn", "tool"))
        rungs = table.policies.rungs
        expert = ", ".join(f"{table.share('expert', d):.3f}" for d in levels) if rungs else "none"
        least = min(signal(table, d) for d in levels)
        lines.append(f"| {table.env_id}, d={', '.join(map(str, levels))} | {oracle:.3f} | {expert} | {least:.3f} |")
    return "\n".join(lines)


def tabulate(policies: Policies, episodes: int, records: Sequence[Record]) -> Table:
    """Return the records by cell, in seed order."""
    cells: dict[tuple[str, Style, int], list[Record]] = {}
    for record in records:
        cells.setdefault((record.policy, record.style, record.difficulty), []).append(record)
    return Table(policies, episodes, cells)


def main(
    env: Annotated[str, typer.Option(help="Environment id, several separated by commas, or all.")] = "all",
    episodes: Annotated[int, typer.Option(min=1, help="Episodes a cell.")] = 200,
    catalog: Annotated[str, typer.Option(help="Source of products, as for `serve`.")] = "synthetic",
    difficulties: Annotated[str, typer.Option(help="Comma-separated difficulties.")] = "0,3,6,9,12",
    url: Annotated[
        str | None, typer.Option(help="A running server with the same catalog; absent: one is started.")
    ] = None,
) -> None:
    """Print the soundness tables; exit 1 if a bound fails."""
    levels = [int(level) for level in difficulties.split(",")]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    make_oracle = oracles(catalog)
    tables = []
    with (
        nullcontext(url) if url else local_server("--catalog", catalog) as address,
        Progress(*columns, console=Console(stderr=True)) as progress,
    ):
        listed = listed_at(str(address))
        for env_id in _chosen(listed, env):
            most, policies = listed[env_id].max_difficulty, policies_of(env_id, listed)
            served = [level for level in levels if level <= most]
            if len(served) < len(levels):
                print(f"{env_id}: this catalog serves it {f'up to difficulty {most}' if most >= 0 else 'not at all'}\n")
            if not served:
                continue
            jobs = jobs_of(policies, episodes, served, make_oracle)
            bar = progress.add_task(env_id, total=len(jobs))
            table = tabulate(policies, episodes, play_all(str(address), jobs, done=partial(progress.advance, bar)))
            judge(table, served)
            tables.append(table)
            print(markdown(table, served), flush=True)
            for failure in table.failures:
                print(f"FAILED: {env_id}: {failure}")
            print(
                f"{env_id}: {len(table.failures)} bounds failed\n" if table.failures else f"{env_id}: sound\n",
                flush=True,
            )
    if len(tables) > 1:
        print(summary(tables))
    raise typer.Exit(1 if not tables or any(table.failures for table in tables) else 0)


def _chosen(known: Collection[str], named: str) -> list[str]:
    """Return the environments that are named, or all; raises ``typer.BadParameter`` for one that is not known."""
    wanted = list(known) if named.lower() == "all" else [n.strip().upper().removeprefix("E_") for n in named.split(",")]
    if strange := [name for name in wanted if name not in known]:
        raise typer.BadParameter(f"no environment {strange[0]!r}; there are {', '.join(known)}")
    return wanted


if __name__ == "__main__":
    typer.run(main)
