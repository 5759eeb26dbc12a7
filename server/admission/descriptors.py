"""Open files: raising the limit of this process, and how many connections and places fit below it.

A connection needs a descriptor, and a process that has none left can neither accept one nor refuse it. So connections
are kept below the limit, with some of it left over for files.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NamedTuple

_FILES = 96
"""Descriptors for what is opened later and is no connection: the store's files, requests to a model, pages."""
_LOBBY = 128
"""Connections that may wait to be heard; see :mod:`ecom_rlve.server.admission.door`."""
_REQUESTS = 32
"""Connections that are kept for requests while every place is a socket."""
_UNLIMITED = 1 << 20
"""Stands for "no limit", and where a system does not tell."""


class Room(NamedTuple):
    """How many connections a limit of open files leaves room for."""

    connections: int
    """All of them."""
    seats: int
    """Those of clients whose first request was heard."""

    @property
    def places(self) -> int:
        """Places that fit when each is a socket; at least one."""
        return max(1, self.seats - _REQUESTS)


def open_files() -> int:
    """Return how many files this process may have open."""
    if sys.platform == "win32":
        return _UNLIMITED
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _UNLIMITED if soft in (resource.RLIM_INFINITY, -1) else min(soft, _UNLIMITED)


def raised_limit() -> int:
    """Raise the soft limit of open files to the hard one; return what it is then."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        # Some systems name a hard limit, or none, and still refuse to go there.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return open_files()


def held() -> int:
    """Return how many files are open now; a mapped catalog alone holds more than a hundred. 0 if no system tells."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with contextlib.suppress(OSError):
            return len(os.listdir(folder))
    return 0


def room(limit: int, taken: int = 0) -> Room:
    """Return how many connections fit where ``limit`` files may be open and so many are.

    >>> room(1024, 100)
    Room(connections=828, seats=700)
    >>> room(1024, 100).places
    668
    >>> room(64)
    Room(connections=48, seats=32)
    """
    left = max(1, limit - taken)
    # Below some hundred files there is too little of everything: a quarter each.
    files, lobby = min(_FILES, left // 4), min(_LOBBY, left // 4)
    return Room(left - files, left - files - lobby)
