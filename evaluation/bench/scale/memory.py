"""How much memory processes hold, read from the kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Self

_MIB = 1024


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of one process, in MiB."""

    resident: float
    """All its mapped pages that are in memory, including shared ones."""
    proportional: float
    """The same, but each page is divided by the number of processes that map it, so that sums count nothing twice."""
    private: float
    """Pages that no other process maps."""


def memory_of(pid: int) -> Memory | None:
    """Return the memory of a process; None if it has ended, or on a system without ``/proc``."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return None
    kib = {name: float(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
    private = kib["Private_Clean"] + kib["Private_Dirty"]
    return Memory(kib["Rss"] / _MIB, kib["Pss"] / _MIB, private / _MIB)


def family_of(pid: int) -> list[int]:
    """Return the ids of a process and of all processes that it has started."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            found += map(int, _text(task).split())
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


class PeakMemory:
    """Watches a process and all that it starts, within a ``with`` block; ``mib`` is the most they held together."""

    def __init__(self, pid: int, every_s: float = 0.5) -> None:
        self.mib: float | None = None
        """None if the system does not say."""
        self._pid, self._every_s = pid, every_s
        self._is_over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._is_over.wait(self._every_s):
            held = total_of(map(memory_of, family_of(self._pid)))
            if held is not None:
                self.mib = max(held, self.mib or 0.0)


def total_of(memories: Iterable[Memory | None]) -> float | None:
    """Return what processes hold together, in MiB; None if none is known."""
    known = [memory.proportional for memory in memories if memory is not None]
    return sum(known) if known else None
