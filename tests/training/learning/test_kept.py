"""Finished runs are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ecom_rlve.training.learning.experiments import Job
from ecom_rlve.training.learning.kept import Kept
from ecom_rlve.training.learning.runs import Plan

JOB = Job("adaptive", Plan(("STATUS",), 64, 0), 2, (("STATUS", 0),))


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    assert kept.of([JOB]) == []
    first = kept.outcome(JOB)
    assert kept.of([JOB]) == [first]
    (file,) = tmp_path.iterdir()
    written = file.stat().st_mtime_ns
    assert kept.outcome(JOB) == first
    assert file.stat().st_mtime_ns == written
    assert first.cells
    assert len(first.progress.correct) == 1


def test_another_run_is_another_file(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.outcome(JOB)
    kept.outcome(replace(JOB, plan=replace(JOB.plan, seed=1)))
    assert len(list(tmp_path.iterdir())) == 2


def test_an_unfinished_file_is_no_run(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.outcome(JOB)
    (file,) = tmp_path.iterdir()
    file.rename(file.with_suffix(".1.tmp"))
    kept.outcome(JOB)
    assert file.is_file()
