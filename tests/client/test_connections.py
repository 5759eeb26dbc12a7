"""The connections of a process: few pools, a TLS context, apart by event loop and process, closed by their users."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ecom_rlve.client import AsyncEcomEnv, EcomEnv, connections

SAY = {"assistant_message": "Hello"}


class Made:
    """What was made while a test ran."""

    def __init__(self) -> None:
        self.contexts = 0
        self.clients: list[httpx.Client | httpx.AsyncClient] = []

    @property
    def open(self) -> int:
        """Clients that are not closed."""
        return sum(not client.is_closed for client in self.clients)


class User:
    """Something that uses connections."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    """Return counts of contexts and clients, for a process that has none yet."""
    counts = Made()
    real = httpx.create_ssl_context

    def counted() -> object:
        counts.contexts += 1
        return real()

    def counting(kind: type) -> type:
        def init(self: httpx.Client | httpx.AsyncClient, **options: object) -> None:
            kind.__init__(self, **options)  # type: ignore[misc]  # the class that is counted, never a narrower one
            counts.clients.append(self)

        return type(kind.__name__, (kind,), {"__init__": init})

    monkeypatch.setattr(connections, "_of_process", {})
    monkeypatch.setattr(httpx, "create_ssl_context", counted)
    monkeypatch.setattr(httpx, "Client", counting(httpx.Client))
    monkeypatch.setattr(httpx, "AsyncClient", counting(httpx.AsyncClient))
    yield counts
    assert counts.open == 0


def test_many_envs_share_a_context_and_few_pools(made: Made, live_url: str) -> None:
    envs = [EcomEnv(live_url) for _ in range(20)]
    assert not made.clients, "nothing is made before the first request"
    with ThreadPoolExecutor(8) as threads:
        turns = list(threads.map(lambda env: env.reset(env_id="CART", seed=1).observation.turn, envs))
    assert turns == [0] * 20
    assert (made.contexts, len(made.clients)) == (1, 2)
    for env in envs[1:]:
        env.close()
    assert envs[0].step(SAY).observation.turn == 1
    assert made.open == 1
    envs[0].close()
    assert made.open == 0
    with EcomEnv(live_url) as env:
        env.reset(env_id="CART", seed=1)
    assert (made.contexts, len(made.clients)) == (1, 3)


def test_both_kinds_share_the_context_and_loops_have_their_own_pools(made: Made, live_url: str) -> None:
    async def play() -> None:
        async with AsyncEcomEnv(live_url) as one, AsyncEcomEnv(live_url) as other:
            await asyncio.gather(one.reset(env_id="CART", seed=1), other.reset(env_id="CART", seed=2))
            assert (await one.step(SAY)).observation.turn == (await other.step(SAY)).observation.turn == 1

    with EcomEnv(live_url) as env:
        env.reset(env_id="CART", seed=1)
        asyncio.run(play())
        asyncio.run(play())
    assert (made.contexts, len(made.clients)) == (1, 3)


def test_loops_in_several_threads_do_not_meet(made: Made, live_url: str) -> None:
    async def play(seed: int) -> int:
        async with AsyncEcomEnv(live_url) as env:
            await env.reset(env_id="CART", seed=seed)
            return (await env.step(SAY)).observation.turn

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda seed: asyncio.run(play(seed)), range(8))) == [1] * 8
    assert (made.contexts, len(made.clients)) == (1, 8)


def test_an_env_that_is_closed_twice_or_was_never_used_takes_nobodys_pool(made: Made, live_url: str) -> None:
    with EcomEnv(live_url) as env:
        env.reset(env_id="CART", seed=1)
        idle = EcomEnv(live_url)
        idle.close()
        with EcomEnv(live_url) as other:
            other.reset(env_id="CART", seed=2)
            other.close()
        assert made.open == 1
        assert env.step(SAY).observation.turn == 1


def test_sixteen_envs_share_a_pool(made: Made) -> None:
    pools, users = connections.Connections(), [User() for _ in range(33)]
    shared = [id(pools.acquire(user)) for user in users]
    assert (len(set(shared[:32])), len(set(shared))) == (2, 3)
    for user in users:
        pools.release(user)
    assert (len(made.clients), made.open) == (3, 0)


def test_who_is_dropped_without_a_word_holds_no_pool_open(made: Made) -> None:
    pools = connections.Connections()
    dropped, user = User(), User()
    assert pools.acquire(dropped) is pools.acquire(user)
    del dropped
    gc.collect()
    pools.release(user)
    assert (len(made.clients), made.open) == (1, 0)


def test_a_loop_that_ended_is_forgotten_with_its_pools(made: Made) -> None:
    pools = connections.Connections()
    user = User()

    async def use() -> weakref.ref[asyncio.AbstractEventLoop]:
        pools.acquire_async(user)
        return weakref.ref(asyncio.get_running_loop())

    async def use_and_leave() -> None:
        assert not pools.acquire_async(user).is_closed
        await pools.release_async(user)

    first = asyncio.run(use())
    asyncio.run(use_and_leave())
    asyncio.run(made.clients[0].aclose())  # type: ignore[union-attr]  # None would fail here, as it should
    made.clients.clear()
    gc.collect()
    assert first() is None


def test_threads_that_come_and_go_never_get_a_closed_pool(made: Made) -> None:
    pools = connections.Connections()
    wrong: list[object] = []

    def come_and_go() -> None:
        for _ in range(50):
            user = User()
            client = pools.acquire(user)
            if client.is_closed:
                wrong.append(client)
            pools.release(user)

    threads = [threading.Thread(target=come_and_go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert made.contexts == 1


def test_a_transport_of_ones_own_is_nobody_elses(made: Made) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(401))
    with EcomEnv("http://server", transport=transport) as env, pytest.raises(Exception, match="401"):
        env.reset()
    assert made.contexts == 0
    assert connections._of_process == {}


@pytest.mark.usefixtures("made")
def test_each_env_keeps_its_own_cookies() -> None:
    """A load balancer tells by a cookie which server has an episode."""
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("cookie"))
        return httpx.Response(401, headers={"Set-Cookie": f"place={len(seen)}; Path=/"} if len(seen) < 3 else {})

    transport = httpx.MockTransport(answer)
    envs = [EcomEnv("http://server.example", transport=transport) for _ in range(2)]
    for env in [*envs, *envs]:
        with pytest.raises(Exception, match="401"):
            env.reset()
    envs[0].close()
    with pytest.raises(Exception, match="401"):
        envs[0].reset()
    assert seen == [None, None, "place=1", "place=2", None]
    for env in envs:
        env.close()


FORK = """
import os, sys, threading, time
from ecom_rlve import EcomEnv
from ecom_rlve.client import connections

mine = connections.connections()
env = EcomEnv(sys.argv[1])
env.reset(env_id="CART", difficulty=0, seed=1)
held = threading.Thread(target=lambda: (mine._lock.acquire(), time.sleep(0.3), mine._lock.release()))
held.start()
time.sleep(0.1)
child = os.fork()  # while a thread of the parent holds the lock
if not child:
    with EcomEnv(sys.argv[1]) as other:
        turn = other.reset(env_id="CART", difficulty=0, seed=2).observation.turn
    os._exit(0 if turn == 0 and connections.connections() is not mine else 1)
assert os.waitpid(child, 0)[1] == 0
held.join()
assert env.step({"assistant_message": "Hello"}).observation.turn == 1
assert connections.connections() is mine
env.close()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_a_fork_has_connections_of_its_own_whatever_its_parent_was_doing(live_url: str) -> None:
    command = [sys.executable, "-P", "-W", "ignore", "-c", FORK, live_url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
