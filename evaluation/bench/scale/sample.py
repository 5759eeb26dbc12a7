"""What is measured on a large catalog, as the workers print it and the report reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Spread:
    """Middle and end of many times, in milliseconds."""

    p50: float
    p99: float

    @classmethod
    def of(cls, times_ms: list[float]) -> Spread:
        """Return the spread of at least one time."""
        middle, end = np.percentile(times_ms, (50, 99)).tolist()
        return cls(middle, end)


@dataclass(frozen=True, slots=True)
class EnvironmentSample:
    """One environment."""

    env_id: str
    most: int
    """The highest difficulty that the catalog can serve."""
    reset: Spread
    """CPU time of the process; difficulties 0 to 12 in turns."""
    episodes_per_s: float
    """Whole episodes in a second of one core: resets and steps, without the solution's own work."""


@dataclass(frozen=True, slots=True)
class SearchSample:
    """Searches with one sort of filter."""

    filters: str
    passing: float
    """Products that pass, on average."""
    step: Spread
    """A whole ``catalog_search`` step, CPU time: other load on the machine tells nothing of it."""
    raw: Spread
    """FAISS alone, in the same run, right after each step."""
    recall: float
    """Share of the first 20 by exact comparison that the index finds."""


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """One worker process on an open catalog."""

    products: int
    categories: int
    open_s: float
    """Opening the catalog and its index."""
    levels_s: float
    """Finding the highest difficulty of every environment."""
    environments: list[EnvironmentSample]
    searches: list[SearchSample]
