"""What ``ecom-rlve replay`` does: open the catalog, play what was recorded again, show how far it is."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from ecom_rlve.commands.progress import stage_bars
from ecom_rlve.evaluation.judging.replaying import Mismatch, mismatches, opened, recorded_in, source_of
from ecom_rlve.evaluation.judging.suite import CATALOG


def replayed(path: Path, catalog: str | None) -> tuple[int, list[Mismatch]]:
    """Return how many episodes were played again, and those that differ.

    Raises :class:`ResultsError` if there is nothing to play, or it was played with another catalog.
    """
    recorded = list(recorded_in(path))
    source = catalog or source_of(path, os.environ.get("ECOM_RLVE_CATALOG") or CATALOG)
    cache = os.environ.get("ECOM_RLVE_CACHE_DIR")
    with stage_bars() as tell:
        shop = opened(source, Path(cache) if cache else None)
        counted = iter(range(1, len(recorded) + 1))
        done = partial(lambda: tell("replayed", next(counted), len(recorded)))
        return len(recorded), list(mismatches(recorded, shop, done))
