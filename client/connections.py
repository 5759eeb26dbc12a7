"""The connections of a process: a TLS context and a pool for all its envs.

A TLS context takes some 20 ms to make, for plain HTTP too; made for each env it was most of what a rollout's first
requests cost. A pool is made by the first env that sends something, is shared by threads, and is closed with the last
env that used it. Connections of asyncio belong to their event loop, so each loop has its own. After a fork the child
makes new ones and leaves its parent's alone.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Generic, TypeVar
from weakref import WeakSet

import httpx

_MOST_USERS = 16
"""Envs that share one pool; beyond them another is begun. A pool looks at each of its idle connections at each request,
10 µs a connection: with hundreds of them that takes longer than the request itself."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None)
"""As many as there are envs: an env has one request under way."""

C = TypeVar("C", httpx.Client, httpx.AsyncClient)


@dataclass(slots=True)
class _Pool(Generic[C]):
    """A client, and who uses it; users that were dropped without a word leave by themselves."""

    client: C
    users: WeakSet[object] = field(default_factory=WeakSet)


class Connections:
    """The pools of one process; safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._context: ssl.SSLContext | None = None
        self._pools: list[_Pool[httpx.Client]] = []
        self._by_loop: dict[asyncio.AbstractEventLoop, list[_Pool[httpx.AsyncClient]]] = {}

    def acquire(self, user: object) -> httpx.Client:
        """Return a client that ``user`` shares with others until :meth:`release`."""
        with self._lock:
            return self._shared(self._pools, user, httpx.Client)

    def release(self, user: object) -> None:
        """Note that ``user`` needs no client any more; the last one of a client closes it."""
        with self._lock:
            left = _left(self._pools, user)
        if left is not None:
            left.close()

    def acquire_async(self, user: object) -> httpx.AsyncClient:
        """Return a client of the running event loop that ``user`` shares with others until :meth:`release_async`."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._by_loop:
                # A loop that ended with envs still open takes their connections with it.
                self._by_loop = {each: pools for each, pools in self._by_loop.items() if not each.is_closed()}
            return self._shared(self._by_loop.setdefault(loop, []), user, httpx.AsyncClient)

    async def release_async(self, user: object) -> None:
        """Note that ``user`` needs no client of this loop any more; the last one of a client closes it."""
        with self._lock:
            left = _left(self._by_loop.get(asyncio.get_running_loop(), []), user)
        if left is not None:
            await left.aclose()

    def _shared(self, pools: list[_Pool[C]], user: object, make: type[C]) -> C:
        pool = next((pool for pool in pools if len(pool.users) < _MOST_USERS), None)
        if pool is None:
            if self._context is None:
                self._context = httpx.create_ssl_context()
            pool = _Pool(make(verify=self._context, limits=_LIMITS, **own_options()))
            pools.append(pool)
        pool.users.add(user)
        return pool.client


_of_process: dict[int, Connections] = {}


def connections() -> Connections:
    """Return the connections of this process; those of the process that it was forked from are another object."""
    return _of_process.setdefault(os.getpid(), Connections())


def own_options() -> dict[str, Any]:
    """Return what every client is made with: no proxy for this machine, and no cookies.

    A cookie may tell a load balancer where an episode lives, so each env keeps its own.
    """
    return {
        "mounts": {f"all://{host}": None for host in _LOOPBACK},
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),
    }


def _left(pools: list[_Pool[C]], user: object) -> C | None:
    """Let a user leave its pool; return the client where nobody uses it any more."""
    pool = next((pool for pool in pools if user in pool.users), None)
    if pool is None:
        return None
    pool.users.discard(user)
    if pool.users:
        return None
    pools.remove(pool)
    return pool.client
