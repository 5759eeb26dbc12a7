"""The experts of PD and SUB: right nearly always, by listening, asking, filtering, comparing and looking again."""

from __future__ import annotations

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.agents.candidates import Candidates, passes
from ecom_rlve.evaluation.agents.skill import RUNGS
from ecom_rlve.evaluation.reading.wishes import read_wishes, unknown_values
from ecom_rlve.models import EpisodeResult, Style


@pytest.fixture(scope="module")
def shop(wide_shop: Shop) -> Shop:
    return wide_shop


def played(shop: Shop, env_id: str, name: str, d: int, seed: int, style: Style = "turn") -> EpisodeResult:
    episode = Episode(shop, EpisodeSpec(env_id, d, seed, style=style), "episode")
    agent, step = (
        make_expert(env_id, name),
        StepResult(episode.opening, None, False, with_acts(episode.metadata, episode.acts)),
    )
    while not step.done:
        observation = episode.step(agent.act(step))
        step = StepResult(observation, observation.reward, observation.done, with_acts(episode.metadata, episode.acts))
    assert step.observation.result is not None
    return step.observation.result


@pytest.mark.parametrize("env_id", ["PD", "SUB"])
def test_experts_are_right(shop: Shop, env_id: str) -> None:
    for d, count, least in ((0, 40, 38), (6, 25, 22)):
        results = [played(shop, env_id, "expert", d, seed) for seed in range(count)]
        assert sum(result.is_correct for result in results) >= least
        assert not any(result.reason for result in results)
    results = [played(shop, env_id, "expert", 6, seed, "tool") for seed in range(20)]
    assert sum(result.is_correct for result in results) >= 17


@pytest.mark.parametrize("env_id", ["PD", "SUB"])
@pytest.mark.parametrize("name", RUNGS)
def test_lazy_rungs_are_worse(shop: Shop, env_id: str, name: str) -> None:
    lazy = [played(shop, env_id, name, 6, seed) for seed in range(14)]
    expert = [played(shop, env_id, "expert", 6, seed) for seed in range(14)]
    assert sum(r.r_total for r in lazy) < sum(r.r_total for r in expert)
    assert sum(r.is_correct for r in lazy) <= sum(r.is_correct for r in expert) - 2


def test_wishes_are_read() -> None:
    values = {"material": ["wool", "organic cotton", "cotton"], "brand": ["Acme"], "finish_type": ["matte"]}
    text = "What matters most to me is the price. It should keep the material wolol or cotton, be from Acme, "
    text += "cost up to $30, arrive in at most 3 days, be rated 4.2 or more and weigh at most 1.2 kilos."
    wishes = read_wishes(text, values, {"weight"})
    assert wishes.words == {"material": ("cotton",), "brand": ("Acme",)}
    assert wishes.bounds == {"price": 30.0, "ship_days": 3, "weight": 1200.0, "rating": 4.2}
    assert wishes.priority == "price"
    assert read_wishes("It should have the same material wool and be matte.", values, ()).kept == {"material": None}
    assert read_wishes("For your information: top priority delivery time.", values, ()).priority == "ship_days"
    assert read_wishes("It should cost at most $5.", values, ()).priority is None


def test_unknown_values_are_found() -> None:
    found = unknown_values(
        "It should be from the Nerissa or Lyric line, made of felt and have brushed as the finish.", {}
    )
    assert found == {"model": ["Nerissa", "Lyric"], "material": ["felt"], "finish_type": ["brushed"]}
    assert unknown_values("It should be by Acme.", {"brand": ["Acme"]}) == {}


def test_pages_worth_a_look() -> None:
    candidates = Candidates({"price_max": 10.0})
    assert list(candidates.pages("price_asc")) == [("price_asc", 0)]
    cards = [{"product_id": f"P{at}", "price": 5.0 + at} for at in range(10)]
    candidates.take(("price_asc", 0), {"total": 12, "results": cards})
    assert len(candidates.found) == 6
    assert list(candidates.pages("price_asc"))[:3] == [("price_asc", 10), ("rating_desc", 0), ("rating_desc", 10)]
    candidates.take(("price_asc", 10), {"total": 6, "results": []})
    assert list(candidates.pages("price_asc")) == []


def test_cards_against_filters() -> None:
    card = {"price": 9.5, "rating": 4.0, "color": "red"}
    assert passes(card, {"price_max": 9.5, "rating_min": 4.0, "color": "red", "material": "wool"})
    assert not passes(card, {"price_max": 9.0})
    assert not passes(card, {"rating_min": 4.5})
    assert not passes(card, {"color": "blue"})
