"""Openings worded ahead of time: as many as are wanted, each dealt once, and never in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ecom_rlve.envs.customer.model.errors import EndpointUnreachableError
from ecom_rlve.envs.episode.episode import EpisodeSpec
from ecom_rlve.server.openings import Openings

CART, OTHER = EpisodeSpec("CART", 3), EpisodeSpec("PD", 3)


class Model:
    """Words openings when it is let, some of them not at all."""

    def __init__(self, fails: Callable[[int], bool] = lambda _: False) -> None:
        self.specs: list[EpisodeSpec] = []
        self.at_once = self.most = 0
        self.fails = fails

    async def prepare(self, spec: EpisodeSpec) -> None:
        self.specs.append(spec)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        if self.fails(len(self.specs)):
            raise EndpointUnreachableError("gone")


async def _settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_every_seed_is_dealt_once_and_replaced() -> None:
    async def dealt() -> None:
        model = Model()
        openings = Openings(3, 2, model.prepare)
        assert openings.deal(CART) is None
        await _settle()
        seeds = []
        for _ in range(10):
            seeds.append(openings.deal(CART))
            await _settle()
        assert seeds == [spec.seed for spec in model.specs[:10]]
        assert len(set(seeds)) == 10
        assert {(spec.env_id, spec.difficulty) for spec in model.specs} == {("CART", 3)}
        assert len(model.specs) == 13
        assert model.most == 2

    asyncio.run(dealt())


def test_a_burst_gets_what_is_ready_and_no_more_is_made() -> None:
    async def dealt() -> None:
        model = Model()
        openings = Openings(3, 8, model.prepare)
        openings.deal(CART)
        await _settle()
        burst = [openings.deal(CART) for _ in range(5)]
        assert [seed is not None for seed in burst] == [True] * 3 + [False] * 2
        await _settle()
        assert len(model.specs) == 6
        assert openings.deal(OTHER) is None
        await _settle()
        assert openings.deal(OTHER) == model.specs[6].seed

    asyncio.run(dealt())


def test_what_could_not_be_prepared_is_forgotten_and_tried_anew() -> None:
    async def dealt() -> None:
        model = Model(fails=lambda number: number <= 2)
        openings = Openings(2, 8, model.prepare)
        assert openings.deal(CART) is None
        await _settle()
        assert openings.deal(CART) is None
        await _settle()
        assert openings.deal(CART) == model.specs[2].seed

    asyncio.run(dealt())


@pytest.mark.parametrize(("ahead", "spec"), [(0, CART), (2, EpisodeSpec("CART", 3, axes=(("p_oos", 0.0),)))])
def test_nothing_is_made_that_nobody_wants(ahead: int, spec: EpisodeSpec) -> None:
    async def dealt() -> None:
        model = Model()
        openings = Openings(ahead, 8, model.prepare)
        assert openings.deal(spec) is None
        await _settle()
        assert openings.deal(spec) is None
        assert model.specs == []

    asyncio.run(dealt())


def test_closing_gives_up_what_is_under_way(hurried: asyncio.Runner) -> None:
    async def closed() -> None:
        started = asyncio.Event()

        async def prepare(_spec: EpisodeSpec) -> None:
            started.set()
            await asyncio.Event().wait()

        openings = Openings(2, 1, prepare)
        openings.deal(CART)
        await started.wait()
        await asyncio.wait_for(openings.aclose(), 1)

    hurried.run(closed())
