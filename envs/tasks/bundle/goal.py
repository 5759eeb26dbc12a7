"""What a BUNDLE episode is about: a project, what it needs, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from ecom_rlve.envs.tasks.bundle.needs import Need
from ecom_rlve.envs.tasks.bundle.projects import Project

_SLACK_UNIT = 10**6
"""The exponential is rounded to so many parts, so that no machine's last digit counts."""


@dataclass(frozen=True, slots=True)
class BundleGoal:
    """A project, what it needs, and what it may cost."""

    project: Project
    needs: tuple[Need, ...]
    budget: int
    """Integer cents."""


def needs_at(d: int) -> int:
    """Number of kinds that a project needs: min(6, 2 + d // 3) (SPEC §3)."""
    return min(6, 2 + d // 3)


def wishes_at(m: int) -> int:
    """Number of wishes for each kind, given the axis of constraints: m // 3, which is none below d = 2.

    >>> [wishes_at(m) for m in (2, 3, 5, 6, 8)]
    [0, 1, 1, 2, 2]
    """
    return m // 3


def budget_for(cover: int, d: int) -> int:
    """Return what may be spent where the cheapest acceptable products cost ``cover``: that and e^(-d/6) of it more.

    Integer cents. The exponential is rounded to a millionth first, so that no machine's last digit counts.

    >>> budget_for(10_000, 0), budget_for(10_000, 6), budget_for(10_000, 12)
    (20000, 13678, 11353)
    """
    return cover + cover * round(exp(-d / 6) * _SLACK_UNIT) // _SLACK_UNIT
