"""Where work on episodes runs: in place on a small catalog, in a bounded pool of threads on a large one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Execution(Protocol):
    """Calls functions, off the event loop where they may take long."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that may scan the catalog, and return what it returns."""

    def close(self) -> None:
        """Let go; no call may follow."""


class InPlace:
    """Calls on the event loop: where a step takes well under a millisecond, handing it over would cost more."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function here."""
        return function(*args, **kwargs)

    def close(self) -> None:
        """Let go of nothing."""


class Pooled:
    """Calls in threads, so that a scan of millions of products keeps nobody else waiting."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="episode")

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """Let the threads go; what they have begun they end."""
        self._pool.shutdown(wait=False, cancel_futures=True)
