"""Many episodes at once: bounded, failures kept apart, and no place left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from ecom_rlve import AsyncEcomEnv
from ecom_rlve.client import EpisodeLostError, Failed, InvalidRequestError, Played, Progress, StepResult

if TYPE_CHECKING:
    from fastapi import FastAPI

VIEW = {"tool_calls": [{"name": "cart_view"}]}
DONE = {"answer": {"done": True}}


class Restarting(httpx.AsyncBaseTransport):
    """Leads to an application in this process, and after a restart to another one, which knows nothing of the first."""

    def __init__(self, app: FastAPI) -> None:
        self._to = httpx.ASGITransport(app)

    def restart(self, app: FastAPI) -> None:
        self._to = httpx.ASGITransport(app)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return await self._to.handle_async_request(request)


def live(app: FastAPI, run_id: str) -> int:
    async def count() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as http:
            return len((await http.get("/episodes", params={"run_id": run_id})).raise_for_status().json())

    return asyncio.run(count())


def specs(run_id: str, n: int) -> list[dict[str, Any]]:
    return [{"env_id": "CART", "seed": seed, "run_id": run_id} for seed in range(n)]


async def submit(env: AsyncEcomEnv, _: StepResult) -> float | None:
    return (await env.step(DONE)).reward


async def outcomes(
    app: FastAPI, wanted: Any, play: Callable[[AsyncEcomEnv, StepResult], Any] = submit, **options: Any
) -> list[Played[Any] | Failed]:
    async with AsyncEcomEnv("http://app", transport=httpx.ASGITransport(app)) as env:
        return [outcome async for outcome in env.batch(wanted, play, **options)]


def test_every_episode_has_an_outcome_and_no_more_are_live_than_may_be(live_app: FastAPI) -> None:
    playing, most = 0, 0

    async def play(env: AsyncEcomEnv, first: StepResult) -> int:
        nonlocal playing, most
        playing, most = playing + 1, max(most, playing + 1)
        await env.step(VIEW)
        playing -= 1
        return first.metadata.seed

    ended = asyncio.run(outcomes(live_app, specs("bounded", 9), play, concurrency=3))
    assert sorted((each.index, each.value) for each in ended if isinstance(each, Played)) == [(i, i) for i in range(9)]
    assert most == 3
    assert live(live_app, "bounded") == 0


def test_specs_are_taken_as_they_are_played(live_app: FastAPI) -> None:
    taken = 0

    def endless() -> Iterator[Mapping[str, Any]]:
        nonlocal taken
        while True:
            taken += 1
            yield {"env_id": "CART", "run_id": "endless"}

    async def some() -> int:
        env = AsyncEcomEnv("http://app", transport=httpx.ASGITransport(live_app))
        async with env, aclosing(env.batch(endless(), submit, concurrency=2)) as batch:
            return len([await anext(batch) for _ in range(5)])

    assert asyncio.run(some()) == 5
    assert taken <= 5 + 2
    assert live(live_app, "endless") == 0


def test_a_failure_is_an_outcome_of_its_own_and_loses_no_other(live_app: FastAPI) -> None:
    async def play(env: AsyncEcomEnv, first: StepResult) -> float | None:
        if first.metadata.seed == 2:
            raise KeyError("a fault of the policy")
        return await submit(env, first)

    wanted = [*specs("failures", 4), {"env_id": "KART"}, {"seed": object()}]
    seen: list[Progress] = []
    ended = asyncio.run(outcomes(live_app, wanted, play, progress=seen.append))
    errors = {each.index: each.error for each in ended if isinstance(each, Failed)}
    assert sorted(errors) == [2, 4, 5]
    assert isinstance(errors[2], KeyError)
    assert isinstance(errors[4], InvalidRequestError)
    assert isinstance(errors[5], InvalidRequestError)
    assert sorted(each.index for each in ended if isinstance(each, Played)) == [0, 1, 3]
    assert seen[-1] == Progress(begun=6, waiting=0, played=3, failed=3)
    assert live(live_app, "failures") == 0


def test_who_finds_no_place_waits_for_one(app_with: Callable[..., FastAPI]) -> None:
    app = app_with(catalog="synthetic:200:0", max_sessions=2)
    seen: list[Progress] = []

    async def play() -> list[Played[float | None] | Failed]:
        async with AsyncEcomEnv("http://app", transport=httpx.ASGITransport(app), retry_for=0) as env:
            return [each async for each in env.batch(specs("full", 6), submit, concurrency=6, progress=seen.append)]

    ended = asyncio.run(play())
    assert [each for each in ended if isinstance(each, Failed)] == []
    assert len(ended) == 6
    assert max(each.waiting for each in seen) == 4
    assert seen[-1] == Progress(begun=6, waiting=0, played=6, failed=0)


def test_a_restart_of_the_server_loses_what_was_live_and_rewards_nothing(app_with: Callable[..., FastAPI]) -> None:
    async def run() -> list[Played[float | None] | Failed]:
        to = Restarting(app_with(catalog="synthetic:200:0"))
        reached = asyncio.Barrier(3)

        async def play(env: AsyncEcomEnv, first: StepResult) -> float | None:
            if first.metadata.seed < 3:
                await env.step(VIEW)
                if await reached.wait() == 0:
                    to.restart(app_with(catalog="synthetic:200:0"))
                await reached.wait()
            return await submit(env, first)

        async with AsyncEcomEnv("http://app", transport=to) as env:
            return [each async for each in env.batch(specs("restarted", 5), play, concurrency=3)]

    ended = {each.index: each for each in asyncio.run(run())}
    lost = [each for each in ended.values() if isinstance(each, Failed)]
    assert sorted(each.index for each in lost) == [0, 1, 2]
    assert {type(each.error) for each in lost} == {EpisodeLostError}
    assert isinstance(ended[3], Played)
    assert isinstance(ended[4], Played)


@pytest.mark.parametrize("ends_by", ["cancelled", "closed"])
def test_who_stops_leaves_no_place_behind(ends_by: str, live_app: FastAPI) -> None:
    async def stop() -> None:
        begun = asyncio.Event()

        async def play(*_: Any) -> None:
            begun.set()
            await asyncio.Event().wait()

        async def consume(env: AsyncEcomEnv) -> None:
            wanted = [*specs(ends_by, 4), {"env_id": "KART"}]
            async with aclosing(env.batch(wanted, play)) as batch:
                async for outcome in batch:
                    assert isinstance(outcome, Failed)
                    if ends_by == "closed":
                        await begun.wait()
                        return

        async with AsyncEcomEnv("http://app", transport=httpx.ASGITransport(live_app)) as env:
            consuming = asyncio.create_task(consume(env))
            await begun.wait()
            if ends_by == "cancelled":
                consuming.cancel()
            await asyncio.wait([consuming])
            assert consuming.cancelled() == (ends_by == "cancelled")

    asyncio.run(stop())
    assert live(live_app, ends_by) == 0


def test_an_episode_whose_reset_is_cancelled_is_ended_too(live_app: FastAPI) -> None:
    class Held(httpx.ASGITransport):
        """Keeps the answers to resets for itself."""

        held = asyncio.Event()

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            answer = await super().handle_async_request(request)
            if request.url.path == "/reset":
                self.held.set()
                await asyncio.Event().wait()
            return answer

    async def cancel() -> None:
        to = Held(live_app)

        async def consume(env: AsyncEcomEnv) -> None:
            async with aclosing(env.batch(specs("held", 1), submit)) as batch:
                await anext(batch)

        async with AsyncEcomEnv("http://app", transport=to) as env:
            consuming = asyncio.create_task(consume(env))
            await to.held.wait()
            consuming.cancel()
            await asyncio.wait([consuming])

    asyncio.run(cancel())
    assert live(live_app, "held") == 0


def test_a_batch_of_none_at_once_is_refused(live_app: FastAPI) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        asyncio.run(outcomes(live_app, specs("none", 1), concurrency=0))
