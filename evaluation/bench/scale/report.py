"""What was measured on a large catalog, as tables, and the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ecom_rlve.evaluation.bench.report import Target
from ecom_rlve.evaluation.bench.scale.memory import Memory
from ecom_rlve.evaluation.bench.scale.sample import SearchSample, WorkerSample

# Files are mapped: opening reads next to nothing, and a second worker shares what the first one holds.
OPEN_MOST_S = 2.0
ADDED_MOST = 0.15
RECALL_LEAST = 0.95
STEP_RATIO_MOST, STEP_ABOVE_MOST_MS = 1.5, 2.0
PEAK_MOST_GIB = 8.0


@dataclass(frozen=True, slots=True)
class Build:
    """How a catalog was built."""

    seconds: float
    peak_mib: float | None
    """Most memory of all its processes together; None if the system does not say."""
    cpu_s: float
    """CPU seconds of all its processes."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two workers on one catalog."""

    first: Memory
    """Memory of the first worker, alone."""
    second: Memory
    """Memory of the second worker, besides the first."""
    added_mib: float
    """How much more both together take than the first one alone."""

    @property
    def added_share(self) -> float:
        """The same as a share of what the first one holds."""
        return self.added_mib / self.first.resident


@dataclass(frozen=True, slots=True)
class Measured:
    """A whole run."""

    build: Build | None
    """None if the catalog existed already."""
    worker: WorkerSample
    memory: Pair | None
    """None if the system does not say."""


def catalog_table(run: Measured) -> str:
    """Return building, opening and memory as a Markdown table."""
    worker, build, memory = run.worker, run.build, run.memory
    rows = [
        ("products, leaf categories", f"{worker.products:,}, {worker.categories:,}"),
        ("build", "not measured" if build is None else f"{build.seconds / 60:.1f} min"),
        ("most memory of the build", _gib(None if build is None else build.peak_mib)),
        ("open the catalog and its index", f"{worker.open_s:.2f} s"),
        ("find the highest difficulty of every environment", f"{worker.levels_s:.2f} s"),
    ]
    if memory is not None:
        rows += [
            ("a worker: resident, of which private", _mib(memory.first)),
            ("a second worker: resident, of which private", _mib(memory.second)),
            ("added by the second worker", f"{memory.added_mib:,.0f} MiB ({memory.added_share:.1%} of the first)"),
        ]
    return _table("| | |", "|---|---:|", [f"| {what} | {value} |" for what, value in rows])


def environment_table(run: Measured) -> str:
    """Return resets and whole episodes as a Markdown table."""
    lines = [
        f"| {each.env_id} | {each.most} | {each.reset.p50:.2f} | {each.reset.p99:.2f} | {each.episodes_per_s:,.0f} |"
        for each in run.worker.environments
    ]
    head = "| environment | highest difficulty | reset p50 ms | p99 ms | episodes/s, one core |"
    return _table(head, "|---|---:|---:|---:|---:|", lines)


def search_table(run: Measured) -> str:
    """Return searches, compared with FAISS alone, as a Markdown table."""
    lines = [
        f"| {each.filters} | {each.passing:,.0f} | {each.step.p50:.2f} | {each.step.p99:.2f} "
        f"| {each.raw.p50:.2f} | {each.raw.p99:.2f} | {each.step.p50 / each.raw.p50:.2f} "
        f"| {each.step.p50 - each.raw.p50:+.2f} | {each.recall:.3f} |"
        for each in run.worker.searches
    ]
    head = (
        "| filter | passing | `catalog_search` p50 ms | p99 ms | raw FAISS p50 ms | p99 ms | × raw | ms above "
        "| recall@20 |"
    )
    return _table(head, "|---|---:|---:|---:|---:|---:|---:|---:|---:|", lines)


def judged(run: Measured) -> list[Target]:
    """Return every target with what was measured."""
    worker, memory = run.worker, run.memory
    peak = None if run.build is None or run.build.peak_mib is None else run.build.peak_mib / 1024
    targets = [
        Target("open, s", f"{worker.open_s:.2f}", f"≤ {OPEN_MOST_S:g}", worker.open_s <= OPEN_MOST_S),
        Target(
            "memory added by a second worker, of the first's",
            "not measured" if memory is None else f"{memory.added_share:.1%}",
            f"≤ {ADDED_MOST:.0%}",
            None if memory is None else memory.added_share <= ADDED_MOST,
        ),
        Target(
            "most memory of the build, GiB",
            "not measured" if peak is None else f"{peak:.1f}",
            f"< {PEAK_MOST_GIB:g}",
            None if peak is None else peak < PEAK_MOST_GIB,
        ),
    ]
    for each in worker.searches:
        targets.append(
            Target(f"recall@20, {each.filters}", f"{each.recall:.3f}", f"≥ {RECALL_LEAST}", each.recall >= RECALL_LEAST)
        )
        targets.append(_step_target(each))
    return targets


def _step_target(search: SearchSample) -> Target:
    ratio, above = search.step.p50 / search.raw.p50, search.step.p50 - search.raw.p50
    return Target(
        f"`catalog_search` / raw FAISS, {search.filters}",
        f"{ratio:.2f} ({above:+.2f} ms)",
        f"≤ {STEP_RATIO_MOST}, or ≤ {STEP_ABOVE_MOST_MS:g} ms above",
        ratio <= STEP_RATIO_MOST or above <= STEP_ABOVE_MOST_MS,
    )


def _table(head: str, rule: str, lines: Sequence[str]) -> str:
    return "\n".join([head, rule, *lines])


def _mib(memory: Memory) -> str:
    return f"{memory.resident:,.0f} MiB, {memory.private:,.0f} MiB"


def _gib(mib: float | None) -> str:
    return "not measured" if mib is None else f"{mib / 1024:.1f} GiB"
