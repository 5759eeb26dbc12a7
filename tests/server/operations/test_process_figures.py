"""What a process uses, as its figures tell it."""

from __future__ import annotations

import os
import resource
from typing import Any

from prometheus_client import CollectorRegistry

from ecom_rlve.server.operations.process_figures import ProcessFigures


def test_memory_files_and_time_are_those_of_this_process() -> None:
    registry = CollectorRegistry()
    figures = ProcessFigures(registry)

    def told(name: str) -> Any:
        return registry.get_sample_value(f"ecom_rlve_process_{name}")

    figures.sample()
    before = told("open_files")
    with open(os.devnull):
        figures.sample()
        assert told("open_files") == before + 1
    assert told("open_files_limit") == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert 0 < told("private_bytes") <= told("resident_bytes")
    assert 0 < told("cpu_seconds_total") <= sum(os.times()[:2])
