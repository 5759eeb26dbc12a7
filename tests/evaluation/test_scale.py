"""The benchmark of large catalogs: what it says of its figures, and that it runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ecom_rlve.evaluation.bench.scale.memory import Memory, PeakMemory, family_of, memory_of, total_of
from ecom_rlve.evaluation.bench.scale.report import Build, Measured, Pair, catalog_table, judged, search_table
from ecom_rlve.evaluation.bench.scale.sample import EnvironmentSample, SearchSample, Spread, WorkerSample

FAST = Spread(1.0, 2.0)
SEARCH = SearchSample("none", 1000.0, Spread(2.4, 5.0), Spread(2.0, 3.0), 0.97)
WORKER = WorkerSample(2000, 60, 0.5, 0.1, [EnvironmentSample("PD", 20, FAST, 900.0)], [SEARCH])
PAIR = Pair(Memory(1000.0, 900.0, 100.0), Memory(1000.0, 550.0, 100.0), 140.0)


def verdicts(run: Measured) -> list[bool | None]:
    return [each.is_met for each in judged(run)]


def test_every_target_can_be_met_and_missed() -> None:
    assert verdicts(Measured(Build(600.0, 7000.0, 900.0), WORKER, PAIR)) == [True] * 5
    slow = replace(SEARCH, step=Spread(9.1, 12.0), raw=Spread(6.0, 7.0), recall=0.94)
    worker = replace(WORKER, open_s=2.1, searches=[slow])
    assert verdicts(Measured(Build(600.0, 9000.0, 900.0), worker, replace(PAIR, added_mib=151.0))) == [False] * 5


def test_a_short_search_may_take_two_milliseconds_more() -> None:
    short = replace(SEARCH, step=Spread(2.0, 3.0), raw=Spread(0.1, 0.2))
    assert judged(Measured(None, replace(WORKER, searches=[short]), PAIR))[-1].is_met
    assert "| 2.00 | 3.00 | 0.10 | 0.20 | 20.00 | +1.90 | 0.970 |" in search_table(
        Measured(None, replace(WORKER, searches=[short]), PAIR)
    )


def test_what_was_not_measured_fails_nothing() -> None:
    run = Measured(None, WORKER, None)
    assert verdicts(run) == [True, None, None, True, True]
    assert "| build | not measured |" in catalog_table(run)


def test_memory_is_that_of_a_process_and_its_children() -> None:
    own = memory_of(os.getpid())
    if own is None:
        pytest.skip("NOT TESTED: this system has no /proc")
    assert own.private <= own.proportional <= own.resident
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        with PeakMemory(process.pid, every_s=0.01) as peak:
            while len(family_of(process.pid)) < 2 or peak.mib is None:
                pass
            family = total_of(map(memory_of, family_of(process.pid)))
        process.stdin.close()  # type: ignore[union-attr]  # None would fail here, as it should
    assert family is not None
    assert peak.mib > 0
    assert memory_of(process.pid) is None


@pytest.mark.slow
def test_the_quick_run_prints_every_target(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.scale", "--quick", "--products=2000"]
    done = subprocess.run([*command, f"--store={tmp_path / 'store'}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for wanted in (
        r"\| open, s \| \d+\.\d\d \| ≤ 2 \| (PASS|FAIL) \|",
        r"\| memory added by a second worker, of the first's \| [\d.]+% \| ≤ 15% \| (PASS|FAIL) \|",
        r"\| most memory of the build, GiB \| [\d.]+ \| < 8 \| PASS \|",
        r"\| recall@20, none \| 1.000 \| ≥ 0.95 \| PASS \|",
        r"\| `catalog_search` / raw FAISS, selective: category \| [\d.]+ \([+-][\d.]+ ms\) \|",
    ):
        assert re.search(wanted, done.stdout), done.stdout
