"""Figures of several workers as one: any of them answers ``/metrics`` with the sum.

``prometheus_client`` keeps them in files of one folder that the workers map, so nothing is lost if a worker is killed.
It decides so when it is imported, by the variable ``PROMETHEUS_MULTIPROC_DIR``, which whoever starts workers sets.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_LIVE_FILE = re.compile(r"gauge_live[a-z]+_(?P<pid>\d+)\.db")


@contextmanager
def sharing() -> Iterator[None]:
    """Let the processes that are started inside the block share their figures."""
    folder = tempfile.mkdtemp(prefix="ecom-rlve-figures-")
    os.environ[VARIABLE] = folder
    try:
        yield
    finally:
        del os.environ[VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)


def is_shared() -> bool:
    """Tell whether this process shares its figures with others."""
    return VARIABLE in os.environ


def shared_folder() -> Path | None:
    """Return the folder that the processes share; None where this one shares nothing."""
    return Path(os.environ[VARIABLE]) if is_shared() else None


def shared_registry(own: Collector) -> CollectorRegistry:
    """Return the figures of all workers, and what ``own`` collects, which is the same in each of them."""
    folder = Path(os.environ[VARIABLE])
    for pid in _dead(folder):
        mark_process_dead(pid, str(folder))
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(folder))
    registry.register(own)
    return registry


def _dead(folder: Path) -> list[int]:
    """Return the workers that have gone and whose gauges still stand there; their counts are kept."""
    found = {int(match["pid"]) for path in folder.iterdir() if (match := _LIVE_FILE.fullmatch(path.name))}
    return sorted(pid for pid in found if not is_alive(pid))


def is_alive(pid: int) -> bool:
    """Tell whether there is a process of this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
