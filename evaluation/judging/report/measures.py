"""The figures of a report, each a function of outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import TypeVar

import numpy as np
from scipy.stats import spearmanr

from ecom_rlve.evaluation.judging.report.axes import axis_values
from ecom_rlve.evaluation.judging.report.outcomes import Outcome, RunResults
from ecom_rlve.evaluation.statistics import Difference, Proportion, paired_difference, pass_hat_k, proportion
from ecom_rlve.models import Termination

ALL = "all"
"""Name of the row over all environments."""
_WORST = 10
_ASKED_MOST = 3

K = TypeVar("K", bound=Hashable)


def grouped(outcomes: Iterable[Outcome], key: Callable[[Outcome], K]) -> dict[K, list[Outcome]]:
    """Return outcomes by a key, in the order in which the keys come."""
    found: dict[K, list[Outcome]] = {}
    for each in outcomes:
        found.setdefault(key(each), []).append(each)
    return found


def by_env(run: RunResults) -> dict[str, list[Outcome]]:
    """Return the outcomes of each environment that has any, and last those of all if there are several."""
    found = grouped(run.outcomes, lambda each: each.task.env_id)
    return {**found, **({ALL: list(run.outcomes)} if len(found) > 1 else {})}


def success(outcomes: Iterable[Outcome]) -> Proportion:
    """Return the success rate; trials of one episode are not taken for independent ones."""
    counts = ((sum(o.is_correct for o in trials), len(trials)) for trials in _episodes(outcomes).values())
    return proportion(counts)


def cells(outcomes: Iterable[Outcome]) -> dict[int, Proportion]:
    """Return the success rate at each difficulty."""
    return {d: success(each) for d, each in sorted(grouped(outcomes, lambda o: o.task.difficulty).items())}


def pass_hat(outcomes: Iterable[Outcome], most: int) -> list[float]:
    """Return pass^1 … pass^most, each the mean over the episodes that have so many trials."""
    counts = [(len(trials), sum(o.is_correct for o in trials)) for trials in _episodes(outcomes).values()]
    found = []
    for k in range(1, most + 1):
        values = [pass_hat_k(n, c, k) for n, c in counts if n >= k]
        if not values:
            break
        found.append(fmean(values))
    return found


@dataclass(frozen=True, slots=True)
class Parts:
    """Means of the reward and its parts (SPEC §4)."""

    r_task: float
    r_eff: float
    r_hall: float
    r_total: float


def parts(outcomes: Sequence[Outcome]) -> Parts:
    """Return the mean of each part of the reward."""
    results = [each.result for each in outcomes]
    return Parts(*(fmean(getattr(each, name) for each in results) for name in Parts.__slots__))


ENDINGS = ("correct", "wrong answer", "turns used up", "finished early", "customer left", "format failure")
_BY_TERMINATION = {
    Termination.TURN_BUDGET: "turns used up",
    Termination.CUSTOMER_LEFT: "customer left",
    Termination.FORMAT_FAILURE: "format failure",
}


def ending_of(outcome: Outcome) -> str:
    """Return which of :data:`ENDINGS` an episode had."""
    if outcome.is_correct:
        return "correct"
    if outcome.fault is not None and outcome.result.termination is Termination.TURN_BUDGET:
        return "finished early"
    return _BY_TERMINATION.get(outcome.result.termination, "wrong answer")


def endings(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how many episodes had each of :data:`ENDINGS`."""
    counts = Counter(map(ending_of, outcomes))
    return {name: counts[name] for name in ENDINGS}


def reasons(outcomes: Iterable[Outcome]) -> list[tuple[str, int]]:
    """Return what was wrong in format failures and with agents that gave nothing, the most frequent first."""
    counts = Counter(
        f"{each.fault.kind}: {each.fault.message}" if each.fault is not None else f"format: {each.result.reason}"
        for each in outcomes
        if each.fault is not None or each.result.termination is Termination.FORMAT_FAILURE
    )
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True, slots=True)
class Turns:
    """Turns of the agent against what it had, on average."""

    used: float
    """Turns that counted."""
    all: float
    """With those that the customer caused."""
    budget: float
    share_of_full: float
    """Share of the episodes that used the whole budget."""


