"""What a report says of runs: the figures, worded, for the page and for Markdown alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ecom_rlve.evaluation.judging.report import measures
from ecom_rlve.evaluation.judging.report.charts import Line, Point, line_chart
from ecom_rlve.evaluation.judging.report.outcomes import Outcome, RunResults, traces_of
from ecom_rlve.evaluation.judging.report.transcript import Said, transcript
from ecom_rlve.evaluation.judging.traces import read_trace
from ecom_rlve.evaluation.statistics import Difference, Proportion

SIGNIFICANT = 0.05
_ROWS_OF_AXES = 2


class Table(NamedTuple):
    """A table of texts."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Shown:
    """One episode to read."""

    title: str
    said: Sequence[Said]


@dataclass(frozen=True, slots=True)
class Section:
    """What a report says of one run."""

    name: str
    style: str
    """CSS class of its colour."""
    about: Table
    warnings: Sequence[str]
    heat_head: Sequence[str]
    heat: Sequence[tuple[str, Sequence[Proportion | None]]]
    """Of each environment the success at each difficulty, and at last over all of them."""
    pass_hat: Table | None
    parts: Table
    endings: Sequence[tuple[str, Sequence[tuple[str, int, float]]]]
    """Of each environment how it ended: name, number, share."""
    reasons: Table | None
    turns: Table
    axes: Table | None
    events: Table | None
    asking: Table
    worst: Sequence[Shown]


@dataclass(frozen=True, slots=True)
class Report:
    """One run or several side by side."""

    sections: Sequence[Section]
    curves: Sequence[str]
    """Charts of success by difficulty, as SVG."""
    turn_charts: Sequence[str]
    comparisons: Sequence[tuple[str, Table]]


def report_on(runs: Sequence[RunResults]) -> Report:
    """Return the report on runs that have at least one episode each."""
    styles = [f"run{at}" for at in range(len(runs))]
    return Report(
        [_section(run, style) for run, style in zip(runs, styles, strict=True)],
        _charts(runs, styles),
        _turn_charts(runs, styles),
        [_comparison(runs[0], other) for other in runs[1:]],
    )


def percent(share: float) -> str:
    """Return a share as whole percent."""
    return f"{share:.0%}"


def with_interval(found: Proportion) -> str:
    """Return a success rate and its interval."""
    return f"{found.share:.1%} ({found.low:.0%}–{found.high:.0%})"


def _section(run: RunResults, style: str) -> Section:
    by_env = measures.by_env(run)
    difficulties = sorted({each.task.difficulty for each in run.outcomes})
    per_cell = [(env_id, measures.cells(each)) for env_id, each in by_env.items()]
    return Section(
        run.name,
        style,
        _about(run),
        _warnings(run),
        ["", *(f"{d}" for d in difficulties), measures.ALL],
        [
            (env_id, [*(cell.get(d) for d in difficulties), measures.success(by_env[env_id])])
            for env_id, cell in per_cell
        ],
        _pass_hat(run),
        _parts(run),
        [(env_id, _shares(each)) for env_id, each in by_env.items()],
        _reasons(run),
        _turns(run),
        _axes(run),
        _events(run),
        _asking(run),
        _worst(run),
    )


def _about(run: RunResults) -> Table:
    plan, usage = run.config.plan, run.usage
    overall = measures.success(run.outcomes)
    rows = [
        ("agent", plan.agent),
        ("success", with_interval(overall)),
        ("mean reward", f"{measures.parts(run.outcomes).r_total:+.3f}"),
        ("episodes", f"{len(run.outcomes)} of {run.planned}, {plan.trials} trials each"),
        ("played as", f"split {plan.split}, style {plan.style}, format {plan.format}, seed {plan.seed}"),
    ]
    if plan.suite:
        rows.append(("suite", f"{plan.suite}, hash {plan.suite_hash}"))
    if usage.requests:
        rows.append(("model", f"{plan.calls} calls, {plan.request or 'default sampling'}"))
        rows.append(
            (
                "tokens",
                f"{usage.prompt_tokens:,} read, {usage.completion_tokens:,} written, {usage.requests:,} requests",
            )
        )
    server = run.config.server
    rows += [
        ("catalog", f"{server.source}, {server.catalog}"),
        ("customer", "; ".join(run.customers)),
        ("versions", f"{server.version}; {', '.join(each.replace(f'{server.version}/', '') for each in run.versions)}"),
    ]
    return Table((), rows)


