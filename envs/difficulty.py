"""One integer ``d`` in 0..20 sets twelve independent axes (SPEC §3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from math import exp, floor
from types import MappingProxyType
from typing import Any

from ecom_rlve.envs.errors import AxesError
from ecom_rlve.models import MAX_DIFFICULTY

_AXIS = "axis"
_MOST_COUNT = 1000
"""Highest override of a count, so that no request can exhaust the server."""


def logistic(x: float) -> float:
    """Return 1 / (1 + e^-x).

    >>> logistic(0.0)
    0.5
    """
    return 1.0 / (1.0 + exp(-x))


@dataclass(frozen=True, slots=True)
class Axis:
    """How one axis follows from the difficulty, and the values that it may take."""

    number: int
    """Its place in SPEC §3, from 1."""
    formula: str
    """``at`` in mathematical notation, for the documentation."""
    at: Callable[[int], Any]
    """Returns its value at a difficulty: an ``int`` if ``is_whole``, else a ``float``."""
    least: float = 0.0
    most: float = 1.0
    """Bounds of an override, both included; by default those of a share."""
    is_whole: bool = False


def _count(number: int, formula: str, at: Callable[[int], int], least: int = 1) -> Mapping[str, Axis]:
    """Return the declaration of a whole number; ``least`` is the smallest one that still makes an episode."""
    return {_AXIS: Axis(number, formula, at, least, _MOST_COUNT, is_whole=True)}


def _share(number: int, formula: str, at: Callable[[int], float]) -> Mapping[str, Axis]:
    """Return the declaration of a probability or share."""
    return {_AXIS: Axis(number, formula, at)}


@dataclass(frozen=True, slots=True)
class Axes:
    """The twelve axes of one episode, and the difficulty that they came from."""

    d: int
    """0 to 20; the scales of single environments (SPEC §3) are functions of it."""
    m: int = field(metadata=_count(1, "2 + ⌊d/2⌋", lambda d: 2 + d // 2))
    """Constraints."""
    p_missing: float = field(metadata=_share(2, "0.8·σ((d−3.5)/1.3)", lambda d: 0.8 * logistic((d - 3.5) / 1.3)))
    """Probability that a slot is left out of the first message."""
    eps_rank: float = field(metadata=_share(3, "min(0.4, 0.02·d)", lambda d: min(0.4, 0.02 * d)))
    """Share of search results replaced by distractors."""
    p_oos: float = field(metadata=_share(4, "min(0.5, 0.05·d)", lambda d: min(0.5, 0.05 * d)))
    """Probability that something wanted sells out during the dialogue."""
    t_max: int = field(metadata=_count(5, "4 + ⌊d/2⌋", lambda d: 4 + d // 2, least=2))
    """The agent's turn budget."""
    p_noise: float = field(metadata=_share(6, "min(0.125, 0.01·d)", lambda d: min(0.125, 0.01 * d)))
    """Share of words that get a typing error, among those that noise may touch."""
    p_switch: float = field(metadata=_share(7, "0.6·σ((d−5)/2)", lambda d: 0.6 * logistic((d - 5) / 2)))
    """Probability that the next intent interrupts one (JOURNEY), that a customer changes their mind (CART, PD)."""
    top_k: int = field(metadata=_count(8, "max(20, 200−10·d)", lambda d: max(20, 200 - 10 * d), least=10))
    """How many results of a search can be reached by paging."""
    h_orders: int = field(metadata=_count(9, "12 + 2·d", lambda d: 12 + 2 * d))
    """Orders in the history."""
    b_branch: int = field(metadata=_count(10, "1 + ⌊d/3⌋", lambda d: 1 + d // 3))
    """Conditions in the policy book that a question needs."""
    b_tool: int = field(metadata=_count(11, "min(6, 2+⌊d/2⌋)", lambda d: min(6, 2 + d // 2)))
    """Tool calls per turn."""
    k_rec: int = field(metadata=_count(12, "min(10, 3+⌊d/3⌋)", lambda d: min(10, 3 + d // 3)))
    """Items asked for."""


AXES: Mapping[str, Axis] = MappingProxyType(
    {each.name: each.metadata[_AXIS] for each in fields(Axes) if _AXIS in each.metadata}
)
"""The declarations of the twelve axes by name, in the order of SPEC §3."""


@lru_cache(maxsize=MAX_DIFFICULTY + 1)
def axes_of(d: int) -> Axes:
    """Return the axes of a difficulty (SPEC §3).

    >>> axes_of(6).m, axes_of(6).top_k, round(axes_of(6).p_missing, 2)
    (5, 140, 0.7)
    """
    return Axes(d, **{name: axis.at(d) for name, axis in AXES.items()})


def overridden(axes: Axes, overrides: Mapping[str, float]) -> Axes:
    """Return ``axes`` with single ones replaced, for ablations.

    Raises :class:`AxesError` for an unknown axis, for a value outside its bounds and for one of the wrong type. With
    overrides it is not guaranteed that an episode can be solved within its budgets.
    """
    changes: dict[str, Any] = {}
    for name, value in sorted(overrides.items()):
        if name not in AXES:
            raise AxesError(f"no axis {name!r}; there are {', '.join(AXES)}")
        axis = AXES[name]
        # Written this way round, the comparison refuses NaN too.
        if not axis.least <= value <= axis.most:
            raise AxesError(f"axis {name} must lie in [{axis.least}, {axis.most}], not {value}")
        if axis.is_whole and value != floor(value):
            raise AxesError(f"axis {name} must be a whole number, not {value}")
        changes[name] = int(value) if axis.is_whole else float(value)
    return replace(axes, **changes) if changes else axes
