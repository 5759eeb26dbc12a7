"""What the pages say of an environment: every module of ``described`` exports it as ``DESCRIBED``.

An environment without one is served and judged like the others; it has no section in ``docs/environments.md`` yet.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from math import nan
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from reward_sums import Sum

from ecom_rlve.envs.difficulty import AXES, Axes
from ecom_rlve.envs.episode.episode import Episode

Count = tuple[float, float]
"""How many did, out of how many; for a mean: the sum, and the number of episodes."""
Counts = dict[str, Count]


class Row(NamedTuple):
    """One row of a table."""

    key: str
    """Name of its count."""
    says: str
    formula: str
    value: Callable[[Axes], float]
    """What the formula gives; nan where it has no number."""


def axis_row(key: str, says: str, axis: str) -> Row:
    """Return the row of an axis: its number, its formula and its value are those that it is declared with."""
    return Row(key, f"{AXES[axis].number} {says}", AXES[axis].formula, attrgetter(axis))


CONSTRAINTS = axis_row("constraints", "wishes", "m")
MISSING = axis_row("left out", "facts left out of the first message", "p_missing")
REPLACED = axis_row("replaced", "results replaced", "eps_rank")
SELLS_OUT = axis_row("sells out", "things of the kind of which some sell out that do", "p_oos")
TURNS = axis_row("turns", "turn budget `T_max`", "t_max")
SLIPS = axis_row("slipped", "slips, per word that may have one", "p_noise")
CHANGES = axis_row("changed", "errands of PD and CART in which the customer changes their mind", "p_switch")
DEPTH = axis_row("depth", "results that can be paged to", "top_k")
ORDERS = axis_row("orders", "orders in the history", "h_orders")
CALLS = axis_row("calls", "tool calls a turn `B_tool`", "b_tool")
ASKED_FOR = axis_row("asked for", "products asked for `k_rec`", "k_rec")
REDRAWS = Row("redraws", "products drawn again, per episode", "", lambda _: nan)
SEARCHED = (MISSING, REPLACED, SELLS_OUT, TURNS, SLIPS, DEPTH, CALLS)
"""The axes that are live where products are searched for."""


@dataclass(frozen=True, slots=True)
class Described:
    """The parts of an environment's section that are not the same for all."""

    env_id: str
    rows: tuple[Row, ...]
    """The live axes, and its own scales."""
    counts: Callable[[Episode], Counts]
    """Counts in an episode what only this environment has."""
    reward: Callable[[Episode, dict[str, Any]], Sum] | None = None
    """Works the task reward of a correct answer out at the end of an episode; None where no episode is shown."""
    difficulty: int = 3
    """Of the episode shown."""
    shows: Callable[[Any], bool] = lambda _: True
    """Tells of a goal as people read it whether it shows what the environment is about, or is short enough for a page.
    """
    table: tuple[str, str] | None = None
    """Page and block of the difficulty table; None for those in ``docs/environments.md``."""


@lru_cache(maxsize=1)
def described() -> dict[str, Described]:
    """Return what there is to say of each environment, in id order."""
    folder = Path(__file__).parent / "described"
    found = [import_module(f"described.{module.name}").DESCRIBED for module in pkgutil.iter_modules([str(folder)])]
    return {each.env_id: each for each in sorted(found, key=lambda each: each.env_id)}