def _warnings(run: RunResults) -> list[str]:
    found = []
    if len(run.outcomes) < run.planned:
        found.append(f"The run is not complete: {run.planned - len(run.outcomes)} episodes are missing.")
    if run.failures:
        found.append(f"{run.failures} episodes failed through no fault of the agent. They count for nothing.")
    if run.discloses_acts:
        found.append("The server told the agent the customer's acts: a yardstick, and no result for a board.")
    return found


def _pass_hat(run: RunResults) -> Table | None:
    most = run.config.plan.trials
    if most < 2:
        return None
    rows = [
        (env_id, *(f"{value:.1%}" for value in measures.pass_hat(each, most)))
        for env_id, each in measures.by_env(run).items()
    ]
    width = max(map(len, rows))
    return Table(("", *(f"pass^{k}" for k in range(1, width))), [(*row, *[""] * (width - len(row))) for row in rows])


def _parts(run: RunResults) -> Table:
    rows = []
    for env_id, each in measures.by_env(run).items():
        mean = measures.parts(each)
        rows.append((env_id, *(f"{value:+.3f}" for value in (mean.r_total, mean.r_task, mean.r_eff, mean.r_hall))))
    return Table(("", "total", "task", "efficiency", "unseen ids"), rows)


def _shares(outcomes: Sequence[Outcome]) -> list[tuple[str, int, float]]:
    return [(name, count, count / len(outcomes)) for name, count in measures.endings(outcomes).items() if count]


def _reasons(run: RunResults) -> Table | None:
    found = measures.reasons(run.outcomes)
    return Table(("what was wrong", "episodes"), [(text[:200], str(n)) for text, n in found[:12]]) if found else None


def _turns(run: RunResults) -> Table:
    rows = []
    for env_id, each in measures.by_env(run).items():
        mean = measures.turns(each)
        rows.append((env_id, f"{mean.used:.1f}", f"{mean.all:.1f}", f"{mean.budget:.1f}", percent(mean.share_of_full)))
    return Table(("", "turns that count", "all turns", "budget", "used it up"), rows)


def _axes(run: RunResults) -> Table | None:
    live = {info.env_id: info.axes for info in run.config.environments}
    rows = []
    for env_id, outcomes in measures.by_env(run).items():
        # Axes that rise together have one correlation, and stand in one row.
        alike: dict[tuple[str, str], list[str]] = {}
        for effect in measures.axis_effects(outcomes, live.get(env_id, ())):
            alike.setdefault((f"{effect.rho:+.2f}", _p(effect.p)), []).append(effect.axis)
        rows += [(env_id, rho, p, ", ".join(axes)) for (rho, p), axes in list(alike.items())[:_ROWS_OF_AXES]]
    return Table(("", "correlation with failure", "p", "axes"), rows) if rows else None


def _events(run: RunResults) -> Table | None:
    rows = [
        (name, str(count), with_interval(yes), with_interval(no))
        for name, count, yes, no in measures.event_effects(run.outcomes)
    ]
    return Table(("what happened", "episodes", "success with it", "without it"), rows) if rows else None


def _asking(run: RunResults) -> Table:
    by_env = {env_id: measures.asking(each) for env_id, each in measures.by_env(run).items()}
    counts = sorted({count for each in by_env.values() for count in each.success})
    rows = []
    for env_id, each in by_env.items():
        answered = "" if each.answered is None else percent(each.answered)
        shown = [percent(each.success[count].share) if count in each.success else "" for count in counts]
        rows.append((env_id, f"{each.asked:.2f}", answered, *shown))
    return Table(("", "asking turns", "answered", *(f"at {count}" for count in counts)), rows)


