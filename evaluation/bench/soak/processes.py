"""The processes of a server under test: which they are, what they take, and their end."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass
from pathlib import Path

_PRIVATE = re.compile(r"^Private_(?:Clean|Dirty): +(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sample:
    """What all workers of a server take at one moment."""

    at: float
    """Seconds since the start."""
    workers: int
    private_mib: float
    """Memory that only one process has, summed."""
    descriptors: int


def workers_of(supervisor: int) -> list[int]:
    """Return the workers of a server, by their process ids, oldest first."""
    return [pid for pid in _children(supervisor) if b"spawn_main" in _command(pid)]


def kill_one(supervisor: int) -> int | None:
    """Kill the oldest worker without a word; return its process id, None where there is no other to go on."""
    workers = workers_of(supervisor)
    if len(workers) < 2:
        return None
    os.kill(workers[0], signal.SIGKILL)
    return workers[0]


def sampled(at: float, supervisor: int) -> Sample:
    """Return what a server's workers take now."""
    found = [(private_mib(pid), descriptors(pid)) for pid in workers_of(supervisor)]
    whole = [(memory, files) for memory, files in found if memory is not None and files is not None]
    return Sample(at, len(whole), sum(memory for memory, _ in whole), sum(files for _, files in whole))


def private_mib(pid: int) -> float | None:
    """Return the memory that only this process has; None where it is gone."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return None
    return sum(map(int, _PRIVATE.findall(text))) / 1024


def descriptors(pid: int) -> int | None:
    """Return how many files a process has open; None where it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
