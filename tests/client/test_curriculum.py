"""The client's side of runs against the real server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest

from ecom_rlve import AsyncEcomEnv, EcomEnv
from ecom_rlve.client import InvalidRequestError, RunError
from ecom_rlve.models import ErrorCode, RewardProfile
from ecom_rlve.run_models import CurriculumParameters, RunSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

pytestmark = pytest.mark.needs_server


def test_a_run_from_its_making_to_its_end(live_url: str) -> None:
    settings = RunSettings(
        parameters=CurriculumParameters(tau_num=2, passes=1),
        weights={"CART": 1},
        reward_profile=RewardProfile(task=1, eff=0, hall=0),
    )
    with EcomEnv(live_url) as env:
        run = env.curriculum("of a client")
        assert run.put(settings).settings == settings
        played, *elsewhere = run.sample(3, env_id="cart")
        began = env.reset(**played.model_dump())
        assert (began.metadata.counts, began.metadata.run_id, began.metadata.group_member) == (True, "of a client", 1)
        last = env.step({"answer": {"done": True}})
        assert last.observation.result is not None
        assert last.observation.result.reward_profile == settings.reward_profile
        assert last.reward == last.observation.result.r_task
        reports = [{**each.model_dump(), "episode_id": "e", "correct_share": 1} for each in elsewhere]
        assert [each.counts for each in run.report([*reports, reports[0]]).episodes] == [True, True, False]
        # 0 and 1 do not pass; the third seed waits.
        (frontier,) = run.read().frontiers
        assert (frontier.level, frontier.ready_seeds, frontier.mean) == (0, 1, 1.0)
        other = env.curriculum("of a client, merged")
        assert other.import_([run.export(), run.export()]).frontiers == [frontier]
        fork = run.fork("of a client, forked")
        assert (fork.forked_from, fork.settings) == ("of a client", settings)
        env.reset(env_id="CART", run_id=run.run_id)
        run.delete_episodes()
        for each in (run, other, env.curriculum(fork.run_id)):
            each.delete()
        with pytest.raises(RunError) as gone:
            run.read()
        assert gone.value.code is ErrorCode.UNKNOWN_RUN


def test_the_same_awaited(live_app: FastAPI) -> None:
    async def played() -> None:
        async with AsyncEcomEnv("http://shop", transport=httpx.ASGITransport(live_app)) as env:
            run = env.curriculum("of an async client")
            await run.put(RunSettings())
            (row,) = await run.sample()
            assert (await env.reset(**row.model_dump())).metadata.counts
            await run.delete_episodes()
            report = [{**row.model_dump(), "episode_id": "e", "correct_share": 0.5}]
            assert (await run.report(report)).counted == 1
            state = await run.read()
            assert (state.counted, state.frontiers[0].mean) == (1, 0.5)
            assert (await run.import_([await run.export()])).frontiers == state.frontiers
            await env.curriculum((await run.fork("of an async client, forked")).run_id).delete()
            await run.delete()
            with pytest.raises(RunError):
                await run.export()
            with pytest.raises(InvalidRequestError):
                await run.sample(difficulty=3)

    asyncio.run(played())
