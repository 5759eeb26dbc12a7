"""A small disk for a store, which can be filled and freed."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

MEGABYTES = 512


class Disk(Protocol):
    """A folder on a disk that can be filled."""

    folder: Path
    kind: str

    def fill(self) -> None:
        """Leave no room for anything."""

    def free(self) -> None:
        """Leave as much room as before."""


class Mounted:
    """A file system in memory: really full, which needs the rights of root."""

    kind = "a tmpfs that is full"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self) -> None:
        """Write a file until there is no room for another byte."""
        with self._filler.open("wb", buffering=0) as filler:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        filler.write(b"\0" * size)
                except OSError:
                    continue

    def free(self) -> None:
        """Remove that file."""
        self._filler.unlink(missing_ok=True)


class Limited:
    """A folder in which the server's processes may make no file longer than it is."""

    kind = "a limit on the length of files"

    def __init__(self, folder: Path, processes: Callable[[], list[int]]) -> None:
        self.folder = folder
        self._processes = processes

    def fill(self) -> None:
        """Let no file grow."""
        self._limit(4096)

    def free(self) -> None:
        """Let files grow."""
        self._limit(resource.RLIM_INFINITY)

    def _limit(self, size: int) -> None:
        for pid in self._processes():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@contextmanager
def small_disk(folder: Path, processes: Callable[[], list[int]]) -> Iterator[Disk]:
    """Yield a disk at ``folder``, an empty folder; ``processes`` returns those of the server."""
    is_mounted = (
        os.geteuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", str(folder)], stderr=subprocess.DEVNULL
        ).returncode
    )
    if not is_mounted:
        yield Limited(folder, processes)
        return
    try:
        yield Mounted(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
