"""One integer ``d`` in 0..20 sets twelve independent axes (SPEC §3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from math import exp, floor, inf

from ecom_rlve.envs.errors import AxesError
from ecom_rlve.models import MAX_DIFFICULTY


def logistic(x: float) -> float:
    """Return 1 / (1 + e^-x).

    >>> logistic(0.0)
    0.5
    """
    return 1.0 / (1.0 + exp(-x))


@dataclass(frozen=True, slots=True)
class Axes:
    """The twelve axes of one episode, and the difficulty they came from."""

    d: int
    """0 to 20; the environment-specific scales are functions of it."""
    m: int
    """1 Constraints."""
    p_missing: float
    """2 Probability that a slot is left out of the first message."""
    eps_rank: float
    """3 Share of search results replaced by distractors."""
    p_oos: float
    """4 Probability that something wanted sells out during the dialogue."""
    t_max: int
    """5 The agent's turn budget."""
    p_noise: float
    """6 Share of the words noise may touch that it does touch."""
    p_switch: float
    """7 Probability that an intent is interrupted by the next (JOURNEY)."""
    top_k: int
    """8 Search results that can be paged to."""
    h_orders: int
    """9 Orders in the history."""
    b_branch: int
    """10 Conditions in the policy book that a question needs."""
    b_tool: int
    """11 Tool calls per turn."""
    k_rec: int
    """12 Items asked for."""


@lru_cache(maxsize=MAX_DIFFICULTY + 1)
def axes_of(d: int) -> Axes:
    """Return the axes of a difficulty (SPEC §3).

    >>> axes_of(6).m, axes_of(6).top_k, round(axes_of(6).p_missing, 2)
    (5, 140, 0.7)
    """
    return Axes(
        d=d,
        m=2 + d // 2,
        p_missing=0.8 * logistic((d - 3.5) / 1.3),
        eps_rank=min(0.4, 0.02 * d),
        p_oos=min(0.5, 0.05 * d),
        t_max=4 + d // 2,
        p_noise=min(0.125, 0.01 * d),
        p_switch=0.6 * logistic((d - 5) / 2),
        top_k=max(20, 200 - 10 * d),
        h_orders=12 + 2 * d,
        b_branch=1 + d // 3,
        b_tool=min(6, 2 + d // 2),
        k_rec=min(10, 3 + d // 3),
    )


_LEAST = {"t_max": 2, "top_k": 10, "b_tool": 1, "m": 1, "h_orders": 1, "b_branch": 1, "k_rec": 1}


def overridden(axes: Axes, overrides: Mapping[str, float]) -> Axes:
    """Return ``axes`` with single ones replaced, for ablations.

    Probabilities lie in [0, 1], counts are whole numbers from a small least value up to 1,000. Raises
    :class:`AxesError` otherwise; feasibility within the budgets is promised only without overrides.
    """
    if not overrides:
        return axes
    kinds = {field.name: field.type for field in fields(Axes) if field.name != "d"}
    changes: dict[str, float | int] = {}
    for name, value in sorted(overrides.items()):
        if name not in kinds:
            raise AxesError(f"no axis {name!r}; there are {', '.join(kinds)}")
        least, most = (0.0, 1.0) if kinds[name] == "float" else (_LEAST[name], 1000)
        if value in (inf, -inf) or value != value or not least <= value <= most:
            raise AxesError(f"axis {name} must lie in [{least}, {most}], not {value}")
        if kinds[name] == "int" and value != floor(value):
            raise AxesError(f"axis {name} must be a whole number, not {value}")
        changes[name] = float(value) if kinds[name] == "float" else int(value)
    return replace(axes, **changes)  # type: ignore[arg-type]  # names and types were checked against the fields