def _worst(run: RunResults) -> list[Shown]:
    outcomes = measures.worst(run)
    traces = traces_of(run, {each.task for each in outcomes})
    return [
        Shown(
            f"{each.task}: {measures.ending_of(each)}, reward {each.result.r_total:+.2f}",
            transcript(read_trace(traces[each.task])),
        )
        for each in outcomes
    ]


def _success_line(outcomes: Sequence[Outcome]) -> list[Point]:
    return [Point(d, cell.share, cell.low, cell.high) for d, cell in measures.cells(outcomes).items()]


def _turn_line(outcomes: Sequence[Outcome]) -> list[Point]:
    groups = sorted(measures.grouped(outcomes, lambda each: each.task.difficulty).items())
    used = ((d, measures.turns(each).used) for d, each in groups)
    return [Point(d, value, value, value) for d, value in used]


def _budget_line(outcomes: Sequence[Outcome]) -> list[Point]:
    groups = sorted(measures.grouped(outcomes, lambda each: each.task.difficulty).items())
    budget = ((d, measures.turns(each).budget) for d, each in groups)
    return [Point(d, value, value, value) for d, value in budget]


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _charts(runs: Sequence[RunResults], styles: Sequence[str]) -> list[str]:
    """Return one chart of success for each environment, and one for all of them."""
    charts = []
    for env_id, parts in _by_env(runs).items():
        lines = [Line(runs[at].name, styles[at], _success_line(each)) for at, each in parts]
        charts.append(line_chart(env_id, lines, highest=1, unit="%"))
    return charts


def _turn_charts(runs: Sequence[RunResults], styles: Sequence[str]) -> list[str]:
    """Return one chart for each environment: the turns that counted, and the budget as the line above them."""
    charts = []
    for env_id, parts in _by_env(runs).items():
        everything = [outcome for _, each in parts for outcome in each]
        lines = [Line("budget", "budget", _budget_line(everything))]
        lines += [Line(runs[at].name, styles[at], _turn_line(each)) for at, each in parts]
        most = max(point.y for line in lines for point in line.points)
        charts.append(line_chart(env_id, lines, highest=2 * -(-most // 2)))
    return charts


def _by_env(runs: Sequence[RunResults]) -> dict[str, list[tuple[int, list[Outcome]]]]:
    """Return by environment the outcomes of each run that played there, with its number."""
    found: dict[str, list[tuple[int, list[Outcome]]]] = {}
    for at, run in enumerate(runs):
        for env_id, each in measures.by_env(run).items():
            found.setdefault(env_id, []).append((at, each))
    last = found.pop(measures.ALL, None)
    return {**found, **({measures.ALL: last} if last else {})}


def _comparison(first: RunResults, second: RunResults) -> tuple[str, Table]:
    """Return a title, and a table with a row for each environment that both played."""
    one, other = measures.by_env(first), measures.by_env(second)
    rows = []
    for env_id in one:
        found = measures.compare(one[env_id], other[env_id]) if env_id in other else None
        if found is not None:
            rows.append(
                (env_id, str(found.success.pairs), *_difference(found.success, 100, " pp"), *_difference(found.reward))
            )
    head = ("", "episodes in common", "success", "p", "reward", "p")
    return f"{second.name} against {first.name}", Table(head, rows)


def _difference(found: Difference, scale: float = 1, unit: str = "") -> tuple[str, str]:
    """Return a difference with its interval, and its p-value, marked where it is significant."""
    digits = 1 if unit else 3
    mean, low, high = (f"{value * scale:+.{digits}f}" for value in (found.mean, found.low, found.high))
    return f"{mean}{unit} ({low} to {high})", f"{_p(found.p)}{' *' if found.p < SIGNIFICANT else ''}"
