"""One in-process measurement, as the worker prints it and the report reads it."""

from __future__ import annotations

from dataclasses import dataclass

DIFFICULTIES: dict[str, tuple[int, ...]] = {"0": (0,), "0 to 12": (0, 3, 6, 9, 12)}
"""Mixtures of difficulties, which take turns, by name."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One round on one catalog; times are CPU microseconds of one call, medians over the round's episodes."""

    products: int
    difficulty: str
    """Key of :data:`DIFFICULTIES`."""
    reset_us: float
    """Cost of a reset after other resets."""
    episode_reset_us: float
    """Cost of a reset after a whole episode, whose search has read all vectors through the processor's caches."""
    search_us: float
    add_us: float
    answer_us: float
    view_us: float
    """Cost of a ``cart_view`` step on a cart of one line."""
    episodes_per_cpu_s: float
    """Whole episodes per second of one core's time."""
    episodes_per_s: float
    """Whole episodes per second of the clock; fewer if others use the machine."""
