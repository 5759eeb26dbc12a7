"""The contract that every environment keeps, over the registry: what ``check_environment`` tries, and the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from ecom_rlve import AsyncEcomEnv
from ecom_rlve.envs.check import check_environment, solution, started
from ecom_rlve.envs.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.shop import Shop
from ecom_rlve.envs.solving import in_style
from ecom_rlve.models import EpisodeResult, Style

if TYPE_CHECKING:
    from fastapi import FastAPI

ORDER_MATTERS = {"PD", "SUB"}
"""Lists are best first there; elsewhere they are sets."""
EVERY = pytest.mark.parametrize("env_id", environments())


@pytest.fixture(scope="module")
def wide_shop() -> Shop:
    """Return a shop of 2,000 products, which serves every environment up to d = 12."""
    return Shop.open("synthetic:2000:0")


@EVERY
def test_it_keeps_the_contract(wide_shop: Shop, env_id: str) -> None:
    check_environment(environments()[env_id], wide_shop, seeds=2)


@pytest.mark.slow
@EVERY
def test_it_keeps_the_contract_on_many_seeds(wide_shop: Shop, env_id: str) -> None:
    """At least 500 seeds of every environment, spread over the difficulties, and each of them in both styles."""
    check_environment(environments()[env_id], wide_shop, seeds=100)


@pytest.mark.slow
@EVERY
def test_every_difficulty_is_reachable(wide_shop: Shop, env_id: str) -> None:
    """500 seeds at every difficulty from 0 to 12: something is drawn, and its solution scores exactly 1."""
    for d in range(13):
        for seed in range(1000, 1500):
            played = solution(environments()[env_id], wide_shop, EpisodeSpec(env_id, d, seed))
            assert played.result.is_correct, (d, seed, played.result)
            assert played.result.r_task == 1.0, (d, seed, played.result)


@EVERY
def test_a_shop_of_this_size_serves_it(wide_shop: Shop, env_id: str) -> None:
    assert environments()[env_id].max_difficulty(wide_shop) >= 12


@pytest.fixture(scope="module")
def wide_app(wide_shop: Shop) -> FastAPI:
    """Return the real application over that shop."""
    from ecom_rlve.server.app import create_app
    from ecom_rlve.server.settings import Settings

    return create_app(Settings().model_copy(update={"log_level": "warning"}), shop=wide_shop)


@EVERY
@pytest.mark.parametrize("style", ["turn", "tool"])
def test_over_http_it_is_the_same_episode(wide_app: FastAPI, wide_shop: Shop, env_id: str, style: Style) -> None:
    """Field by field what an episode in process says, from the first observation to the result."""
    environment = environments()[env_id]

    async def play(d: int, seed: int) -> None:
        spec = EpisodeSpec(env_id, d, seed, style=style)
        mirror = Episode(wide_shop, spec, "same")
        async with AsyncEcomEnv("http://app", transport=httpx.ASGITransport(wide_app)) as env:
            step = await env.reset(env_id=env_id, difficulty=d, seed=seed, style=style, episode_id="same")
            seen = mirror.opening
            while not mirror.done:
                assert json.loads(seen.model_dump_json(exclude_unset=True)) == _sent(step.observation)
                action = in_style(environment.solve(mirror.scenario), style)
                seen = mirror.step(action)
                step = await env.step(action)
            assert json.loads(seen.model_dump_json(exclude_unset=True)) == _sent(step.observation)
            assert step.reward == seen.reward
            assert (await env.state()).messages == mirror.state().messages

    for d in (0, 6, 12):
        asyncio.run(play(d, seed=d + 1))


def _sent(observation: Any) -> Any:
    return json.loads(observation.model_dump_json(exclude_unset=True))


def played(shop: Shop, spec: EpisodeSpec, change: Callable[[dict[str, Any]], dict[str, Any]]) -> EpisodeResult:
    """Play the solution with its answers changed."""
    environment = environments()[spec.env_id]
    episode = Episode(shop, spec, "changed")
    while episode.result is None:
        action = environment.solve(episode.scenario)
        answer = action.get("answer")
        episode.step({**action, "answer": change(answer)} if answer else action)
    return episode.result


def _lists(answer: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: value for name, value in answer.items() if isinstance(value, list) and value}


@EVERY
def test_whole_numbers_are_equal_however_they_are_written(wide_shop: Shop, env_id: str) -> None:
    """5 and 5.0 are one number, in answers and in the arguments of tools."""
    environment = environments()[env_id]

    def as_floats(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: as_floats(value) for name, value in part.items()}
        if isinstance(part, list):
            return [as_floats(value) for value in part]
        return float(part) if type(part) is int else part

    for seed in range(8):
        spec = EpisodeSpec(env_id, 4, seed)
        plain, floats = Episode(wide_shop, spec, "same"), Episode(wide_shop, spec, "same")
        while not plain.done:
            action = environment.solve(plain.scenario)
            assert plain.step(action) == floats.step(as_floats(action))
        assert plain.result is not None
        assert plain.result.is_correct


@EVERY
def test_equal_ids_and_their_order_change_nothing_where_a_list_is_a_set(wide_shop: Shop, env_id: str) -> None:
    if env_id in ORDER_MATTERS:
        pytest.skip("best first: the order is the answer")
    for seed in range(8):
        spec = EpisodeSpec(env_id, 6, seed)
        right = solution(environments()[env_id], wide_shop, spec).result
        assert played(wide_shop, spec, _reversed) == right


def _reversed(answer: dict[str, Any]) -> dict[str, Any]:
    is_ordered = answer.get("intent") in ORDER_MATTERS
    return answer if is_ordered else {**answer, **{name: value[::-1] for name, value in _lists(answer).items()}}


@EVERY
def test_an_id_given_twice_is_never_worth_more(wide_shop: Shop, env_id: str) -> None:
    for seed in range(8):
        spec = EpisodeSpec(env_id, 6, seed)
        twice = played(wide_shop, spec, lambda answer: {**answer, **{n: v * 2 for n, v in _lists(answer).items()}})
        once = played(wide_shop, spec, lambda answer: {**answer, **{n: v[:1] for n, v in _lists(answer).items()}})
        padded = played(wide_shop, spec, lambda answer: {**answer, **{n: v[:1] * 9 for n, v in _lists(answer).items()}})
        assert twice.r_task <= 1.0
        assert padded.r_task <= once.r_task
        assert twice.r_hall == padded.r_hall == 0.0


@EVERY
def test_a_step_of_another_episode_says_nothing_of_this_one(wide_shop: Shop, env_id: str) -> None:
    """Two episodes side by side are what they are alone: nothing is shared but the shop."""
    environment = environments()[env_id]
    alone = [solution(environment, wide_shop, EpisodeSpec(env_id, 6, seed)).transcript for seed in (1, 2)]
    pair = [started(environment, wide_shop, 6, seed) for seed in (1, 2)]
    said = [[each.opening.model_dump_json(exclude_unset=True)] for each in pair]
    while not all(each.done for each in pair):
        for each, lines in zip(pair, said, strict=True):
            if not each.done:
                lines.append(each.step(environment.solve(each.scenario)).model_dump_json(exclude_unset=True))
    assert [tuple(lines) for lines in said] == alone


def test_no_two_environments_share_what_names_them() -> None:
    for name in ("id", "title"):
        values = [getattr(each, name) for each in environments().values()]
        assert len(set(values)) == len(values)
    errands = [each.errand for each in environments().values()]
    assert all(one not in other for one, other in permutations(errands, 2))
