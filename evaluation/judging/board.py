"""The board: agents over a frozen suite, each row checked by playing its episodes again (SPEC §10).

What a submission cannot prove is how an agent came to its actions: that it heard no acts, and did not look at the goal
by playing the episode beside, as the oracle does. The first is written in each line by the runner, the second is a
matter of trust. Every byte of what it was shown, and every reward, is checked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ecom_rlve.evaluation.judging.errors import ResultsError
from ecom_rlve.evaluation.judging.folder import episodes, read_config
from ecom_rlve.evaluation.judging.journal import write_whole
from ecom_rlve.evaluation.judging.plan import Plan, tasks_of
from ecom_rlve.evaluation.judging.records import EpisodeLine
from ecom_rlve.evaluation.judging.report import measures
from ecom_rlve.evaluation.judging.report.outcomes import RunResults, read_results
from ecom_rlve.evaluation.judging.suite import CATALOG, SPLIT, SUITES, with_suite
from ecom_rlve.models import Format, Style

TEMPLATE = "template"
"""The customers of a board: a model's words would be the submitter's own."""
_MOST_FAULTS = 20


class Row(BaseModel):
    """One agent of the board."""

    model_config = ConfigDict(extra="forbid")

    agent: str
    kind: Literal["agent", "reference"]
    """``reference``: a built-in agent, which may hear acts or know the goal; it is no competitor."""
    suite: str
    suite_hash: str
    style: Style
    format: Format
    calls: str
    """``native`` or ``text`` for a chat model, else empty."""
    version: str
    episodes: int
    success: float
    low: float
    high: float
    """Bounds of the 95 % interval of the success."""
    reward: float
    pass_hat: list[float]
    """pass^1 and on, up to the trials of the suite."""
    by_env: dict[str, float]
    """Success in each environment."""


_ROWS = TypeAdapter(list[Row])


def faults_of(folder: Path, *, is_reference: bool, differs: Callable[[EpisodeLine], str | None]) -> list[str]:
    """Return what keeps a folder of results from being a row of the board; nothing if it may be one.

    Args:
        folder: the submission.
        is_reference: whether acts may have been disclosed.
        differs: plays an episode again, and returns how it differs from what was written down, if it does.

    Raises:
        ResultsError: it is no folder of results, or a line of it is damaged.
    """
    config = read_config(folder)
    found = _faults_of_plan(config.plan)
    if found:
        return found
    if config.server.source != CATALOG:
        found.append(f"the catalog is {config.server.source}, not {CATALOG}")
    left = set(tasks_of(config.plan))
    for line in episodes(folder, config):
        left.discard(line.task)
        found += [f"{line.task}: {fault}" for fault in _faults_of_line(line, config.plan, is_reference)]
        if len(found) >= _MOST_FAULTS:
            return found
        difference = differs(line)
        if difference is not None:
            found.append(f"{line.task}: {difference}")
    if left:
        found.append(f"{len(left)} episodes are missing, such as {min(left)}")
    return found


def row_of(folder: Path, *, is_reference: bool) -> Row:
    """Return the row of a folder of results that has no faults."""
    run = read_results(folder)
    plan = run.config.plan
    found = measures.success(run.outcomes)
    return Row(
        agent=plan.agent,
        kind="reference" if is_reference else "agent",
        suite=plan.suite or "",
        suite_hash=plan.suite_hash or "",
        style=plan.style,
        format=plan.format,
        calls=plan.calls if plan.agent.startswith("openai:") else "",
        version=run.config.server.version,
        episodes=len(run.outcomes),
        success=round(found.share, 4),
        low=round(found.low, 4),
        high=round(found.high, 4),
        reward=round(measures.parts(run.outcomes).r_total, 4),
        pass_hat=[round(value, 4) for value in measures.pass_hat(run.outcomes, plan.trials)],
        by_env=_by_env(run),
    )


def read_board(path: Path) -> list[Row]:
    """Return the rows of a board; none if there is no file. Raises :class:`ResultsError` for another file."""
    try:
        return _ROWS.validate_json(path.read_text(encoding="utf-8")) if path.exists() else []
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise ResultsError(f"{path} is no board: {str(error).splitlines()[0]}") from error


def add_to_board(path: Path, row: Row) -> None:
    """Write a row into a board, in place of the one of the same agent, suite, style and format."""

    def key(each: Row) -> tuple[str, ...]:
        return each.suite, each.style, each.format, each.calls, each.agent

    rows = {key(each): each for each in read_board(path)} | {key(row): row}
    ranked = sorted(rows.values(), key=lambda each: (*key(each)[:4], -each.success, -each.reward, each.agent))
    write_whole(path, json.dumps([each.model_dump() for each in ranked], indent=1, ensure_ascii=False) + "\n")


def board_tables(rows: Sequence[Row]) -> str:
    """Return a board as Markdown: a table for each suite, style and format, for these are never compared."""
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.suite, row.suite_hash, row.style, row.format), []).append(row)
    return "\n\n".join(
        _table(f"{suite} (`{code}`), style {style}, format {form}", each)
        for (suite, code, style, form), each in groups.items()
    )


def _table(title: str, rows: Sequence[Row]) -> str:
    envs = sorted({env_id for row in rows for env_id in row.by_env})
    most = max(len(row.pass_hat) for row in rows)
    passes = [f"pass^{k}" for k in range(2, most + 1)]
    lines = [
        f"### {title}",
        "",
        f"| agent | success | mean reward | {''.join(f'{name} | ' for name in passes)}{' | '.join(envs)} |",
        "|---|---|---|" + "---|" * (len(passes) + len(envs)),
    ]
    for row in rows:
        name = (
            f"{row.agent} (reference)"
            if row.kind == "reference"
            else f"{row.agent}{f', {row.calls}' if row.calls else ''}"
        )
        cells = [f"{value:.1%}" for value in row.pass_hat[1:]] + [f"{row.by_env.get(env_id, 0):.0%}" for env_id in envs]
        interval = f"{row.success:.1%} ({row.low:.0%}–{row.high:.0%})"
        lines.append(f"| {name} | {interval} | {row.reward:+.3f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _faults_of_plan(plan: Plan) -> list[str]:
    if plan.suite is None or plan.suite not in SUITES:
        return [f"no suite was played: run `eval --split {SPLIT} --suite {' or '.join(SUITES)}`"]
    if plan.split != SPLIT:
        return [f"a suite is played with split {SPLIT}, not {plan.split}"]
    meant = with_suite(plan, plan.suite)
    return [
        f"{name} is {getattr(plan, name)!r}, and the suite's is {getattr(meant, name)!r}"
        for name in Plan.model_fields
        if getattr(plan, name) != getattr(meant, name)
    ]


def _faults_of_line(line: EpisodeLine, plan: Plan, is_reference: bool) -> list[str]:
    found = []
    if line.discloses_acts and not is_reference:
        found.append("the server disclosed the customer's acts")
    if line.simulator != TEMPLATE:
        found.append(f"the customer was worded by {line.simulator}")
    found += [
        f"{name} is {getattr(line, name)}, and the run's is {getattr(plan, name)}"
        for name in ("split", "style", "format")
        if getattr(line, name) != getattr(plan, name)
    ]
    if line.axes:
        found.append(f"axes were overridden: {line.axes}")
    return found


def _by_env(run: RunResults) -> dict[str, float]:
    return {
        env_id: round(measures.success(each).share, 4)
        for env_id, each in measures.by_env(run).items()
        if env_id != measures.ALL
    }
