"""The results of runs as figures need them: without traces, in the order of the plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from ecom_rlve.evaluation.judging.folder import episodes, failures, read_config
from ecom_rlve.evaluation.judging.plan import Task, tasks_of
from ecom_rlve.evaluation.judging.records import Config, Fault, Usage
from ecom_rlve.models import DomainCode, EpisodeResult


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one episode went."""

    task: Task
    result: EpisodeResult
    fault: Fault | None
    axes: tuple[tuple[str, float], ...]
    max_turns: int
    asked: int
    answered: int

    @property
    def is_correct(self) -> bool:
        """Whether it counts as a success."""
        return self.result.is_correct

    @property
    def sold_out(self) -> bool:
        """Whether the agent ran into something that was sold out."""
        return DomainCode.OUT_OF_STOCK in self.result.tool_errors


@dataclass(frozen=True, slots=True)
class RunResults:
    """One run, as far as it got."""

    name: str
    folder: Path
    config: Config
    outcomes: Sequence[Outcome]
    """In the order of the plan."""
    failures: int
    """Episodes that failed through no fault of the agent and were not played again since."""
    usage: Usage
    """Of all episodes, failed ones too."""
    versions: Sequence[str]
    """Of package and environment, after each environment's id."""
    customers: Sequence[str]
    """Who words the customer, with the bank's fingerprint: one, unless the folder was tampered with."""
    discloses_acts: bool

    @property
    def planned(self) -> int:
        """Number of episodes of the plan."""
        return self.config.plan.size


def read_results(folder: Path, name: str | None = None) -> RunResults:
    """Return the results in a folder; raises :class:`ResultsError` if it is foreign, or a line of it is damaged."""
    config = read_config(folder)
    order = {task: at for at, task in enumerate(tasks_of(config.plan))}
    found: list[Outcome] = []
    usage, versions, customers, acts = Usage(), set[str](), set[str](), False
    for line in episodes(folder, config):
        axes = tuple(sorted(line.axes.items()))
        found.append(Outcome(line.task, line.result, line.fault, axes, line.max_turns, line.asked, line.answered))
        usage.add(line.usage)
        versions.add(f"{line.env_id} {line.version}")
        customers.add(f"{line.simulator}, bank {line.bank}")
        acts = acts or line.discloses_acts
    done, failed = {each.task for each in found}, set[Task]()
    for failure in failures(folder):
        usage.add(failure.usage)
        failed.add(failure.task)
    found.sort(key=lambda each: order[each.task])
    return RunResults(
        name or folder.resolve().name,
        folder,
        config,
        found,
        len(failed - done),
        usage,
        sorted(versions),
        sorted(customers),
        acts,
    )


def traces_of(run: RunResults, wanted: Collection[Task]) -> dict[Task, str]:
    """Return the traces of some episodes of a run."""
    return {line.task: line.trace for line in episodes(run.folder, run.config) if line.task in wanted} if wanted else {}
