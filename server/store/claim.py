"""Who may use a store's file: one server alone, or all workers of servers that serve the same.

Beside the file lie two others, which the system unlocks when a process ends, however it ends. ``.lock`` is held for as
long as the store is open: by one exclusively, or by all who share it. ``.opening`` is held only while somebody opens
the store, so that exactly one is the first.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ecom_rlve.server.store.errors import StoreError

ELSEWHERE = "name another file by ECOM_RLVE_STORE, or set it to 'memory' to keep nothing"


class Claim:
    """The right to use a store's file, until it is let go."""

    def __init__(self, path: Path, *, is_shared: bool) -> None:
        """Claim the file; call this inside :func:`opening`.

        Raises:
            StoreError: another server uses it, and one of both does not share.
        """
        self._lock = _opened(path, "lock")
        self.is_first = _locks(self._lock, fcntl.LOCK_EX)
        """Nobody else uses the file."""
        if not self.is_first and not (is_shared and _locks(self._lock, fcntl.LOCK_SH)):
            self._lock.close()
            raise StoreError(f"another server uses the store {path}; stop it, or {ELSEWHERE}")
        self._is_shared = is_shared

    def share(self) -> None:
        """Let others that share have the file too, once the first has prepared it."""
        if self._is_shared:
            fcntl.flock(self._lock, fcntl.LOCK_SH)

    def release(self) -> None:
        """Let go of the file."""
        self._lock.close()


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Keep everybody else from opening the file inside the block.

    Raises:
        StoreError: the folder cannot be written.
    """
    with _opened(path, "opening") as gate:
        # Whoever opens it now is done soon.
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield


def _opened(path: Path, ending: str) -> IO[str]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.with_name(f"{path.name}.{ending}").open("a")
    except OSError as error:
        raise StoreError(f"the store {path} cannot be written ({error.strerror}); {ELSEWHERE}") from error


def _locks(lock: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
