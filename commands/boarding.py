"""What ``ecom-rlve board verify`` does: play a submission again on a catalog of its own."""

from __future__ import annotations

import os
from pathlib import Path

from ecom_rlve.commands.progress import stage_bars
from ecom_rlve.evaluation.judging.board import add_to_board, faults_of, row_of
from ecom_rlve.evaluation.judging.folder import read_config
from ecom_rlve.evaluation.judging.records import EpisodeLine
from ecom_rlve.evaluation.judging.replaying import again, opened
from ecom_rlve.evaluation.judging.suite import CATALOG


def verified(folder: Path, *, is_reference: bool, add: Path | None) -> tuple[str | None, list[str]]:
    """Return the row of a submission as JSON, or None, and what is wrong with it.

    Raises :class:`ResultsError` if it is no folder of results.
    """
    planned = read_config(folder).plan.size
    cache = os.environ.get("ECOM_RLVE_CACHE_DIR")
    with stage_bars() as tell:
        shop, counted = opened(CATALOG, Path(cache) if cache else None), iter(range(1, planned + 1))

        def differs(line: EpisodeLine) -> str | None:
            tell("verified", next(counted), planned)
            return again(line, shop)

        faults = faults_of(folder, is_reference=is_reference, differs=differs)
    if faults:
        return None, faults
    row = row_of(folder, is_reference=is_reference)
    if add is not None:
        add_to_board(add, row)
    return row.model_dump_json(indent=1), []
