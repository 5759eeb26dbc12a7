"""What the process uses: memory, file descriptors, processor time. Read from ``/proc``; absent where there is none."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge

_KIB = 1024


class ProcessFigures:
    """The figures of this process; of several workers, each is shown with its process id."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, meaning: str) -> Gauge:
            return Gauge(name, meaning, registry=registry, multiprocess_mode="liveall")

        self._resident = gauge("ecom_rlve_process_resident_bytes", "Memory in use, what workers share included")
        self._private = gauge("ecom_rlve_process_private_bytes", "Memory that no other process shares")
        self._files = gauge("ecom_rlve_process_open_files", "Open file descriptors")
        self._most_files = gauge("ecom_rlve_process_open_files_limit", "File descriptors that may be open")
        self._cpu = Counter("ecom_rlve_process_cpu_seconds", "Processor time, user and system", registry=registry)
        self._cpu_seen = 0.0

    def sample(self) -> None:
        """Bring the figures up to date."""
        self._most_files.set(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        spent = sum(os.times()[:2])
        self._cpu.inc(max(0.0, spent - self._cpu_seen))
        self._cpu_seen = spent
        try:
            self._files.set(len(os.listdir("/proc/self/fd")))
            sizes = _sizes(Path("/proc/self/smaps_rollup").read_text())
        except OSError:
            return
        self._resident.set(sizes.get("Rss", 0) * _KIB)
        self._private.set((sizes.get("Private_Clean", 0) + sizes.get("Private_Dirty", 0)) * _KIB)


def _sizes(text: str) -> dict[str, int]:
    r"""Return the sizes in KiB that ``smaps_rollup`` tells, by name.

    >>> _sizes("Rss:   12 kB\nPss_Dirty:  3 kB\n7f-80 ---p 00 00:00 0 [rollup]\n")
    {'Rss': 12, 'Pss_Dirty': 3}
    """
    found = {}
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        number, _, unit = rest.strip().partition(" ")
        if unit == "kB" and number.isdecimal():
            found[name] = int(number)
    return found