def turns(outcomes: Sequence[Outcome]) -> Turns:
    """Return the turns of some episodes."""
    results = [each.result for each in outcomes]
    return Turns(
        fmean(each.effective_turns for each in results),
        fmean(each.turns for each in results),
        fmean(each.max_turns for each in outcomes),
        fmean(each.result.effective_turns >= each.max_turns for each in outcomes),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """How much an agent asked, and what came of it."""

    asked: float
    """Turns with a question, on average over episodes."""
    answered: float | None
    """Share of them to which the customer said something; None if nothing was asked."""
    success: Mapping[str, Proportion]
    """Success by the number of such turns: ``0``, ``1`` … ``3+``."""


def asking(outcomes: Sequence[Outcome]) -> Asked:
    """Return how much was asked in some episodes."""
    asked = sum(each.asked for each in outcomes)
    counted = sorted(grouped(outcomes, lambda each: min(each.asked, _ASKED_MOST)).items())
    names = {count: f"{count}+" if count == _ASKED_MOST else str(count) for count, _ in counted}
    return Asked(
        asked / len(outcomes),
        sum(each.answered for each in outcomes) / asked if asked else None,
        {names[count]: success(each) for count, each in counted},
    )


@dataclass(frozen=True, slots=True)
class AxisEffect:
    """How an axis goes with failure."""

    axis: str
    rho: float
    """Spearman's rank correlation of the axis with failure: 1 if what fails always has the greater value."""
    p: float


def axis_effects(outcomes: Sequence[Outcome], live: Sequence[str]) -> list[AxisEffect]:
    """Return how the axes of an environment go with failure, the strongest first.

    An axis that had one value tells nothing, and neither does an agent that always fails or never does. A greater value
    of ``top_k`` and of the budgets is easier. All axes follow from the difficulty, so this shows which *may* be to
    blame; overrides of single axes tell them apart.
    """
    failed = np.array([not each.is_correct for each in outcomes], dtype=float)
    if not outcomes or np.ptp(failed) == 0:
        return []
    values = [_axis_values(each.task.difficulty, each.axes) for each in outcomes]
    found = []
    for axis in live:
        column = np.array([each[axis] for each in values])
        if np.ptp(column) > 0:
            test = spearmanr(column, failed)
            found.append(AxisEffect(axis, float(test.statistic), float(test.pvalue)))
    return sorted(found, key=lambda each: (-abs(each.rho), each.axis))


_axis_values = cache(axis_values)


EVENTS: Mapping[str, Callable[[Outcome], bool]] = {
    "something was sold out": lambda each: each.sold_out,
    "the store refused a call": lambda each: bool(each.result.tool_errors),
    "an id was named that nothing had shown": lambda each: each.result.r_hall < 0,
    "a question got no answer": lambda each: each.answered < each.asked,
    "all turns were used": lambda each: each.result.effective_turns >= each.max_turns,
}
"""What may happen in an episode, as the trace and the result tell."""


def event_effects(outcomes: Sequence[Outcome]) -> list[tuple[str, int, Proportion, Proportion]]:
    """Return of each event that happened and did not always: how often, and the success with and without it."""
    found = []
    for name, happened in EVENTS.items():
        groups = grouped(outcomes, happened)
        if len(groups) == 2:
            found.append((name, len(groups[True]), success(groups[True]), success(groups[False])))
    return found


def worst(run: RunResults) -> list[Outcome]:
    """Return the episodes with the least rewards: one of each environment, then of all, none that was correct.

    Of several trials of one episode the worst stands for all.
    """
    failed = sorted((o for o in run.outcomes if not o.is_correct), key=lambda o: (o.result.r_total, o.task))
    ranked = [each[0] for each in grouped(failed, lambda o: o.task.episode).values()]
    first = [each[0] for each in grouped(ranked, lambda o: o.task.env_id).values()]
    return sorted((first + [o for o in ranked if o not in first])[:_WORST], key=ranked.index)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run against another over the episodes that both played."""

    success: Difference
    reward: Difference


def compare(first: Sequence[Outcome], second: Sequence[Outcome]) -> Comparison | None:
    """Compare two runs by the means over the trials of each episode; None if they have none in common."""
    one, other = _episodes(first), _episodes(second)
    common = [episode for episode in one if episode in other]
    if not common:
        return None
    return Comparison(
        paired_difference([_rate(one[each]) for each in common], [_rate(other[each]) for each in common], most=1),
        paired_difference([_reward(one[each]) for each in common], [_reward(other[each]) for each in common], most=2),
    )


def _episodes(outcomes: Iterable[Outcome]) -> dict[tuple[str, int, int], list[Outcome]]:
    return grouped(outcomes, lambda each: each.task.episode)


def _rate(outcomes: Sequence[Outcome]) -> float:
    return fmean(each.is_correct for each in outcomes)


def _reward(outcomes: Sequence[Outcome]) -> float:
    return fmean(each.result.r_total for each in outcomes)
