"""What a BUNDLE episode is about: a project, what it needs, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from ecom_rlve.catalog.shop_words.currencies import coin
from ecom_rlve.envs.tasks.bundle.needs import Need
from ecom_rlve.envs.tasks.bundle.projects import Project

_SLACK_UNIT = 10**6
"""The exponential is rounded to multiples of 1 / ``_SLACK_UNIT``, so that all machines get the same budget."""


@dataclass(frozen=True, slots=True)
class BundleGoal:
    """A project, what it needs, and what it may cost."""

    project: Project
    needs: tuple[Need, ...]
    budget: int
    """Integer cents."""


def needs_at(d: int) -> int:
    """Return the number of kinds that a project needs: min(6, 2 + d // 3) (SPEC §3)."""
    return min(6, 2 + d // 3)


def budget_for(cover: int, d: int, currency: str | None = None) -> int:
    """Return the budget: ``cover``, the cost of the cheapest acceptable products, and e^(-d/6) of it more.

    Both in integer cents; of a ``currency`` without decimals a whole number of units. The exponential is rounded to a
    millionth first, so that all machines get the same budget.

    >>> budget_for(10_000, 0), budget_for(10_000, 6), budget_for(10_000, 12)
    (20000, 13678, 11353)
    """
    budget = cover + cover * round(exp(-d / 6) * _SLACK_UNIT) // _SLACK_UNIT
    return budget if currency is None else budget // coin(currency) * coin(currency)
