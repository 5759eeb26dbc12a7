"""Figures of several processes as one sum, also of those that were killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ecom_rlve.server.operations.shared_figures import VARIABLE, is_shared, sharing

WORKER = """
import sys
from ecom_rlve.server.metrics import Metrics
metrics = Metrics(lambda: 2, lambda: 5, lambda runs: [])
metrics.tell_build("print", 400)
metrics.watch_held(lambda: 2)
tally = metrics.episodes.tally("CART", "r")
tally.begin()
metrics.observe_search(0.002)
metrics.text()
print("counted", flush=True)
for line in sys.stdin:
    print(metrics.text() + "# END", flush=True)
"""


def worker() -> subprocess.Popen[str]:
    """Start a process that counts a reset and a search, and prints all figures for each line that it reads."""
    process = subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "counted\n"
    return process


def told_by(process: subprocess.Popen[str]) -> dict[str, float]:
    """Return the figures without labels, and the number of processes that tell their memory."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    text = "".join(iter(process.stdout.readline, "# END\n"))
    samples: list[Any] = [each for family in text_string_to_metric_families(text) for each in family.samples]
    found = {each.name: each.value for each in samples}
    return found | {"processes": sum(each.name == "ecom_rlve_process_resident_bytes" for each in samples)}


def test_any_worker_tells_the_sum_and_a_killed_one_keeps_its_counts() -> None:
    with sharing():
        workers = [worker() for _ in range(3)]
        try:
            told = told_by(workers[0])
            workers[1].send_signal(signal.SIGKILL)
            workers[1].wait()
            later = told_by(workers[2])
        finally:
            for each in workers:
                each.kill()
                each.communicate()
    names = ("ecom_rlve_resets_total", "ecom_rlve_search_seconds_count", "ecom_rlve_held_sessions", "processes")
    assert [told[name] for name in names] == [3, 3, 6, 3]
    assert [later[name] for name in names] == [3, 3, 4, 2]
    # They are those of all workers already.
    assert told["ecom_rlve_live_sessions"] == 2
    assert (told["ecom_rlve_build_info"], told["ecom_rlve_catalog_products"]) == (1, 400)


def test_figures_are_shared_by_what_is_started_inside_the_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    told = [is_shared()]
    with sharing():
        told.append(is_shared())
    assert [*told, is_shared()] == [False, True, False]
