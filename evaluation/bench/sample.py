"""One in-process measurement, as the worker prints it and the report reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DIFFICULTIES: dict[str, tuple[int, ...]] = {"0": (0,), "0 to 12": (0, 3, 6, 9, 12)}
"""Difficulties that take turns, by the name of their mixture."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One round on one catalog; times are CPU microseconds of one call, medians over the round's episodes."""

    products: int
    difficulty: str
    """Key of :data:`DIFFICULTIES`."""
    reset_us: float
    """Of resets that follow one another."""
    episode_reset_us: float
    """Of resets after whole episodes, whose searches have read all vectors through the processor's caches."""
    search_us: float
    add_us: float
    answer_us: float
    view_us: float
    """A ``cart_view`` step on a cart of one line."""
    episodes_per_cpu_s: float
    """Whole episodes in a second of one core's time."""
    episodes_per_s: float
    """Whole episodes in a second of the clock: lower where others use the machine."""
    resets_us: Mapping[str, float] = field(default_factory=dict)
    """Of resets of every environment that the catalog serves at such difficulties, by environment."""
