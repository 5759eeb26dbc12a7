"""What ``ecom-rlve report`` does: read folders, write a page and Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ecom_rlve.evaluation.judging.errors import OutputError, ResultsError
from ecom_rlve.evaluation.judging.report.content import report_on
from ecom_rlve.evaluation.judging.report.markdown import markdown
from ecom_rlve.evaluation.judging.report.outcomes import RunResults, read_results
from ecom_rlve.evaluation.judging.report.page import page

MOST_RUNS = 6
"""So many colours there are."""


def write_report(folders: Sequence[Path], out: Path) -> tuple[Path, Path]:
    """Write the report on runs to ``out``, and as Markdown beside it; return both paths.

    Raises :class:`ResultsError` and :class:`OutputError`.
    """
    if len(folders) > MOST_RUNS:
        raise ResultsError(f"at most {MOST_RUNS} runs are shown side by side, not {len(folders)}")
    report = report_on([_read(folder, name) for folder, name in zip(folders, _names(folders), strict=True)])
    beside = out.with_suffix(".md")
    if beside == out:
        raise OutputError(f"{out} is the name of the Markdown; give the page another, such as report.html")
    try:
        out.write_text(page(report), encoding="utf-8")
        beside.write_text(markdown(report), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{out} cannot be written: {error.strerror}") from error
    return out, beside


def _read(folder: Path, name: str) -> RunResults:
    found = read_results(folder, name)
    if not found.outcomes:
        raise ResultsError(f"{folder} holds no episode yet")
    return found


def _names(folders: Sequence[Path]) -> list[str]:
    """Return the folders' names, with those above them where several are called alike."""
    count = Counter(folder.resolve().name for folder in folders)
    return [
        folder.resolve().name if count[folder.resolve().name] == 1 else "/".join(folder.resolve().parts[-2:])
        for folder in folders
    ]
