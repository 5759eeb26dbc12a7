"""How many connections each address has at all workers together, so that a limit for one holds for the server.

Each worker maps a file of its own, which it alone writes, and those of the others to read. The file of a worker that
has gone, killed or not, counts no more. An address has a counter by its hash, so very rarely two addresses share one.
"""

from __future__ import annotations

import mmap
import os
import re
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from ecom_rlve.server.operations.shared_figures import is_alive

_COUNTERS = 1 << 16
_BYTES = 4
"""Of one counter."""
_FILE = re.compile(r"seats_(?P<pid>\d+)\.bin")


class SharedSeats:
    """The connections of one worker, and of those that share a folder with it."""

    def __init__(self, folder: Path, pid: int) -> None:
        """Count in ``folder`` for the process ``pid``."""
        self._folder = folder
        self._pid = pid
        path = folder / f"seats_{pid}.bin"
        # Another process may have had the number before.
        path.write_bytes(bytes(_COUNTERS * _BYTES))
        self._own = _mapped(path, mmap.ACCESS_WRITE)
        self._others: dict[int, memoryview] = {}
        self.look()

    def add(self, address: str, more: int) -> None:
        """Count so many connections more of an address here; fewer where that is negative."""
        self._own[_counter(address)] += more

    def elsewhere(self, address: str) -> int:
        """Return how many connections an address has at other workers."""
        at = _counter(address)
        return sum(counters[at] for counters in self._others.values())

    def look(self) -> None:
        """Find workers that have come, and forget those that have gone."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            # Whoever cleans up temporary files took it for one. The files that are mapped are still there.
            return
        found = {int(match["pid"]) for name in names if (match := _FILE.fullmatch(name))}
        alive = {pid for pid in found - {self._pid} if is_alive(pid)}
        for gone in set(self._others) - alive:
            del self._others[gone]
        for come in sorted(alive - set(self._others)):
            # It may go at this moment.
            with suppress(OSError, ValueError):
                self._others[come] = _mapped(self._folder / f"seats_{come}.bin", mmap.ACCESS_READ)


def _mapped(path: Path, access: int) -> memoryview:
    """Return the counters of a file; raises ``OSError``, and ``ValueError`` where it is not whole yet."""
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), _COUNTERS * _BYTES, access=access)).cast("I")


def _counter(address: str) -> int:
    return int.from_bytes(blake2b(address.encode(), digest_size=2).digest())
