"""What is measured on a large catalog, as the workers print it and the report reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and 99th percentile of many times, in milliseconds."""

    p50: float
    p99: float

    @classmethod
    def of(cls, times_ms: list[float]) -> Spread:
        """Return the spread of at least one time."""
        middle, end = np.percentile(times_ms, (50, 99)).tolist()
        return cls(middle, end)


@dataclass(frozen=True, slots=True)
class EnvironmentSample:
    """What was measured of one environment."""

    env_id: str
    most: int
    """The highest difficulty that the catalog can serve."""
    reset: Spread
    """CPU time of a reset; difficulties 0 to 12 in turns."""
    episodes_per_s: float
    """Whole episodes per second of one core: resets and steps, without the solution's own work."""


@dataclass(frozen=True, slots=True)
class SearchSample:
    """Searches with one kind of filter."""

    filters: str
    passing: float
    """Products that pass, on average."""
    step: Spread
    """CPU time of a whole ``catalog_search`` step; other load on the machine hardly changes it."""
    raw: Spread
    """CPU time of FAISS alone, in the same run, right after each step."""
    recall: float
    """Share of the best 20 by exact comparison that the index finds."""


@dataclass(frozen=True, slots=True)
class WorkerSample:
    """One worker process on an open catalog."""

    products: int
    categories: int
    open_s: float
    """Time to open the catalog and its index."""
    levels_s: float
    """Time to find the highest difficulty of every environment."""
    environments: list[EnvironmentSample]
    searches: list[SearchSample]
